package store_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store"
)

func addUser(t *testing.T, st *store.Store, u model.User) model.User {
	t.Helper()
	var err error
	u.PasswordHash = "x"
	u.ID, err = st.InsertUser(t.Context(), &u)
	require.NoError(t, err)
	return u
}

func keyOf(err error) string {
	if e, ok := err.(*model.Error); ok {
		return e.Key
	}
	return fmt.Sprint(err)
}

// TestTheLastAdministratorStays: whatever two people do at once, one who can log in is left.
func TestTheLastAdministratorStays(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		a := addUser(t, st, model.User{Name: "a", Role: model.RoleAdmin})
		addUser(t, st, model.User{Name: "plain"})
		demoted := a
		demoted.Role = model.RoleUser
		require.Equal(t, "error.last_admin", keyOf(st.UpdateUser(t.Context(), &demoted)))
		disabled := a
		disabled.Disabled = true
		require.Equal(t, "error.last_admin", keyOf(st.UpdateUser(t.Context(), &disabled)))
		require.Equal(t, "error.last_admin", keyOf(st.DeleteUser(t.Context(), a.ID)))
		got, err := st.User(t.Context(), a.ID)
		require.NoError(t, err)
		require.Equal(t, model.RoleAdmin, got.Role)
		require.False(t, got.Disabled)

		for round := range 6 {
			b := addUser(t, st, model.User{Name: fmt.Sprint("b", round), Role: model.RoleAdmin})
			errs := make([]error, 2)
			var wg sync.WaitGroup
			for i, u := range []model.User{a, b} {
				wg.Go(func() {
					switch round % 3 {
					case 0:
						u.Role = model.RoleUser
						errs[i] = st.UpdateUser(t.Context(), &u)
					case 1:
						u.Disabled = true
						errs[i] = st.UpdateUser(t.Context(), &u)
					default:
						errs[i] = st.DeleteUser(t.Context(), u.ID)
					}
				})
			}
			wg.Wait()
			failed := 0
			for _, err := range errs {
				if err != nil {
					require.Equal(t, "error.last_admin", keyOf(err))
					failed++
				}
			}
			require.Equal(t, 1, failed, "exactly one of two at once is refused")
			if errs[0] == nil { // a is none any more
				a = b
			}
			left, err := st.Users(t.Context())
			require.NoError(t, err)
			able := 0
			for _, u := range left {
				if u.Role == model.RoleAdmin && !u.Disabled {
					able++
				}
			}
			require.Equal(t, 1, able)
		}
	})
}

// TestUsersAreStored: what the table of the original has no columns for is beside it, and
// what a deleted account has left goes.
func TestUsersAreStored(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		addUser(t, st, model.User{Name: "root", Role: model.RoleAdmin})
		u := addUser(t, st, model.User{Name: "u", Permission: "1,2", Rights: "*=view 3=edit", Language: "en", StartPage: "/runs"})
		got, err := st.User(ctx, u.ID)
		require.NoError(t, err)
		require.Equal(t, []any{"1,2", "*=view 3=edit", "en", "/runs", false}, []any{got.Permission, got.Rights, got.Language, got.StartPage, got.Disabled})

		x := st.Sessions()
		now := time.Now()
		require.NoError(t, x.CommitFor(ctx, strings.Repeat("a", 43), []byte("d"), now.Add(time.Hour), model.Session{UserID: u.ID, Began: now, Seen: now, From: "10.1.1.1", Agent: "B"}))
		require.NoError(t, x.CommitFor(ctx, strings.Repeat("A", 43), []byte("d"), now.Add(time.Hour), model.Session{UserID: u.ID, Began: now, Seen: now.Add(time.Minute)}))
		require.NoError(t, x.CommitFor(ctx, strings.Repeat("o", 43), []byte("d"), now.Add(-time.Hour), model.Session{UserID: u.ID, Seen: now}))
		list, err := st.UserSessions(ctx, u.ID)
		require.NoError(t, err)
		require.Len(t, list, 2, "the one that expired is not listed")
		require.Equal(t, strings.Repeat("A", 16), list[0].ID, "the one seen last comes first")
		require.Equal(t, "10.1.1.1", list[1].From)
		require.WithinDuration(t, now, list[1].Began, time.Second)
		ok, err := st.EndSession(ctx, u.ID+1, list[1].ID)
		require.NoError(t, err)
		require.False(t, ok, "of another person")
		ok, err = st.EndSession(ctx, u.ID, list[1].ID)
		require.NoError(t, err)
		require.True(t, ok)
		ended := strings.Repeat("a", 43)
		require.NoError(t, x.CommitFor(ctx, ended, []byte("d"), now.Add(time.Hour), model.Session{UserID: u.ID, Seen: now}), "a request in flight")
		_, found, err := x.FindCtx(ctx, ended)
		require.NoError(t, err)
		require.False(t, found, "it stays ended")
		_, found, err = x.FindCtx(ctx, strings.Repeat("A", 43))
		require.NoError(t, err)
		require.True(t, found)
		list, err = st.UserSessions(ctx, 0)
		require.NoError(t, err)
		require.Len(t, list, 1, "IDs that differ in case only are two")

		got.Disabled = true
		require.NoError(t, st.UpdateUser(ctx, &got))
		list, err = st.UserSessions(ctx, u.ID)
		require.NoError(t, err)
		require.Empty(t, list)
		again, err := st.User(ctx, u.ID)
		require.NoError(t, err)
		require.True(t, again.Disabled)
		require.Greater(t, again.SessionGeneration, u.SessionGeneration)
		require.NoError(t, st.DeleteUser(ctx, u.ID))
		require.Equal(t, model.CodeNotFound, model.CodeOf(st.DeleteUser(ctx, u.ID)))
		require.Equal(t, model.CodeNotFound, model.CodeOf(st.UpdateUser(ctx, &got)))
	})
}

// TestAuditLines: filters, pages by key, and the retention.
func TestAuditLines(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		base := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
		for i := range 25 {
			e := model.AuditEntry{
				At: base.Add(time.Duration(i) * time.Hour), UserID: 1, User: "olga", From: "10.0.0.1", Action: "job.edit", Kind: model.AuditJob,
				ObjectID: int64(i % 5), Object: fmt.Sprintf("100%%_%d", i), Outcome: model.AuditDone,
				Changes: []model.Change{{Field: "retry", Old: "0", New: "é\u202e😀" + strings.Repeat("x", 2000)}},
			}
			if i == 7 {
				e.User, e.Action, e.Outcome, e.Kind = strings.Repeat("名", 200), "login", model.AuditRefused, model.AuditUser
			}
			require.NoError(t, st.InsertAudit(ctx, []model.AuditEntry{e}))
		}
		find := func(f model.AuditFilter) []model.AuditEntry {
			if f.Limit == 0 {
				f.Limit = 100
			}
			list, err := st.Audit(ctx, f)
			require.NoError(t, err)
			return list
		}
		require.Len(t, find(model.AuditFilter{}), 25)
		require.Len(t, find(model.AuditFilter{User: "OLG"}), 24)
		require.Len(t, find(model.AuditFilter{Action: "login"}), 1)
		require.Len(t, find(model.AuditFilter{Outcome: model.AuditRefused}), 1)
		require.Len(t, find(model.AuditFilter{Kind: model.AuditJob, ObjectID: 3}), 5)
		require.Len(t, find(model.AuditFilter{Object: "100%_24"}), 1)
		require.Empty(t, find(model.AuditFilter{Object: "1_0"}), "% and _ are ordinary characters")
		require.Len(t, find(model.AuditFilter{From: base.Add(3 * time.Hour), To: base.Add(5 * time.Hour)}), 2)
		var seen []int64
		for before := int64(0); ; {
			page := find(model.AuditFilter{Before: before, Limit: 10})
			if len(page) == 0 {
				break
			}
			for _, e := range page {
				seen = append(seen, e.ID)
			}
			before = page[len(page)-1].ID
		}
		require.Len(t, seen, 25, "each line once")
		require.IsDecreasing(t, seen)
		require.Equal(t, "é\u202e😀", find(model.AuditFilter{Limit: 1})[0].Changes[0].New[:len("é\u202e😀")])

		n, err := st.DeleteAuditBefore(ctx, base.Add(10*time.Hour), 4)
		require.NoError(t, err)
		require.Equal(t, 4, n)
		for n > 0 {
			n, err = st.DeleteAuditBefore(ctx, base.Add(10*time.Hour), 4)
			require.NoError(t, err)
		}
		require.Len(t, find(model.AuditFilter{}), 15)
	})
}

// TestWhoReadsAnAddress: what people chose is found by their address, however it is written.
func TestWhoReadsAnAddress(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		read := func(address string) model.Profile {
			p, err := st.MailReader(ctx, address)
			require.NoError(t, err)
			return p
		}
		require.Empty(t, read("a@example.org"))
		require.Empty(t, read(""), "who has no address")
		a, b := addUser(t, st, model.User{Name: "a", Role: model.RoleAdmin, Mail: "A@Example.org"}), addUser(t, st, model.User{Name: "b"})
		got, err := st.User(ctx, a.ID)
		require.NoError(t, err)
		require.Equal(t, "A@Example.org", got.Mail)
		require.Empty(t, read("a@example.org"), "nothing was chosen")
		require.NoError(t, st.SetProfile(ctx, b.ID, model.Profile{Language: "zh-Hant", Zone: "Asia/Tokyo", Mail: "a@example.ORG"}))
		require.Equal(t, model.Profile{Language: "zh-Hant", Zone: "Asia/Tokyo"}, read("a@example.org"), "the first with the address has chosen nothing")
		require.NoError(t, st.SetProfile(ctx, a.ID, model.Profile{Language: "en", Mail: "a@example.org"}))
		require.Equal(t, model.Profile{Language: "en", Zone: "Asia/Tokyo"}, read("A@EXAMPLE.org"))
		b.Mail, b.Language, b.Disabled = "a@example.org", "zh-Hant", true
		require.NoError(t, st.UpdateUser(ctx, &b))
		require.Equal(t, model.Profile{Language: "en"}, read("a@example.org"), "of an account that is disabled")
		require.NoError(t, st.DeleteUser(ctx, b.ID))
		a.Mail = ""
		require.NoError(t, st.UpdateUser(ctx, &a))
		require.Empty(t, read("a@example.org"))
	})
}
