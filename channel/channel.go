// Package channel tells people by other ways than mail: chats, robots, on-call
// services, webhooks. Each Send is one request; it never tries twice, keeps nothing
// and calls only addresses that it may. The senders are our own: see ARCHITECTURE.md.
package channel

import (
	"context"
	"net/http"
	"net/netip"
	"slices"
	"time"
)

// Kinds of a Target.
const (
	Slack     = "slack"
	Teams     = "teams"
	Telegram  = "telegram"
	Discord   = "discord"
	Ntfy      = "ntfy"
	PagerDuty = "pagerduty"
	Opsgenie  = "opsgenie"
	DingTalk  = "dingtalk"
	Feishu    = "feishu"
	WeCom     = "wecom"
	Webhook   = "webhook"
)

// Kinds lists all kinds, as a form shows them.
func Kinds() []string {
	return []string{DingTalk, Feishu, WeCom, Slack, Teams, Telegram, Discord, Ntfy, PagerDuty, Opsgenie, Webhook}
}

// Steps of an incident that a Message tells of.
const (
	Opened    = "opened"
	Reminder  = "reminder"
	Resolved  = "resolved"
	Escalated = "escalated"
	Test      = "test"
	Digest    = "digest"
)

// Severities.
const (
	Info     = "info"
	Warning  = "warning"
	Critical = "critical"
)

// Target is where messages go.
type Target struct {
	Kind string
	// URL is the address with its token as the maker shows it, or the service URL that
	// shoutrrr has for the kind:
	//
	//	slack      https://hooks.slack.com/services/T…/B…/…
	//	teams      the address of the workflow
	//	telegram   https://api.telegram.org/bot<token>/sendMessage?chat_id=…
	//	discord    https://discord.com/api/webhooks/…/…
	//	ntfy       https://ntfy.sh/topic, Secret = access token or ""
	//	pagerduty  "" or https://events.eu.pagerduty.com, Secret = routing key
	//	opsgenie   "" or https://api.eu.opsgenie.com, Secret = API key
	//	dingtalk   https://oapi.dingtalk.com/robot/send?access_token=…
	//	feishu     https://open.feishu.cn/open-apis/bot/v2/hook/…
	//	wecom      https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=…
	//	webhook    any address
	URL string
	// Secret is the key of the signature (dingtalk, feishu, webhook; "" = not signed) or
	// what the list above says. For webhook there may be several, separated by spaces,
	// while one replaces another: the first is the new one.
	Secret string
}

// Message is what is told.
type Message struct {
	ID       string // of the delivery, the same on each try
	Key      string // of the incident: PagerDuty and Opsgenie open and close by it
	Step     string
	Severity string
	Title    string // one line
	Text     string // plain
	Link     string // to the incident; may be ""
	At       time.Time
	Body     []byte // JSON, sent by webhook as it is
	// MobileMentions are the telephone numbers of those whom DingTalk and WeCom call.
	MobileMentions []string
}

// Answer is what the other side said.
type Answer struct {
	Code int    // HTTP status, or the code in the body where the status says nothing
	Text string // cleaned, at most 500 bytes, without the token
}

// DefaultTimeout bounds a Send when Options say nothing.
const DefaultTimeout = 15 * time.Second

// Options of a Sender. The zero value calls addresses of the internet only.
type Options struct {
	// AllowInternal are ranges that may be called although they are not of the internet,
	// such as 10.1.2.0/24. Loopback, link-local and private ranges are refused otherwise.
	AllowInternal []netip.Prefix
	// Proxy uses HTTP_PROXY and HTTPS_PROXY of the environment. Names are resolved by the
	// proxy then, so that it has to keep internal addresses away.
	Proxy   bool
	Timeout time.Duration    // of one Send, to the last byte of the answer
	Now     func() time.Time // default time.Now
	// HTTP replaces the guarded client; for tests. Redirects are not followed by it either.
	HTTP *http.Client
}

// Sender sends messages. It is safe for concurrent use.
type Sender struct {
	http    *http.Client
	guard   *guard
	now     func() time.Time
	timeout time.Duration
}

// New builds a sender.
func New(o Options) *Sender {
	s := &Sender{http: &http.Client{}, guard: newGuard(o.AllowInternal), now: o.Now, timeout: o.Timeout}
	if s.now == nil {
		s.now = time.Now
	}
	if s.timeout <= 0 {
		s.timeout = DefaultTimeout
	}
	if o.HTTP != nil {
		*s.http = *o.HTTP
	} else {
		s.http.Transport = s.guard.transport(s.timeout, o.Proxy)
	}
	s.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return s
}

// Close drops the idle connections.
func (s *Sender) Close() { s.http.CloseIdleConnections() }

// Send tells one target. Errors are *Error, or *CheckError when the target itself is
// wrong.
func (s *Sender) Send(ctx context.Context, t Target, m Message) (Answer, error) {
	e, err := parse(t)
	if err != nil {
		return Answer{}, err
	}
	if err := s.guard.literal(e.url); err != nil {
		return Answer{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.timeout, errTooSlow)
	defer cancel()
	return s.post(ctx, e, e.kind.write(e, m.clean(), s.now()))
}

// Heartbeat calls an address with GET, so that somebody outside hears it when the calls
// stop (Healthchecks, Cronitor, Dead Man's Snitch). Any 2xx is success. Errors as Send.
func (s *Sender) Heartbeat(ctx context.Context, address string) (Answer, error) {
	e, err := parse(Target{Kind: Webhook, URL: address})
	if err != nil {
		return Answer{}, err
	}
	if err := s.guard.literal(e.url); err != nil {
		return Answer{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.timeout, errTooSlow)
	defer cancel()
	return s.post(ctx, e, request{method: http.MethodGet})
}

// kind is what is particular to a way of telling.
type kind struct {
	// parse finds address and token in a target whose URL is readable, or says what is
	// wrong.
	parse func(e *endpoint) *CheckError
	// write makes the request.
	write func(e endpoint, m Message, now time.Time) request
	// judge reads the answer. nil: the HTTP status says all.
	judge func(r response) verdict
}

func kinds(name string) (kind, bool) {
	k, ok := map[string]kind{
		Slack:     {parseSlack, writeSlack, judgeSlack},
		Teams:     {parseTeams, writeTeams, nil},
		Telegram:  {parseTelegram, writeTelegram, judgeTelegram},
		Discord:   {parseDiscord, writeDiscord, judgeDiscord},
		Ntfy:      {parseNtfy, writeNtfy, nil},
		PagerDuty: {parsePagerDuty, writePagerDuty, nil},
		Opsgenie:  {parseOpsgenie, writeOpsgenie, nil},
		DingTalk:  {parseDingTalk, writeDingTalk, judgeDingTalk},
		Feishu:    {parseFeishu, writeFeishu, judgeFeishu},
		WeCom:     {parseWeCom, writeWeCom, judgeWeCom},
		Webhook:   {parseWebhook, writeWebhook, judgeWebhook},
	}[name]
	return k, ok && slices.Contains(Kinds(), name)
}
