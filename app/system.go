package app

import (
	"context"
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"time"
	"unicode"

	"github.com/carillon-scheduler/carillon/app/api"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/scheduler/config"
)

// system gathers what administrators see of this node. The sources are those of /readyz
// and /metrics.
func (c *Center) system(machine *api.API) func(context.Context) (model.System, error) {
	settings := c.cfg.settings()
	tokens, terr := c.cfg.tokens()
	build := BuildInfo()
	return func(ctx context.Context) (model.System, error) {
		now := time.Now()
		s := model.System{
			Node: c.cfg.nodeName(), Settings: settings,
			Version: build.Version, Build: build.Build, GoVersion: build.Go,
		}
		st := c.sched.Stats()
		s.Work = model.NodeWork{
			InRing: st.InRing, Sending: st.Open, SlowWaiting: st.SlowWaiting, Backlog: st.Load.Backlog, OldestLate: st.Load.Oldest, Over: st.Load.Over,
			Accepted: st.Accepted, Refused: st.Refused, Unreachable: st.Unreachable, Unknown: st.Unknown, Results: st.Callbacks,
		}
		for _, l := range st.Loops {
			s.Loops = append(s.Loops, model.LoopState{
				Name: l.Name, Every: l.Every, LastOK: l.LastOK, Passes: l.Passes, Errors: l.Errors,
				Average: l.Took / time.Duration(max(1, l.Passes)), Sick: l.Sick(now),
			})
		}
		if terr == nil && tokens.Old(now) != "" {
			s.Token.PreviousUntil = tokens.Until
			s.Token.OldCalls, s.Token.OldLast, s.Token.OldFrom = machine.OldCalls()
			s.Token.WantOld = c.client.WantOldToken()
		}
		var err error
		s.Database, err = c.store.DatabaseInfo(ctx)
		return s, err
	}
}

// settings lists every flag of the center with its value. Of what is secret it says only
// whether it is set.
func (c *ServeCmd) settings() []model.Setting {
	in := *c // with what counts where nothing was set
	all := config.Config{MisfireAfter: c.MisfireAfter, NodeDeadAfter: c.NodeDeadAfter}.WithDefaults()
	in.MisfireAfter, in.NodeDeadAfter, in.NodeName = all.MisfireAfter, all.NodeDeadAfter, c.nodeName()
	return settingsOf(reflect.ValueOf(in))
}

func settingsOf(v reflect.Value) (out []model.Setting) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.Anonymous {
			out = append(out, settingsOf(v.Field(i))...)
			continue
		}
		if !f.IsExported() || f.Tag.Get("help") == "" {
			continue
		}
		s := model.Setting{Name: f.Tag.Get("name"), Secret: secretName(f.Name)}
		if s.Name == "" {
			s.Name = flagName(f.Name)
		}
		switch value := v.Field(i).Interface().(type) {
		case []string:
			s.Value = strings.Join(value, ", ")
		default:
			s.Value = fmt.Sprint(value)
		}
		if s.Secret && s.Value != "" {
			s.Value = "set"
		} else if u, err := url.Parse(s.Value); err == nil && u.User != nil {
			s.Value = u.Redacted()
		} else if err != nil && strings.Contains(s.Value, "@") { // perhaps a password that makes it no URL
			s.Value, _, _ = strings.Cut(s.Value, ":")
		}
		out = append(out, s)
	}
	return out
}

// secretName reports whether the field of a flag holds a secret. A new flag that sounds
// like one is one.
func secretName(name string) bool {
	name = strings.ToLower(strings.TrimSuffix(name, "Until"))
	if strings.HasSuffix(name, "previoustoken") { // of PreviousTokenUntil
		return false
	}
	for _, word := range []string{"token", "password", "secret", "key", "credential"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// flagName is how kong calls the flag of a field: AccessToken is access-token, PublicURL public-url.
func flagName(field string) string {
	var b strings.Builder
	runes := []rune(field)
	for i, r := range runes {
		if unicode.IsUpper(r) && i > 0 && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
