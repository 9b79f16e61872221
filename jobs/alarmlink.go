package jobs

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/model"
)

// LinkActions are what the links of a mail do, in the order in which they are shown.
func LinkActions() []string { return []string{"ack", "mute1h", "mute8h", "mutegood"} }

// linkHolds is for how long after a message was made its links hold.
const linkHolds = 3 * 24 * time.Hour

// AlarmLink is what a link of a mail does.
type AlarmLink struct {
	Action   string // one of LinkActions
	Who      string // to whom the mail went; "" = that is not known any more
	Incident IncidentRow
	id       string
}

// AlarmLinks gives the text of a link for each of LinkActions to the reader of a mail about an
// incident: the same each time that the message is written.
func (s *Service) AlarmLinks(ctx context.Context, m model.Message) (map[string]string, error) {
	fresh := make([]byte, 32)
	if _, err := rand.Read(fresh); err != nil {
		return nil, err
	}
	key, err := s.linkKey(ctx, hex.EncodeToString(fresh))
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, action := range LinkActions() {
		number := func(n int64) string { return strconv.FormatInt(n, 36) }
		text := strings.Join([]string{action, number(m.IncidentID), number(m.ID), number(m.MadeMS + linkHolds.Milliseconds())}, ".")
		out[action] = text + "." + signLink(key, text)
	}
	return out, nil
}

// linkKey is what links are signed with: one for all nodes, made up with the first mail. Before
// it there is none, and who asks with a link of their own makes none.
func (s *Service) linkKey(ctx context.Context, fresh string) ([]byte, error) {
	text, err := s.store.Secret(ctx, "alarm_links", fresh)
	if err != nil {
		return nil, err
	}
	return hex.DecodeString(text)
}

func signLink(key []byte, text string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("carillon alarm link\n" + text))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:24])
}

// AlarmLink says what a link does. One that is none, that was used or has expired is an error
// that says so; Incident and Action are known then, as far as the link is genuine.
func (s *Service) AlarmLink(ctx context.Context, text string) (AlarmLink, error) {
	var out AlarmLink
	bad := model.Errf(model.CodeNotFound, "error.link_invalid")
	if len(text) > 200 {
		return out, bad
	}
	key, err := s.linkKey(ctx, "")
	if err != nil {
		return out, err
	}
	at := strings.LastIndexByte(text, '.')
	if len(key) == 0 || at < 0 || !hmac.Equal([]byte(signLink(key, text[:at])), []byte(text[at+1:])) {
		return out, bad
	}
	parts := strings.Split(text[:at], ".")
	if len(parts) != 4 || !slices.Contains(LinkActions(), parts[0]) {
		return out, bad // of another version
	}
	var numbers [3]int64
	for i := range numbers {
		if numbers[i], err = strconv.ParseInt(parts[i+1], 36, 64); err != nil {
			return out, bad
		}
	}
	i, err := s.store.Incident(ctx, numbers[0])
	if err != nil {
		return out, err
	}
	rows, err := s.incidentRows(ctx, model.Actor{Admin: true}, []model.Incident{i})
	if err != nil {
		return out, err
	}
	out = AlarmLink{Action: parts[0], Incident: rows[0], id: text[:at]}
	told, err := s.store.MessagesOf(ctx, i.ID, 10_000)
	if err != nil {
		return out, err
	}
	for _, m := range told {
		if m.ID == numbers[1] {
			out.Who = m.Target
		}
	}
	used, err := s.store.LinkUsed(ctx, out.id)
	switch {
	case err != nil:
		return out, err
	case used:
		return out, model.Errf(model.CodeConflict, "error.link_used")
	case s.now().UnixMilli() > numbers[2]:
		return out, model.Errf(model.CodeConflict, "error.link_expired")
	case !i.Open():
		return out, model.Errf(model.CodeConflict, "error.incident_over")
	}
	return out, nil
}

// FollowAlarmLink does what a link does, once.
func (s *Service) FollowAlarmLink(ctx context.Context, text string) (AlarmLink, error) {
	link, err := s.AlarmLink(ctx, text)
	if err != nil {
		return link, err
	}
	now := s.now()
	actor := model.Actor{Name: link.Who}
	note := model.IncidentNote{AtMS: now.UnixMilli(), Kind: "muted", User: link.Who}
	action, change := "incident.mute", (func(*model.Incident))(nil)
	switch link.Action {
	case "ack":
		note.Kind, action = "acked", "incident.ack"
		change = func(x *model.Incident) { x.AckedMS, x.AckedBy = now.UnixMilli(), link.Who }
	case "mutegood":
		change = func(x *model.Incident) { x.MutedMS = model.MutedForGood }
	default:
		long := time.Hour
		if link.Action == "mute8h" {
			long = 8 * time.Hour
		}
		note.Text = long.String()
		change = func(x *model.Incident) { x.MutedMS = now.Add(long).UnixMilli() }
	}
	err = s.store.TouchIncidentByLink(ctx, link.id, link.Incident.ID, note, change)
	s.note(ctx, actor, action, incidentThing(&link.Incident.Incident), err)
	return link, err
}
