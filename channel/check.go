package channel

import (
	"net/netip"
	"net/url"
	"strings"
	"unicode"
)

// endpoint is a target that was understood.
type endpoint struct {
	kind    kind
	url     *url.URL // what is posted to
	token   string   // of Telegram, PagerDuty, Opsgenie, ntfy, Slack's bots
	user    string   // of ntfy
	chat    string   // of Telegram and Slack's bots; topic of ntfy
	thread  string   // of Telegram
	secret  string
	secrets []string // what answers must not quote
	query   url.Values
}

// Check says whether messages could be sent to a target: a *CheckError names the
// field and what is wrong with it. Nobody is called. The error contains nothing of the
// target.
func Check(t Target) error {
	_, err := parse(t)
	return err
}

// Check is the function Check, and refuses addresses that can be seen to be internal
// and are not allowed.
func (s *Sender) Check(t Target) error {
	e, err := parse(t)
	if err != nil {
		return err
	}
	if s.guard.literal(e.url) != nil {
		return &CheckError{"url", CheckInternal}
	}
	return nil
}

// Redact is what may be shown of a target: the host and the last 4 characters of what
// is secret in the address, when it is long enough.
func Redact(t Target) string {
	e, err := parse(t)
	if err != nil {
		return "…"
	}
	secret := e.token
	if secret == "" {
		secret = e.url.Path
		for _, name := range []string{"access_token", "key", "sig"} {
			if v := e.query.Get(name); v != "" {
				secret = v
			}
		}
	}
	host := e.url.Host
	if len(secret) < 16 {
		return host + " …"
	}
	return host + " …" + secret[len(secret)-4:]
}

// parse understands a target. Its error is a *CheckError.
func parse(t Target) (endpoint, error) {
	k, ok := kinds(t.Kind)
	if !ok {
		return endpoint{}, &CheckError{"kind", CheckKind}
	}
	raw := strings.TrimSpace(t.URL)
	e := endpoint{kind: k, secret: strings.TrimSpace(t.Secret)}
	if len(raw) > 2000 {
		return e, &CheckError{"url", CheckLong}
	}
	if len(e.secret) > 2000 {
		return e, &CheckError{"secret", CheckLong}
	}
	if strings.ContainsFunc(e.secret, func(r rune) bool { return unicode.IsControl(r) || r > 0x7e }) {
		return e, &CheckError{"secret", CheckSecret}
	}
	if raw == "" {
		switch t.Kind {
		case PagerDuty:
			raw = "https://events.pagerduty.com"
		case Opsgenie:
			raw = "https://api.opsgenie.com"
		default:
			return e, &CheckError{"url", CheckMissing}
		}
	}
	u, err := url.Parse(raw)
	if err != nil || strings.ContainsFunc(raw, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }) {
		return e, &CheckError{"url", CheckForm}
	}
	if e.query, err = url.ParseQuery(u.RawQuery); err != nil {
		return e, &CheckError{"url", CheckForm}
	}
	e.url, u.Fragment, u.RawFragment = u, "", ""
	if s := u.Scheme; s == "" || s != "https" && s != "http" && s != service(t.Kind) {
		if s != "" && isKind(s) {
			return e, &CheckError{"url", CheckOtherKind}
		}
		return e, &CheckError{"url", CheckScheme}
	}
	if kind := kindOf(u.Hostname()); kind != "" && kind != t.Kind && t.Kind != Webhook {
		return e, &CheckError{"url", CheckOtherKind}
	}
	if err := k.parse(&e); err != nil {
		return e, err
	}
	if err := e.checkAddress(t.Kind); err != nil {
		return e, err
	}
	e.secrets = append(e.secrets, raw, e.url.RequestURI(), e.token, e.secret)
	e.secrets = append(e.secrets, strings.Fields(e.secret)...)
	for _, values := range e.query {
		e.secrets = append(e.secrets, values...)
	}
	if p, ok := e.url.User.Password(); ok {
		e.secrets = append(e.secrets, p)
	}
	if last := e.url.Path[strings.LastIndex(e.url.Path, "/")+1:]; len(last) >= 12 {
		e.secrets = append(e.secrets, last)
	}
	return e, nil
}

// checkAddress looks at what is going to be posted to.
func (e *endpoint) checkAddress(kind string) *CheckError {
	host := e.url.Hostname()
	if host == "" || strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r > 0x7e || strings.ContainsRune("%\\<>\"{}|^`", r) }) {
		return &CheckError{"url", CheckHost}
	}
	if e.url.User != nil && kind != Webhook {
		return &CheckError{"url", CheckForm}
	}
	// A token that travels in plain text is everybody's. Inside of a house relays are
	// reached so; ntfy and webhooks are people's own.
	if e.url.Scheme == "http" && kind != Webhook && kind != Ntfy && !inside(host) {
		return &CheckError{"url", CheckScheme}
	}
	return nil
}

func inside(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && (a.IsLoopback() || a.IsPrivate())
}

// service is the scheme of shoutrrr's address for a kind.
func service(kind string) string {
	switch kind {
	case Feishu:
		return "lark"
	case Webhook, DingTalk:
		return ""
	}
	return kind
}

func isKind(scheme string) bool {
	for _, k := range Kinds() {
		if service(k) == scheme {
			return true
		}
	}
	return false
}

// kindOf knows the makers by their hosts: an address in the wrong field is a common
// mistake.
func kindOf(host string) string {
	switch host = strings.ToLower(host); {
	case host == "oapi.dingtalk.com" || host == "api.dingtalk.com":
		return DingTalk
	case host == "open.feishu.cn" || host == "open.larksuite.com":
		return Feishu
	case host == "qyapi.weixin.qq.com":
		return WeCom
	case host == "hooks.slack.com":
		return Slack
	case host == "api.telegram.org":
		return Telegram
	case host == "discord.com" || host == "discordapp.com":
		return Discord
	case strings.HasSuffix(host, ".pagerduty.com"):
		return PagerDuty
	case strings.HasSuffix(host, ".opsgenie.com"):
		return Opsgenie
	case strings.HasSuffix(host, ".logic.azure.com") || strings.HasSuffix(host, ".webhook.office.com") || host == "outlook.office.com":
		return Teams
	}
	return ""
}

// https makes an address of what a service URL says.
func https(host, path string, query url.Values) *url.URL {
	return &url.URL{Scheme: "https", Host: host, Path: path, RawQuery: query.Encode()}
}
