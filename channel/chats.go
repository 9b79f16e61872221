package channel

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Sizes of messages, in the unit of each: UTF-16 units, or bytes of JSON.
const (
	maxSlack        = 3000
	maxTeams        = 20000 // 28 KB by the book, people measure 21 to 27
	maxTelegram     = 4096
	maxDiscord      = 4000
	maxDiscordTitle = 256
	maxNtfy         = 4096
)

// escaped puts a backslash before what Markdown would read.
func escaped(s, signs string) string {
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune(signs, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

const (
	teamsSigns   = "\\*_[]#`>~|"
	discordSigns = "\\*_[]#`>~|-"
)

var slackHook = regexp.MustCompile(`^/(services|triggers|workflows)/[A-Za-z0-9/]+$`)

// parseSlack reads the address of a webhook, slack://hook:T-B-X@webhook,
// slack://T/B/X and slack://xoxb:…@channel.
func parseSlack(e *endpoint) *CheckError {
	if e.url.Scheme != "slack" {
		if e.url.Hostname() == "hooks.slack.com" && !slackHook.MatchString(e.url.Path) || e.url.Path == "" || e.url.Path == "/" {
			return &CheckError{"url", CheckToken}
		}
		return nil
	}
	if e.url.Path != "" && e.url.Path != "/" {
		e.url = https("hooks.slack.com", "/services/"+e.url.Hostname()+e.url.Path, nil)
		return nil
	}
	sort, user := e.url.User.Username(), e.url.User
	token, ok := user.Password()
	switch {
	case !ok || token == "" || e.url.Hostname() == "":
		return &CheckError{"url", CheckToken}
	case sort == "hook":
		e.url = https("hooks.slack.com", "/services/"+strings.ReplaceAll(token, "-", "/"), nil)
	case sort == "xoxb" || sort == "xoxp":
		e.token, e.chat = sort+"-"+token, e.url.Hostname()
		e.url = https("slack.com", "/api/chat.postMessage", nil)
	default:
		return &CheckError{"url", CheckToken}
	}
	return nil
}

var slackEscape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// writeSlack sends an attachment: it has a colour, a title that is a link, and text
// that is read as it is.
func writeSlack(e endpoint, m Message, _ time.Time) request {
	units := size(func(r rune) int { return len(slackEscape.Replace(string(r))) - len(string(r)) + inUnits(r) })
	title := units.fit(m.Title, "", 300)
	a := map[string]any{"color": look(m, "#2fb344", "#d63939", "#f59f00", "#4299e1"), "fallback": slackEscape.Replace(title), "title": slackEscape.Replace(title),
		"text": slackEscape.Replace(units.fit(m.Text, m.Link, maxSlack)), "ts": m.At.Unix()}
	if m.Link != "" {
		a["title_link"] = m.Link
	}
	body := map[string]any{"attachments": []any{a}}
	q := request{}
	if e.token != "" {
		body["channel"] = e.chat
		q.header = map[string]string{"Authorization": "Bearer " + e.token}
	}
	q.body = marshal(body)
	return q
}

// judgeSlack: webhooks answer "ok" or words with a status, the API a field.
func judgeSlack(r response) verdict {
	v := byStatus(r)
	var a struct {
		OK    *bool
		Error string
	}
	if v.ok && json.Unmarshal(r.body, &a) == nil && a.OK != nil && !*a.OK {
		v.ok, v.text = false, a.Error
		v.permanent = !slices.Contains([]string{"ratelimited", "rate_limited", "internal_error", "fatal_error", "service_unavailable", "request_timeout"}, a.Error)
	}
	return v
}

// parseTeams wants the address of a workflow. The connectors have ended.
func parseTeams(e *endpoint) *CheckError {
	host := strings.ToLower(e.url.Hostname())
	if e.url.Scheme == "teams" || host == "outlook.office.com" || strings.HasSuffix(host, ".webhook.office.com") {
		return &CheckError{"url", CheckRetired}
	}
	if e.url.Path == "" || e.url.Path == "/" {
		return &CheckError{"url", CheckToken}
	}
	return nil
}

func writeTeams(_ endpoint, m Message, _ time.Time) request {
	bytes := size(func(r rune) int {
		n := inJSON(r)
		if strings.ContainsRune(teamsSigns, r) {
			n += 2
		}
		if r == '\n' {
			n *= 2
		}
		return n
	})
	block := func(text string, more map[string]any) map[string]any {
		b := map[string]any{"type": "TextBlock", "wrap": true, "text": strings.ReplaceAll(escaped(text, teamsSigns), "\n", "\n\n")}
		for k, v := range more {
			b[k] = v
		}
		return b
	}
	card := map[string]any{
		"$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4", "msteams": map[string]any{"width": "Full"},
		"body": []any{
			block(bytes.fit(m.Title, "", 600), map[string]any{"weight": "Bolder", "size": "Medium", "color": look(m, "Good", "Attention", "Warning", "Accent")}),
			block(bytes.fit(m.Text, m.Link, maxTeams-3000), nil),
		},
	}
	if m.Link != "" {
		card["actions"] = []any{map[string]any{"type": "Action.OpenUrl", "title": "Carillon", "url": m.Link}}
	}
	return request{body: marshal(map[string]any{"type": "message", "attachments": []any{
		map[string]any{"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": nil, "content": card}}})}
}

var (
	telegramPath = regexp.MustCompile(`^(.*/)bot(\d+:[A-Za-z0-9_-]{20,})(/sendMessage)?/?$`)
	telegramBot  = regexp.MustCompile(`^\d+:[A-Za-z0-9_-]{20,}$`)
	telegramChat = regexp.MustCompile(`^(-?\d+|@[A-Za-z]\w{3,})$`)
	digits       = regexp.MustCompile(`^\d*$`)
)

func parseTelegram(e *endpoint) *CheckError {
	if e.url.Scheme == "telegram" {
		password, _ := e.url.User.Password()
		e.token = e.url.User.Username() + ":" + password
		chats := e.query.Get("chats")
		if chats == "" {
			chats = e.query.Get("channels")
		}
		e.chat, e.thread, _ = strings.Cut(chats, ":")
		if !telegramBot.MatchString(e.token) {
			return &CheckError{"url", CheckToken}
		}
		e.url = https("api.telegram.org", "/bot"+e.token+"/sendMessage", nil)
	} else {
		m := telegramPath.FindStringSubmatch(e.url.Path)
		if m == nil {
			return &CheckError{"url", CheckToken}
		}
		e.token, e.chat, e.thread = m[2], e.query.Get("chat_id"), e.query.Get("message_thread_id")
		e.url = &url.URL{Scheme: e.url.Scheme, Host: e.url.Host, Path: m[1] + "bot" + e.token + "/sendMessage"}
	}
	if !telegramChat.MatchString(e.chat) || !digits.MatchString(e.thread) {
		return &CheckError{"url", CheckOneChat}
	}
	e.query = nil
	return nil
}

func writeTelegram(e endpoint, m Message, _ time.Time) request {
	body := map[string]any{"chat_id": e.chat, "text": size(inUnits).whole(m, maxTelegram), "link_preview_options": map[string]any{"is_disabled": true},
		"disable_notification": m.Severity == Info && m.Step != Test}
	if e.thread != "" {
		body["message_thread_id"] = json.Number(e.thread)
	}
	return request{body: marshal(body)}
}

func judgeTelegram(r response) verdict {
	v := byStatus(r)
	var a struct {
		OK          *bool
		ErrorCode   int `json:"error_code"`
		Description string
		Parameters  struct {
			RetryAfter int `json:"retry_after"`
		}
	}
	if json.Unmarshal(r.body, &a) != nil || a.OK == nil {
		v.unclear, v.ok = v.ok, false
		return v
	}
	v.ok, v.text = *a.OK, a.Description
	if !v.ok {
		r.status = a.ErrorCode
		after := max(retryAfter(r), min(time.Duration(a.Parameters.RetryAfter)*time.Second, 24*time.Hour))
		v.code, v.permanent, v.retryAfter = a.ErrorCode, byStatus(r).permanent, after
	}
	return v
}

var discordPath = regexp.MustCompile(`^/api/(v\d+/)?webhooks/\d+/[A-Za-z0-9_-]{20,}$`)

func parseDiscord(e *endpoint) *CheckError {
	if e.url.Scheme == "discord" {
		q := url.Values{}
		if thread := e.query.Get("thread_id"); thread != "" {
			q.Set("thread_id", thread)
		}
		e.query, e.url = q, https("discord.com", "/api/webhooks/"+e.url.Host+"/"+e.url.User.Username(), q)
	}
	if !discordPath.MatchString(e.url.Path) {
		return &CheckError{"url", CheckToken}
	}
	to := *e.url
	q := to.Query()
	q.Set("wait", "true") // answer when the message is there, not before
	to.RawQuery = q.Encode()
	e.url = &to
	return nil
}

func writeDiscord(_ endpoint, m Message, _ time.Time) request {
	units := size(func(r rune) int {
		if strings.ContainsRune(discordSigns, r) {
			return 2
		}
		return inUnits(r)
	})
	embed := map[string]any{"title": size(inUnits).fit(m.Title, "", maxDiscordTitle), "description": escaped(units.fit(m.Text, m.Link, maxDiscord), discordSigns),
		"color": map[string]int{"g": 0x2fb344, "r": 0xd63939, "y": 0xf59f00, "b": 0x4299e1}[look(m, "g", "r", "y", "b")], "timestamp": m.At.UTC().Format(time.RFC3339)}
	if m.Link != "" {
		embed["url"] = m.Link
	}
	// Nothing in a log calls a whole server by @everyone.
	return request{body: marshal(map[string]any{"embeds": []any{embed}, "allowed_mentions": map[string]any{"parse": []string{}}})}
}

// judgeDiscord: ten thousand refusals in ten minutes ban the address, so 401, 403 and
// 404 end it at once.
func judgeDiscord(r response) verdict {
	v := byStatus(r)
	var a struct {
		RetryAfter float64 `json:"retry_after"`
		Message    string
	}
	if !v.ok && json.Unmarshal(r.body, &a) == nil {
		if a.Message != "" {
			v.text = a.Message
		}
		v.retryAfter = max(v.retryAfter, min(time.Duration(min(a.RetryAfter, 86400)*float64(time.Second)), 24*time.Hour))
	}
	if v.ok {
		v.text = http.StatusText(r.status)
	}
	return v
}

var ntfyTopic = regexp.MustCompile(`^[-_A-Za-z0-9]+$`)

func parseNtfy(e *endpoint) *CheckError {
	scheme := e.url.Scheme
	if scheme == "ntfy" {
		if scheme = e.query.Get("scheme"); scheme != "http" {
			scheme = "https"
		}
	}
	host := e.url.Host
	if host == "" && e.url.Scheme == "ntfy" {
		host = "ntfy.sh"
	}
	e.chat, e.token = strings.Trim(e.url.Path, "/"), e.secret
	if u := e.url.User; u != nil {
		e.user = u.Username()
		e.token, _ = u.Password()
	}
	if len(e.chat) > 64 || !ntfyTopic.MatchString(e.chat) {
		return &CheckError{"url", CheckToken}
	}
	e.secrets = append(e.secrets, e.chat) // who knows a topic may read it
	e.url, e.query = &url.URL{Scheme: scheme, Host: host, Path: "/"}, nil
	return nil
}

// writeNtfy publishes as JSON: titles in headers would have to be ASCII.
func writeNtfy(e endpoint, m Message, _ time.Time) request {
	body := map[string]any{"topic": e.chat, "title": cutBytes(m.Title, 250), "message": size(inBytes).fit(m.Text, m.Link, maxNtfy-250),
		"priority": map[string]int{"r": 5, "y": 4, "g": 3, "b": 3}[look(m, "g", "r", "y", "b")],
		"tags":     []string{look(m, "white_check_mark", "rotating_light", "warning", "information_source")}}
	if m.Link != "" {
		body["click"] = m.Link
	}
	q := request{body: marshal(body)}
	switch {
	case e.user != "":
		r := http.Request{Header: http.Header{}}
		r.SetBasicAuth(e.user, e.token)
		q.header = map[string]string{"Authorization": r.Header.Get("Authorization")}
	case e.token != "":
		q.header = map[string]string{"Authorization": "Bearer " + e.token}
	}
	return q
}
