package console

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/alexedwards/scs/v2"

	"github.com/carillon-scheduler/carillon/model"
)

// describer is a store of sessions that wants to know whose each one is, so that people
// can see and end their logins; store.Sessions is one.
type describer interface {
	scs.CtxStore
	CommitFor(ctx context.Context, token string, data []byte, expiry time.Time, of model.Session) error
}

// described gives the store what it wants to know about each session that it keeps.
func described(s scs.Store) scs.Store {
	if d, ok := s.(describer); ok {
		return describing{d}
	}
	return s
}

type describing struct{ describer }

// CommitCtx implements scs.CtxStore. A login that ends when it is idle is kept no longer than that.
func (d describing) CommitCtx(ctx context.Context, token string, data []byte, expiry time.Time) error {
	_, values, err := scs.GobCodec{}.Decode(data)
	if err != nil {
		return err
	}
	unix := func(key string) time.Time {
		if at, ok := values[key].(int64); ok {
			return time.Unix(at, 0)
		}
		return time.Time{}
	}
	of := model.Session{Began: unix(keyBegan), Seen: unix(keySeen)}
	of.UserID, _ = values[keyUser].(int)
	of.From, _ = values[keyFrom].(string)
	of.Agent, _ = values[keyAgent].(string)
	if keep, _ := values[keyRemember].(bool); !keep && of.UserID != 0 {
		if idle := of.Seen.Add(idleLifetime + seenStep); idle.Before(expiry) {
			expiry = idle
		}
	}
	return d.CommitFor(ctx, token, data, expiry, of)
}

// Commit implements scs.Store.
func (d describing) Commit(token string, data []byte, expiry time.Time) error {
	return d.CommitCtx(context.Background(), token, data, expiry)
}

// longestAgent is how many bytes of what a browser calls itself are kept.
const longestAgent = 240

func agentText(s string) string {
	s = strings.ToValidUTF8(s, "?")
	for len(s) > longestAgent || !utf8.ValidString(s) {
		s = s[:min(len(s)-1, longestAgent)]
	}
	return s
}
