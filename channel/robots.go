package channel

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// The robots of DingTalk, Feishu (Lark) and WeCom answer HTTP 200 to everything: what
// counts is the code in the body.

// Sizes of messages, in bytes. DingTalk's is not documented for robots; the one of its
// calls for applications is taken.
const (
	maxDingTalk = 15000
	maxFeishu   = 20000
	maxWeCom    = 2048
)

func mac(key, text string) []byte {
	h := hmac.New(sha256.New, []byte(key))
	h.Write([]byte(text))
	return h.Sum(nil)
}

// signDingTalk: the secret is the key; milliseconds and secret are what is signed.
func signDingTalk(secret string, at time.Time) (timestamp, sign string) {
	timestamp = strconv.FormatInt(at.UnixMilli(), 10)
	return timestamp, base64.StdEncoding.EncodeToString(mac(secret, timestamp+"\n"+secret))
}

// signFeishu: seconds and secret are the key; nothing is signed.
func signFeishu(secret string, at time.Time) (timestamp, sign string) {
	timestamp = strconv.FormatInt(at.Unix(), 10)
	return timestamp, base64.StdEncoding.EncodeToString(mac(timestamp+"\n"+secret, ""))
}

func parseDingTalk(e *endpoint) *CheckError {
	if e.query.Get("access_token") == "" {
		return &CheckError{"url", CheckToken}
	}
	return nil
}

// writeDingTalk sends plain text: nothing in a log is read as Markdown, and people are
// called by telephone number.
func writeDingTalk(e endpoint, m Message, now time.Time) request {
	call := ""
	for _, mobile := range m.MobileMentions {
		call += " @" + mobile
	}
	if call != "" {
		call = "\n" + strings.TrimSpace(call)
	}
	text := size(inJSON).whole(m, maxDingTalk-size(inJSON).of(call)) + call
	to := *e.url
	if e.secret != "" {
		timestamp, sign := signDingTalk(e.secret, now)
		q := to.Query()
		q.Set("timestamp", timestamp)
		q.Set("sign", sign)
		to.RawQuery = q.Encode()
	}
	return request{path: &to, body: marshal(map[string]any{
		"msgtype": "text", "text": map[string]any{"content": text},
		"at": map[string]any{"atMobiles": nonNil(m.MobileMentions), "isAtAll": false},
	})}
}

func judgeDingTalk(r response) verdict {
	v := judgeCode(r, "errcode", "errmsg")
	switch v.code {
	case 130101, 410100: // too fast: a robot is silent for ten minutes then
		v.retryAfter = 10 * time.Minute
	case 310000, // signature, keyword or address is not what the robot's settings want
		300001, 300005, 400013, 400101, 400102, 400105, 400106: // token unknown, group gone, robot off
		v.permanent = true
	}
	return v
}

func parseFeishu(e *endpoint) *CheckError {
	if e.url.Scheme == "lark" {
		host := e.url.Host
		if host != "open.feishu.cn" && host != "open.larksuite.com" {
			return &CheckError{"url", CheckHost}
		}
		if e.secret == "" {
			e.secret = e.query.Get("secret")
		}
		e.url = https(host, "/open-apis/bot/v2/hook/"+strings.Trim(e.url.Path, "/"), nil)
	}
	if token, ok := strings.CutPrefix(e.url.Path, "/open-apis/bot/v2/hook/"); !ok || token == "" || strings.Contains(token, "/") {
		return &CheckError{"url", CheckToken}
	}
	return nil
}

// writeFeishu sends a card of plain texts: coloured head, text, button.
func writeFeishu(e endpoint, m Message, now time.Time) request {
	body := func(text string) []byte {
		plain := func(s string) map[string]any { return map[string]any{"tag": "plain_text", "content": s} }
		elements := []any{map[string]any{"tag": "div", "text": plain(text)}}
		if m.Link != "" {
			elements = append(elements, map[string]any{"tag": "action", "actions": []any{map[string]any{"tag": "button", "type": "primary", "text": plain("Carillon"), "url": m.Link}}})
		}
		card := map[string]any{
			"config":   map[string]any{"wide_screen_mode": true},
			"header":   map[string]any{"title": plain(cutBytes(m.Title, 500)), "template": look(m, "green", "red", "orange", "blue")},
			"elements": elements,
		}
		msg := map[string]any{"msg_type": "interactive", "card": card}
		if e.secret != "" {
			msg["timestamp"], msg["sign"] = signFeishu(e.secret, now)
		}
		return marshal(msg)
	}
	return request{body: body(size(inJSON).fit(m.Text, m.Link, maxFeishu-len(body(""))))}
}

func judgeFeishu(r response) verdict {
	v := judgeCode(r, "code", "msg")
	if v.unclear { // older robots
		v = judgeCode(r, "StatusCode", "StatusMessage")
	}
	switch v.code {
	case 11232, 9499: // too fast, at full and half hours also when it is not
		v.retryAfter = max(v.retryAfter, time.Minute)
	case 19001, 19002, 19021, 19022, 19024: // token, content, signature, address, keyword
		v.permanent = true
	}
	return v
}

func parseWeCom(e *endpoint) *CheckError {
	if e.url.Scheme == "wecom" {
		e.query = url.Values{"key": {e.url.Host}}
		e.url = https("qyapi.weixin.qq.com", "/cgi-bin/webhook/send", e.query)
	}
	if e.query.Get("key") == "" {
		return &CheckError{"url", CheckToken}
	}
	return nil
}

// writeWeCom sends plain text, for the same reasons as writeDingTalk.
func writeWeCom(_ endpoint, m Message, _ time.Time) request {
	text := map[string]any{"content": size(inBytes).whole(m, maxWeCom)}
	if len(m.MobileMentions) > 0 {
		text["mentioned_mobile_list"] = m.MobileMentions
	}
	return request{body: marshal(map[string]any{"msgtype": "text", "text": text})}
}

func judgeWeCom(r response) verdict {
	v := judgeCode(r, "errcode", "errmsg")
	switch v.code {
	case 45009, 45033: // too fast
		v.retryAfter = max(v.retryAfter, time.Minute)
	case 93000, 93004, 93008, 40008, 40058, 44004: // key unknown, robot removed or not in the group, content
		v.permanent = true
	}
	return v
}

// judgeCode reads an answer {code: 0, words: "ok"}. Codes that nobody knows are worth
// another try.
func judgeCode(r response, code, words string) verdict {
	if r.status/100 != 2 {
		return byStatus(r)
	}
	var fields map[string]json.RawMessage
	var n int
	var text string
	if json.Unmarshal(r.body, &fields) != nil || json.Unmarshal(fields[code], &n) != nil {
		return verdict{unclear: true, code: r.status, text: string(r.body)}
	}
	_ = json.Unmarshal(fields[words], &text)
	return verdict{ok: n == 0, code: n, text: text}
}

// look chooses by what a message says.
func look(m Message, resolved, critical, warning, info string) string {
	switch {
	case m.Step == Resolved:
		return resolved
	case m.Severity == Critical:
		return critical
	case m.Severity == Warning:
		return warning
	}
	return info
}

func nonNil(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
