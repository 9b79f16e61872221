package channel_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/channel"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestServiceURLs: what people have written down for shoutrrr is understood.
func TestServiceURLs(t *testing.T) {
	for _, tc := range []struct{ kind, url, secret, shown string }{
		{channel.Slack, "slack://hook:T0AAAAAAA-B0AAAAAAA-abcdefghijklmnopqrstuvwx@webhook", "", "hooks.slack.com …uvwx"},
		{channel.Slack, "slack://bot@T0AAAAAAA/B0AAAAAAA/abcdefghijklmnopqrstuvwx", "", "hooks.slack.com …uvwx"},
		{channel.Slack, "slack://xoxb:123456789012-1234567890123-4mt0t4l1YL3g1T5L4cK70k3N@C001CH4NN3L", "", "slack.com …0k3N"},
		{channel.Slack, "https://hooks.slack.com/services/T0/B0/" + token, "", "hooks.slack.com …cdef"},
		{channel.Telegram, "telegram://" + bot + "@telegram?chats=-100123", "", "api.telegram.org …Dsaw"},
		{channel.Telegram, "telegram://" + bot + "@telegram?channels=@alarms", "", "api.telegram.org …Dsaw"},
		{channel.Telegram, "telegram://" + bot + "@telegram?chats=-100123:7", "", "api.telegram.org …Dsaw"},
		{channel.Discord, "discord://" + token + "@123456", "", "discord.com …cdef"},
		{channel.Ntfy, "ntfy://ntfy.sh/alarms", "", "ntfy.sh …"},
		{channel.Ntfy, "ntfy://u:a-long-password-1@ntfy.example.com/alarms?scheme=http", "", "ntfy.example.com …rd-1"},
		{channel.PagerDuty, "pagerduty:///" + token, "", "events.pagerduty.com …cdef"},
		{channel.PagerDuty, "pagerduty://events.eu.pagerduty.com/" + token, "", "events.eu.pagerduty.com …cdef"},
		{channel.PagerDuty, "", token, "events.pagerduty.com …cdef"},
		{channel.Opsgenie, "opsgenie://api.eu.opsgenie.com/" + token, "", "api.eu.opsgenie.com …cdef"},
		{channel.Feishu, "lark://open.feishu.cn/" + token + "?secret=abc", "", "open.feishu.cn …cdef"},
		{channel.Feishu, "https://open.larksuite.com/open-apis/bot/v2/hook/" + token, "", "open.larksuite.com …cdef"},
		{channel.WeCom, "wecom://693a91f6-7xxx-4bc4-97a0-0ec2sifa5aaa", "", "qyapi.weixin.qq.com …5aaa"},
		{channel.DingTalk, " https://oapi.dingtalk.com/robot/send?access_token=" + token + " ", robot, "oapi.dingtalk.com …cdef"},
		{channel.Teams, "https://prod-01.westus.logic.azure.com:443/workflows/a/triggers/manual/paths/invoke?sig=" + token, "", "prod-01.westus.logic.azure.com:443 …cdef"},
		{channel.Webhook, "https://user:geheimes-wort@hooks.example.com/x/" + token, whsec, "hooks.example.com …cdef"},
		{channel.Webhook, "http://hooks.example.com", "", "hooks.example.com …"},
		{channel.Webhook, "https://hooks.example.com/short", "", "hooks.example.com …"},
	} {
		to := channel.Target{Kind: tc.kind, URL: tc.url, Secret: tc.secret}
		require.NoError(t, channel.Check(to), tc.url)
		assert.Equal(t, tc.shown, channel.Redact(to))
	}
}

func TestCheckNamesFieldAndCode(t *testing.T) {
	type ce = channel.CheckError
	for _, tc := range []struct {
		kind, url, secret string
		want              ce
	}{
		{"fax", "https://example.com", "", ce{Field: "kind", Code: channel.CheckKind}},
		{"", "https://example.com", "", ce{Field: "kind", Code: channel.CheckKind}},
		{channel.Webhook, "", "", ce{Field: "url", Code: channel.CheckMissing}},
		{channel.Webhook, "   ", "", ce{Field: "url", Code: channel.CheckMissing}},
		{channel.Webhook, "https://exa mple.com/" + token, "", ce{Field: "url", Code: channel.CheckForm}},
		{channel.Webhook, "https://example.com/\r\nX: 1", "", ce{Field: "url", Code: channel.CheckForm}},
		{channel.Webhook, "https://example.com:port/" + token, "", ce{Field: "url", Code: channel.CheckForm}},
		{channel.Webhook, "https://example.com/?a=%zz", "", ce{Field: "url", Code: channel.CheckForm}},
		{channel.Webhook, "ftp://example.com/" + token, "", ce{Field: "url", Code: channel.CheckScheme}},
		{channel.Webhook, "file:///etc/passwd", "", ce{Field: "url", Code: channel.CheckScheme}},
		{channel.Webhook, "example.com/" + token, "", ce{Field: "url", Code: channel.CheckScheme}},
		{channel.Webhook, "https:///" + token, "", ce{Field: "url", Code: channel.CheckHost}},
		{channel.Webhook, "https://exämple.com/" + token, "", ce{Field: "url", Code: channel.CheckHost}},
		{channel.Webhook, "https://example.com/" + strings.Repeat("x", 2000), "", ce{Field: "url", Code: channel.CheckLong}},
		{channel.Webhook, "https://example.com", "whsec_AAEC", ce{Field: "secret", Code: channel.CheckSecret}},
		{channel.Webhook, "https://example.com", "whsec_not base64", ce{Field: "secret", Code: channel.CheckSecret}},
		{channel.Webhook, "https://example.com", "geheim\nX: 1", ce{Field: "secret", Code: channel.CheckSecret}},
		{channel.Webhook, "https://example.com", "a b c d", ce{Field: "secret", Code: channel.CheckLong}},
		{channel.DingTalk, "https://oapi.dingtalk.com/robot/send", robot, ce{Field: "url", Code: channel.CheckToken}},
		{channel.DingTalk, "http://oapi.dingtalk.com/robot/send?access_token=" + token, "", ce{Field: "url", Code: channel.CheckScheme}},
		{channel.DingTalk, "https://open.feishu.cn/open-apis/bot/v2/hook/" + token, "", ce{Field: "url", Code: channel.CheckOtherKind}},
		{channel.DingTalk, "slack://hook:a-b-c@webhook", "", ce{Field: "url", Code: channel.CheckOtherKind}},
		{channel.Feishu, "https://open.feishu.cn/open-apis/bot/v2/hook/", "", ce{Field: "url", Code: channel.CheckToken}},
		{channel.Feishu, "lark://evil.example.com/" + token, "", ce{Field: "url", Code: channel.CheckHost}},
		{channel.WeCom, "https://qyapi.weixin.qq.com/cgi-bin/webhook/send", "", ce{Field: "url", Code: channel.CheckToken}},
		{channel.Slack, "https://hooks.slack.com/", "", ce{Field: "url", Code: channel.CheckToken}},
		{channel.Slack, "slack://oops:" + token + "@webhook", "", ce{Field: "url", Code: channel.CheckToken}},
		{channel.Teams, "https://example.webhook.office.com/webhookb2/" + token, "", ce{Field: "url", Code: channel.CheckRetired}},
		{channel.Teams, "teams://group@tenant/" + token + "/owner?host=example.webhook.office.com", "", ce{Field: "url", Code: channel.CheckRetired}},
		{channel.Telegram, "https://api.telegram.org/bot" + bot + "/sendMessage", "", ce{Field: "url", Code: channel.CheckOneChat}},
		{channel.Telegram, "telegram://" + bot + "@telegram?chats=1,2", "", ce{Field: "url", Code: channel.CheckOneChat}},
		{channel.Telegram, "https://api.telegram.org/bot/sendMessage?chat_id=1", "", ce{Field: "url", Code: channel.CheckToken}},
		{channel.Discord, "https://discord.com/api/webhooks/1", "", ce{Field: "url", Code: channel.CheckToken}},
		{channel.Ntfy, "https://ntfy.sh/", "", ce{Field: "url", Code: channel.CheckToken}},
		{channel.Ntfy, "https://ntfy.sh/a/b", "", ce{Field: "url", Code: channel.CheckToken}},
		{channel.PagerDuty, "", "", ce{Field: "secret", Code: channel.CheckMissing}},
		{channel.PagerDuty, "", "short", ce{Field: "secret", Code: channel.CheckSecret}},
		{channel.Opsgenie, "https://api.opsgenie.com", "", ce{Field: "secret", Code: channel.CheckMissing}},
	} {
		to := channel.Target{Kind: tc.kind, URL: tc.url, Secret: tc.secret}
		err := channel.Check(to)
		if !assert.Equal(t, &tc.want, err, "%s %s", tc.kind, tc.url) {
			continue
		}
		assert.NotContains(t, fmt.Sprintf("%v %+v", err, err), token)
		_, sent := sender(t, nil).Send(t.Context(), to, message())
		assert.Equal(t, err, sent)
		assert.Equal(t, "…", channel.Redact(to))
	}
}

func FuzzCheck(f *testing.F) {
	for _, kind := range channel.Kinds() {
		f.Add(kind, target(kind, "http://127.0.0.1:1").URL, token)
		f.Add(kind, kind+"://a:b@c/d?e=f", "")
	}
	f.Fuzz(func(t *testing.T, kind, raw, secret string) {
		to := channel.Target{Kind: kind, URL: raw, Secret: secret}
		if err := channel.Check(to); err != nil {
			return
		}
		shown := channel.Redact(to)
		if len(secret) > 8 && strings.Contains(shown, secret) {
			t.Fatalf("%q shows the secret", shown)
		}
	})
}
