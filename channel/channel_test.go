package channel_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/carillon-scheduler/carillon/channel"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	now      = time.Unix(1700000000, 0)
	loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
)

const (
	token  = "0123456789abcdef0123456789abcdef"
	bot    = "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw"
	robot  = "SECdemo-secret"
	whsec  = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX"
	link   = "https://carillon.example.com/incidents/7"
	events = "/v2/enqueue"
)

// got is a request as the other side sees it.
type got struct {
	method string
	url    *url.URL
	header http.Header
	raw    []byte
	body   map[string]any
}

// at walks into the body: "card.header.title".
func (g got) at(path string) any {
	var v any = g.body
	for name := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[name]
		case []any:
			v = x[0].(map[string]any)[name]
		default:
			return nil
		}
	}
	return v
}

// simulated is a maker's server: it answers as told and keeps what it got.
type simulated struct {
	*httptest.Server
	mu     sync.Mutex
	all    []got
	status int
	header map[string]string
	answer string
}

func (s *simulated) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	g := got{method: r.Method, url: r.URL, header: r.Header, raw: raw}
	_ = json.Unmarshal(raw, &g.body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, g)
	for k, v := range s.header {
		w.Header().Set(k, v)
	}
	w.WriteHeader(s.status)
	_, _ = io.WriteString(w, s.answer)
}

func (s *simulated) last(t *testing.T) got {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	require.NotEmpty(t, s.all)
	return s.all[len(s.all)-1]
}

func simulate(t *testing.T, status int, answer string) *simulated {
	t.Helper()
	s := &simulated{status: status, answer: answer}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func sender(t *testing.T, change func(o *channel.Options)) *channel.Sender {
	t.Helper()
	o := channel.Options{AllowInternal: loopback, Now: func() time.Time { return now }, Timeout: 10 * time.Second}
	if change != nil {
		change(&o)
	}
	s := channel.New(o)
	t.Cleanup(s.Close)
	return s
}

func message() channel.Message {
	return channel.Message{ID: "d-7-1", Key: "incident-7", Step: channel.Opened, Severity: channel.Critical, Title: "任务 42 <失败> & more", Text: "Since 03:00\n_*log*_ <b>x</b> `y` @everyone",
		Link: link, At: now, Body: []byte(`{"a":1}`)}
}

// target of a kind on a simulated server.
func target(kind, base string) channel.Target {
	t := channel.Target{Kind: kind}
	switch kind {
	case channel.Slack:
		t.URL = base + "/services/T0/B0/" + token
	case channel.Teams:
		t.URL = base + "/workflows/abc/triggers/manual/paths/invoke?api-version=1&sig=" + token
	case channel.Telegram:
		t.URL = base + "/bot" + bot + "/sendMessage?chat_id=-100123"
	case channel.Discord:
		t.URL = base + "/api/webhooks/42/" + token
	case channel.Ntfy:
		t.URL, t.Secret = base+"/carillon-alarms", "tk_"+token
	case channel.PagerDuty, channel.Opsgenie:
		t.URL, t.Secret = base, token
	case channel.DingTalk:
		t.URL, t.Secret = base+"/robot/send?access_token="+token, robot
	case channel.Feishu:
		t.URL, t.Secret = base+"/open-apis/bot/v2/hook/"+token, robot
	case channel.WeCom:
		t.URL = base + "/cgi-bin/webhook/send?key=" + token
	case channel.Webhook:
		t.URL, t.Secret = base+"/hook?k="+token, whsec
	}
	return t
}

// good is an answer that means success, as documented.
func good(kind string) (status int, answer string) {
	switch kind {
	case channel.DingTalk, channel.WeCom:
		return 200, `{"errcode":0,"errmsg":"ok"}`
	case channel.Feishu:
		return 200, `{"code":0,"msg":"success","data":{}}`
	case channel.Telegram:
		return 200, `{"ok":true,"result":{"message_id":1}}`
	case channel.Slack:
		return 200, "ok"
	case channel.Discord:
		return 200, `{"id":"1","content":""}`
	case channel.PagerDuty:
		return 202, `{"status":"success","message":"Event processed","dedup_key":"incident-7"}`
	case channel.Teams, channel.Opsgenie:
		return 202, ""
	}
	return 200, `{"id":"x"}`
}

func hmac256(key, text string) []byte {
	h := hmac.New(sha256.New, []byte(key))
	h.Write([]byte(text))
	return h.Sum(nil)
}

func TestEachKindAsItsMakerDocumentsIt(t *testing.T) {
	for kind, check := range map[string]func(t *testing.T, g got){
		channel.DingTalk: func(t *testing.T, g got) {
			q := g.url.Query()
			assert.Equal(t, "/robot/send", g.url.Path)
			assert.Equal(t, token, q.Get("access_token"))
			assert.Equal(t, "1700000000000", q.Get("timestamp"))
			assert.Equal(t, base64.StdEncoding.EncodeToString(hmac256(robot, "1700000000000\n"+robot)), q.Get("sign"))
			assert.Equal(t, "text", g.at("msgtype"))
			assert.Equal(t, "任务 42 <失败> & more\n\nSince 03:00\n_*log*_ <b>x</b> `y` @everyone\n"+link+"\n@13800138000 @13900139000", g.at("text.content"))
			assert.Equal(t, []any{"13800138000", "13900139000"}, g.at("at.atMobiles"))
			assert.Equal(t, false, g.at("at.isAtAll"))
		},
		channel.Feishu: func(t *testing.T, g got) {
			assert.Equal(t, "1700000000", g.at("timestamp"))
			assert.Equal(t, base64.StdEncoding.EncodeToString(hmac256("1700000000\n"+robot, "")), g.at("sign"))
			assert.Equal(t, "interactive", g.at("msg_type"))
			assert.Equal(t, "red", g.at("card.header.template"))
			assert.Equal(t, map[string]any{"tag": "plain_text", "content": "任务 42 <失败> & more"}, g.at("card.header.title"))
			assert.Equal(t, map[string]any{"tag": "plain_text", "content": "Since 03:00\n_*log*_ <b>x</b> `y` @everyone"}, g.at("card.elements.text"))
			assert.Contains(t, string(g.raw), `"url":"`+link+`"`)
		},
		channel.WeCom: func(t *testing.T, g got) {
			assert.Equal(t, token, g.url.Query().Get("key"))
			assert.Equal(t, "text", g.at("msgtype"))
			assert.True(t, strings.HasSuffix(g.at("text.content").(string), "\n"+link))
			assert.Equal(t, []any{"13800138000", "13900139000"}, g.at("text.mentioned_mobile_list"))
		},
		channel.Slack: func(t *testing.T, g got) {
			assert.Equal(t, "/services/T0/B0/"+token, g.url.Path)
			assert.Equal(t, "任务 42 &lt;失败&gt; &amp; more", g.at("attachments.title"))
			assert.Equal(t, link, g.at("attachments.title_link"))
			assert.Equal(t, "Since 03:00\n_*log*_ &lt;b&gt;x&lt;/b&gt; `y` @everyone", g.at("attachments.text"))
			assert.Equal(t, "#d63939", g.at("attachments.color"))
			assert.Nil(t, g.at("attachments.mrkdwn_in"), "the text is plain")
		},
		channel.Teams: func(t *testing.T, g got) {
			assert.Equal(t, token, g.url.Query().Get("sig"))
			assert.Equal(t, "message", g.at("type"))
			assert.Equal(t, "application/vnd.microsoft.card.adaptive", g.at("attachments.contentType"))
			assert.Equal(t, "AdaptiveCard", g.at("attachments.content.type"))
			blocks := g.at("attachments.content.body").([]any)
			assert.Equal(t, "任务 42 <失败\\> & more", blocks[0].(map[string]any)["text"])
			assert.Equal(t, "Since 03:00\n\n\\_\\*log\\*\\_ <b\\>x</b\\> \\`y\\` @everyone", blocks[1].(map[string]any)["text"])
			assert.Equal(t, link, g.at("attachments.content.actions.url"))
		},
		channel.Telegram: func(t *testing.T, g got) {
			assert.Equal(t, "/bot"+bot+"/sendMessage", g.url.Path)
			assert.Equal(t, "-100123", g.at("chat_id"))
			assert.Equal(t, "任务 42 <失败> & more\n\nSince 03:00\n_*log*_ <b>x</b> `y` @everyone\n"+link, g.at("text"))
			assert.Nil(t, g.at("parse_mode"), "the text is plain")
			assert.Equal(t, false, g.at("disable_notification"))
		},
		channel.Discord: func(t *testing.T, g got) {
			assert.Equal(t, "/api/webhooks/42/"+token, g.url.Path)
			assert.Equal(t, "true", g.url.Query().Get("wait"))
			assert.Equal(t, "任务 42 <失败> & more", g.at("embeds.title"))
			assert.Equal(t, "Since 03:00\n\\_\\*log\\*\\_ <b\\>x</b\\> \\`y\\` @everyone", g.at("embeds.description"))
			assert.Equal(t, link, g.at("embeds.url"))
			assert.Equal(t, "2023-11-14T22:13:20Z", g.at("embeds.timestamp"))
			assert.Equal(t, []any{}, g.at("allowed_mentions.parse"), "nobody is called")
		},
		channel.Ntfy: func(t *testing.T, g got) {
			assert.Equal(t, "/", g.url.Path)
			assert.Equal(t, "Bearer tk_"+token, g.header.Get("Authorization"))
			assert.Equal(t, "carillon-alarms", g.at("topic"))
			assert.Equal(t, "任务 42 <失败> & more", g.at("title"))
			assert.EqualValues(t, 5, g.at("priority"))
			assert.Equal(t, link, g.at("click"))
		},
		channel.PagerDuty: func(t *testing.T, g got) {
			assert.Equal(t, events, g.url.Path)
			assert.Equal(t, token, g.at("routing_key"))
			assert.Equal(t, "trigger", g.at("event_action"))
			assert.Equal(t, "incident-7", g.at("dedup_key"))
			assert.Equal(t, "critical", g.at("payload.severity"))
			assert.Equal(t, "任务 42 <失败> & more", g.at("payload.summary"))
			assert.NotEmpty(t, g.at("payload.source"))
			assert.Equal(t, link, g.at("links.href"))
		},
		channel.Opsgenie: func(t *testing.T, g got) {
			assert.Equal(t, "/v2/alerts", g.url.Path)
			assert.Equal(t, "GenieKey "+token, g.header.Get("Authorization"))
			assert.Equal(t, "incident-7", g.at("alias"))
			assert.Equal(t, "P1", g.at("priority"))
			assert.Equal(t, link, g.at("details.link"))
		},
		channel.Webhook: func(t *testing.T, g got) {
			key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(whsec, "whsec_"))
			require.NoError(t, err)
			assert.Equal(t, `{"a":1}`, string(g.raw))
			assert.Equal(t, "d-7-1", g.header.Get("webhook-id"))
			assert.Equal(t, "1700000000", g.header.Get("webhook-timestamp"))
			assert.Equal(t, "v1,"+base64.StdEncoding.EncodeToString(hmac256(string(key), `d-7-1.1700000000.{"a":1}`)), g.header.Get("webhook-signature"))
			assert.Equal(t, "sha256="+hex.EncodeToString(hmac256(whsec, `{"a":1}`)), g.header.Get("X-Hub-Signature-256"))
			assert.Equal(t, "opened", g.header.Get("X-Carillon-Event"))
		},
	} {
		t.Run(kind, func(t *testing.T) {
			status, answer := good(kind)
			s := simulate(t, status, answer)
			m := message()
			m.MobileMentions = []string{"13800138000", "@all", "13900139000", "1\n2"}
			a, err := sender(t, nil).Send(t.Context(), target(kind, s.URL), m)
			require.NoError(t, err)
			assert.Contains(t, []int{0, 200, 202}, a.Code)
			g := s.last(t)
			assert.Equal(t, http.MethodPost, g.method)
			assert.Equal(t, "application/json; charset=utf-8", g.header.Get("Content-Type"))
			assert.Equal(t, "Carillon", g.header.Get("User-Agent"))
			check(t, g)
			assert.Len(t, s.all, 1)
		})
	}
	assert.Len(t, channel.Kinds(), 11)
}

func TestHugeAndHostileTextsFit(t *testing.T) {
	units := func(v any) int { return len(utf16.Encode([]rune(v.(string)))) }
	longest := map[string]func(t *testing.T, g got){
		channel.DingTalk: func(t *testing.T, g got) { assert.LessOrEqual(t, len(g.raw), 15500) },
		channel.Feishu:   func(t *testing.T, g got) { assert.LessOrEqual(t, len(g.raw), 20000) },
		channel.WeCom: func(t *testing.T, g got) {
			text := g.at("text.content").(string)
			assert.LessOrEqual(t, len(text), 2048)
			assert.Greater(t, len(text), 1900, "what fits is told")
		},
		channel.Slack:    func(t *testing.T, g got) { assert.LessOrEqual(t, units(g.at("attachments.text")), 3000) },
		channel.Teams:    func(t *testing.T, g got) { assert.LessOrEqual(t, len(g.raw), 21000) },
		channel.Telegram: func(t *testing.T, g got) { assert.LessOrEqual(t, units(g.at("text")), 4096) },
		channel.Discord: func(t *testing.T, g got) {
			assert.LessOrEqual(t, units(g.at("embeds.description")), 4096)
			assert.LessOrEqual(t, units(g.at("embeds.title")), 256)
		},
		channel.Ntfy: func(t *testing.T, g got) { assert.LessOrEqual(t, len(g.at("message").(string)), 4096) },
		channel.PagerDuty: func(t *testing.T, g got) {
			assert.LessOrEqual(t, len(g.raw), 512<<10)
			assert.LessOrEqual(t, units(g.at("payload.summary")), 1024)
			assert.LessOrEqual(t, len(g.at("dedup_key").(string)), 255)
		},
		channel.Opsgenie: func(t *testing.T, g got) {
			assert.LessOrEqual(t, units(g.at("message")), 130)
			assert.LessOrEqual(t, units(g.at("description")), 15000)
			assert.LessOrEqual(t, len(g.at("alias").(string)), 512)
		},
	}
	for _, line := range []string{"行👨‍👩‍👧 ", "<script>\"&\\ ", "*_[x](y)_*`#>~|-", "x", "\n", "\u2028"} {
		for kind, check := range longest {
			t.Run(kind+" "+line, func(t *testing.T) {
				status, answer := good(kind)
				s := simulate(t, status, answer)
				m := message()
				m.Title = strings.Repeat("标题 ", 1000) + "\r\nX: 1"
				m.Text = "a\x00\x1b[31mb\x07\u202e\xff" + strings.Repeat(line, (1<<20)/len(line)) + "."
				m.Key = strings.Repeat("k", 900)
				_, err := sender(t, nil).Send(t.Context(), target(kind, s.URL), m)
				require.NoError(t, err)
				g := s.last(t)
				check(t, g)
				assert.NotNil(t, g.body, "valid JSON")
				assert.NotContains(t, string(g.raw), "\ufffd\ufffd")
				for _, bad := range []string{"\\u0000", "\\u001b", "\\u0007", "\u202e"} {
					assert.NotContains(t, string(g.raw), bad)
				}
				if strings.TrimSpace(line) != "" {
					assert.Contains(t, string(g.raw), "… "+link, "what was cut says where the rest is")
				}
			})
		}
	}
}

func TestResolvedClosesWhatWasOpened(t *testing.T) {
	m := message()
	m.Step = channel.Resolved
	s := simulate(t, 202, "{}")
	for kind, check := range map[string]func(g got){
		channel.PagerDuty: func(g got) {
			assert.Equal(t, "resolve", g.at("event_action"))
			assert.Equal(t, "incident-7", g.at("dedup_key"))
		},
		channel.Opsgenie: func(g got) {
			assert.Equal(t, "/v2/alerts/incident-7/close", g.url.Path)
			assert.Equal(t, "alias", g.url.Query().Get("identifierType"))
		},
		channel.Slack: func(g got) { assert.Equal(t, "#2fb344", g.at("attachments.color")) },
		channel.Ntfy:  func(g got) { assert.EqualValues(t, 3, g.at("priority")) },
	} {
		_, err := sender(t, nil).Send(t.Context(), target(kind, s.URL), m)
		require.NoError(t, err, kind)
		check(s.last(t))
	}
}

func TestWithoutASecretNothingIsSigned(t *testing.T) {
	for _, kind := range []string{channel.DingTalk, channel.Feishu, channel.Webhook} {
		status, answer := good(kind)
		s := simulate(t, status, answer)
		to := target(kind, s.URL)
		to.Secret = ""
		_, err := sender(t, nil).Send(t.Context(), to, message())
		require.NoError(t, err)
		g := s.last(t)
		assert.NotContains(t, g.url.RawQuery, "sign=")
		assert.Nil(t, g.at("sign"))
		assert.Empty(t, g.header.Get("webhook-signature"))
		assert.Empty(t, g.header.Get("X-Hub-Signature-256"))
	}
}

func TestTwoSecretsWhileOneReplacesAnother(t *testing.T) {
	s := simulate(t, 204, "")
	to := target(channel.Webhook, s.URL)
	to.Secret = whsec + " old-secret"
	m := message()
	m.ID, m.Step = "d\r\n7", "opened\r\nX-Evil: 1"
	_, err := sender(t, nil).Send(t.Context(), to, m)
	require.NoError(t, err)
	g := s.last(t)
	signatures := strings.Fields(g.header.Get("webhook-signature"))
	require.Len(t, signatures, 2)
	assert.Equal(t, "v1,"+base64.StdEncoding.EncodeToString(hmac256("old-secret", `d7.1700000000.{"a":1}`)), signatures[1])
	assert.Equal(t, "sha256="+hex.EncodeToString(hmac256(whsec, `{"a":1}`)), g.header.Get("X-Hub-Signature-256"))
	assert.Empty(t, g.header.Get("X-Evil"))
}

func TestAnswersThatMeanNo(t *testing.T) {
	for _, tc := range []struct {
		kind, answer string
		status       int
		header       string
		want         channel.Error
	}{
		{channel.DingTalk, `{"errcode":130101,"errmsg":"send too fast"}`, 200, "", channel.Error{Reason: "refused", Code: 130101, Text: "send too fast", RetryAfter: 10 * time.Minute}},
		{channel.DingTalk, `{"errcode":310000,"errmsg":"sign not match"}`, 200, "", channel.Error{Reason: "refused", Code: 310000, Text: "sign not match", Permanent: true}},
		{channel.DingTalk, `{"errcode":-1,"errmsg":"系统繁忙"}`, 200, "", channel.Error{Reason: "refused", Code: -1, Text: "系统繁忙"}},
		{channel.DingTalk, `<html>`, 200, "", channel.Error{Reason: "unclear", Code: 200, Text: "<html>"}},
		{channel.DingTalk, ``, 200, "", channel.Error{Reason: "unclear", Code: 200}},
		{channel.DingTalk, `{}`, 200, "", channel.Error{Reason: "unclear", Code: 200, Text: "{}"}},
		{channel.DingTalk, `oops`, 502, "", channel.Error{Reason: "refused", Code: 502, Text: "oops"}},
		{channel.Feishu, `{"code":11232,"msg":"frequency limited"}`, 200, "", channel.Error{Reason: "refused", Code: 11232, Text: "frequency limited", RetryAfter: time.Minute}},
		{channel.Feishu, `{"code":19021,"msg":"sign match fail or timestamp is not within one hour from current time"}`, 200, "", channel.Error{Reason: "refused", Code: 19021, Text: "sign match fail or timestamp is not within one hour from current time", Permanent: true}},
		{channel.Feishu, `{"code":19024,"msg":"Key Words Not Found"}`, 200, "", channel.Error{Reason: "refused", Code: 19024, Text: "Key Words Not Found", Permanent: true}},
		{channel.Feishu, `{"StatusCode":19001,"StatusMessage":"param invalid"}`, 200, "", channel.Error{Reason: "refused", Code: 19001, Text: "param invalid", Permanent: true}},
		{channel.WeCom, `{"errcode":45009,"errmsg":"api freq out of limit"}`, 200, "", channel.Error{Reason: "refused", Code: 45009, Text: "api freq out of limit", RetryAfter: time.Minute}},
		{channel.WeCom, `{"errcode":93000,"errmsg":"invalid webhook url"}`, 200, "", channel.Error{Reason: "refused", Code: 93000, Text: "invalid webhook url", Permanent: true}},
		{channel.Telegram, `{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 35","parameters":{"retry_after":35}}`, 429, "", channel.Error{Reason: "refused", Code: 429, Text: "Too Many Requests: retry after 35", RetryAfter: 35 * time.Second}},
		{channel.Telegram, `{"ok":false,"error_code":403,"description":"Forbidden: bot was blocked by the user"}`, 403, "", channel.Error{Reason: "refused", Code: 403, Text: "Forbidden: bot was blocked by the user", Permanent: true}},
		{channel.Telegram, `not json`, 200, "", channel.Error{Reason: "unclear", Code: 200, Text: "not json"}},
		{channel.Discord, `{"message":"You are being rate limited.","retry_after":1.5,"global":false}`, 429, "", channel.Error{Reason: "refused", Code: 429, Text: "You are being rate limited.", RetryAfter: 1500 * time.Millisecond}},
		{channel.Discord, `{"message":"Invalid Webhook Token","code":50027}`, 401, "", channel.Error{Reason: "refused", Code: 401, Text: "Invalid Webhook Token", Permanent: true}},
		{channel.Discord, `{"message":"Forbidden"}`, 403, "", channel.Error{Reason: "refused", Code: 403, Text: "Forbidden", Permanent: true}},
		{channel.Slack, `no_service`, 404, "", channel.Error{Reason: "refused", Code: 404, Text: "no_service", Permanent: true}},
		{channel.Slack, ``, 429, "30", channel.Error{Reason: "refused", Code: 429, RetryAfter: 30 * time.Second}},
		{channel.Slack, `{"ok":false,"error":"channel_not_found"}`, 200, "", channel.Error{Reason: "refused", Code: 200, Text: "channel_not_found", Permanent: true}},
		{channel.Slack, `{"ok":false,"error":"ratelimited"}`, 200, "", channel.Error{Reason: "refused", Code: 200, Text: "ratelimited"}},
		{channel.Teams, `slow`, 429, "Tue, 14 Nov 2023 22:15:20 GMT", channel.Error{Reason: "refused", Code: 429, Text: "slow", RetryAfter: 2 * time.Minute}},
		{channel.Teams, `too large`, 413, "", channel.Error{Reason: "refused", Code: 413, Text: "too large", Permanent: true}},
		{channel.Ntfy, `{"code":42901,"error":"limit reached"}`, 429, "nonsense", channel.Error{Reason: "refused", Code: 429, Text: `{"code":42901,"error":"limit reached"}`}},
		{channel.PagerDuty, `{"status":"invalid event"}`, 400, "", channel.Error{Reason: "refused", Code: 400, Text: `{"status":"invalid event"}`, Permanent: true}},
		{channel.PagerDuty, ``, 429, "", channel.Error{Reason: "refused", Code: 429}},
		{channel.Opsgenie, `{"message":"Key format is not valid!"}`, 401, "", channel.Error{Reason: "refused", Code: 401, Text: `{"message":"Key format is not valid!"}`, Permanent: true}},
		{channel.Webhook, `gone`, 410, "", channel.Error{Reason: "refused", Code: 410, Text: "gone", Permanent: true}},
		{channel.Webhook, `not yet`, 404, "", channel.Error{Reason: "refused", Code: 404, Text: "not yet"}},
		{channel.Webhook, `wait`, 503, "99999999", channel.Error{Reason: "refused", Code: 503, Text: "wait", RetryAfter: 24 * time.Hour}},
		{channel.Webhook, `you sent ` + whsec + ` and ` + token + "\x1b[0m\n!", 500, "", channel.Error{Reason: "refused", Code: 500, Text: "you sent *** and *** [0m !"}},
	} {
		t.Run(fmt.Sprintf("%s %d %.20s", tc.kind, tc.status, tc.answer), func(t *testing.T) {
			s := simulate(t, tc.status, tc.answer)
			s.header = map[string]string{"Retry-After": tc.header}
			e := failure(t, sender(t, nil), target(tc.kind, s.URL))
			assert.Equal(t, tc.want, *e)
			assert.Len(t, s.all, 1, "no second try")
		})
	}
}

// failure sends and expects an *Error that gives nothing away.
func failure(t *testing.T, s *channel.Sender, to channel.Target) *channel.Error {
	t.Helper()
	a, err := s.Send(t.Context(), to, message())
	require.Error(t, err)
	assert.Zero(t, a)
	e, ok := errors.AsType[*channel.Error](err)
	require.True(t, ok, "%T %v", err, err)
	for _, secret := range []string{token, bot, robot, whsec} {
		assert.NotContains(t, fmt.Sprintf("%v %+v %q", err, e.Err, e.Text), secret)
	}
	return e
}

func TestHeartbeat(t *testing.T) {
	s := simulate(t, 200, "OK")
	a, err := sender(t, nil).Heartbeat(t.Context(), s.URL+"/ping/"+token)
	require.NoError(t, err)
	assert.Equal(t, channel.Answer{Code: 200, Text: "OK"}, a)
	g := s.last(t)
	assert.Equal(t, http.MethodGet, g.method)
	assert.Equal(t, "/ping/"+token, g.url.Path)
	assert.Empty(t, g.raw)
	assert.Empty(t, g.header.Get("Content-Type"))

	s.mu.Lock()
	s.status, s.answer = 404, "no such check "+token
	s.mu.Unlock()
	_, err = sender(t, nil).Heartbeat(t.Context(), s.URL+"/ping/"+token)
	require.ErrorContains(t, err, "404 no such check ***")
	_, err = sender(t, func(o *channel.Options) { o.AllowInternal = nil }).Heartbeat(t.Context(), s.URL)
	require.ErrorContains(t, err, "internal")
	_, err = sender(t, nil).Heartbeat(t.Context(), "nonsense")
	require.ErrorIs(t, err, err.(*channel.CheckError))
}
