package jobs_test

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/bcrypt"

	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

const here = "192.0.2.1"

var suite storetest.Suite

func TestMain(m *testing.M) { os.Exit(suite.Run(m)) }

func TestLogin(t *testing.T) {
	w := newWorld(t)
	password, err := w.EnsureAdmin(t.Context(), "")
	require.NoError(t, err)
	require.Len(t, password, 16)
	again, err := w.EnsureAdmin(t.Context(), "")
	require.NoError(t, err)
	require.Empty(t, again, "only the first start makes one up")
	_, err = w.Login(t.Context(), "admin", password, here)
	require.NoError(t, err)
	_, wrong := w.Login(t.Context(), "admin", password+"x", here)
	_, unknown := w.Login(t.Context(), "nobody", password, here)
	require.EqualError(t, unknown, wrong.Error(), "both say the same")

	t.Run("hashes of a Java admin are replaced at the first login", func(t *testing.T) {
		for hash, user := range map[string]string{
			"e10adc3949ba59abbe56e057f20f883e":                                 "md5",
			"8d969eef6ecad3c29a3a629280e686cf0c3f5d5a86aff3ca12020c923adc6c92": "sha256",
		} {
			id, err := w.store.InsertUser(t.Context(), &model.User{Name: user})
			require.NoError(t, err)
			w.setLegacy(t, id, hash)
			_, err = w.Login(t.Context(), user, "654321", here)
			require.Error(t, err)
			u, err := w.Login(t.Context(), user, "123456", here)
			require.NoError(t, err)
			u, err = w.User(t.Context(), u.ID)
			require.NoError(t, err)
			require.True(t, strings.HasPrefix(u.PasswordHash, "$2"))
			_, err = w.Login(t.Context(), user, "123456", here)
			require.NoError(t, err)
		}
	})
	t.Run("change", func(t *testing.T) {
		change := func(old, next string) error {
			_, err := w.ChangePassword(t.Context(), 1, old, next, here)
			return err
		}
		require.ErrorContains(t, change("wrong", "long enough"), "field.wrong_password")
		require.ErrorContains(t, change(password, "short"), "field.password")
		require.NoError(t, change(password, "long enough"))
		_, err := w.Login(t.Context(), "admin", "long enough", here)
		require.NoError(t, err)
	})
}

// setLegacy writes the password column as a Java admin does.
func (w *world) setLegacy(t *testing.T, id int, hash string) {
	db, done, err := w.store.MigrationDB()
	require.NoError(t, err)
	_, err = db.Exec(`UPDATE xxl_job_user SET password = ? WHERE id = ?`, hash, id)
	require.NoError(t, err)
	_, err = db.Exec(`UPDATE carillon_user SET password_hash = NULL WHERE user_id = ?`, id)
	require.NoError(t, err)
	require.NoError(t, done())
}

// cheap gives an account whose password is checked fast, so that a test can
// guess often.
func cheap(t *testing.T, st *store.Store, name, password string) int {
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	require.NoError(t, err)
	id, err := st.InsertUser(t.Context(), &model.User{Name: name, PasswordHash: string(hash)})
	require.NoError(t, err)
	return id
}

// service is the use cases on a database, with a clock that the test moves.
func service(st jobs.Store, now *time.Time) *jobs.Service {
	return jobs.New(jobs.Options{Store: st, Now: func() time.Time { return *now }, Location: time.UTC})
}

func tooMany(t *testing.T, err error) time.Duration {
	t.Helper()
	require.Equal(t, model.CodeTooMany, model.CodeOf(err), "%v", err)
	wait, _ := err.(*model.Error).Args["Wait"].(time.Duration)
	require.Positive(t, wait)
	return wait
}

// TestSpellingsShareACounter: what the database takes for one name is one
// account, and only its own spelling gets in.
func TestSpellingsShareACounter(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		now := time.Unix(1767225600, 0)
		s := service(st, &now)
		cheap(t, st, "admin", "right one")
		others := []string{"ADMIN", "\u00e1dmin", "adm\u00edn", "\uff41dmin", "ad\u200bmin", "admi\u0144", "admin\x00", "Admin"}
		for _, name := range others {
			_, err := s.Login(t.Context(), name, "right one", "2001:db8::1")
			require.Error(t, err, "%q is not admin", name)
			now = now.Add(10 * time.Minute)
		}
		// A spelling that leads to the account counts for it; on an engine that
		// tells them apart it is an unknown name.
		u, err := st.UserByName(t.Context(), "ADMIN")
		require.NoError(t, err)
		require.Equal(t, "admin", u.Name)
		now = now.Add(2 * time.Hour)
		for i := range 5 {
			_, err := s.Login(t.Context(), others[i*7%8], "wrong", here)
			require.Equal(t, model.CodeInvalid, model.CodeOf(err))
		}
		if st.Engine() == "mysql" {
			_, err = s.Login(t.Context(), "admin", "right one", here)
			tooMany(t, err)
		}
	})
}

// TestTheDatabaseIsAskedForTheStoredName: a reset takes no other spelling either.
func TestTheDatabaseIsAskedForTheStoredName(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		now := time.Unix(1767225600, 0)
		s := service(st, &now)
		cheap(t, st, "admin", "right one")
		_, err := s.ResetPassword(t.Context(), "ADMIN")
		require.Equal(t, model.CodeNotFound, model.CodeOf(err))
		_, err = s.ResetPassword(t.Context(), "admin")
		require.NoError(t, err)
	})
}

// slowStore holds everybody who looks for an account.
type slowStore struct {
	jobs.Store
	hold chan struct{}
	mu   sync.Mutex
	in   int
	most int
}

func (s *slowStore) UserByName(ctx context.Context, name string) (model.User, error) {
	s.mu.Lock()
	s.in++
	s.most = max(s.most, s.in)
	s.mu.Unlock()
	defer func() { s.mu.Lock(); s.in--; s.mu.Unlock() }()
	select {
	case <-s.hold:
	case <-ctx.Done():
		return model.User{}, ctx.Err()
	}
	return s.Store.UserByName(ctx, name)
}

// TestFewPasswordsAreCheckedAtATime: a flood of logins is sent away at once,
// whatever its names and addresses.
func TestFewPasswordsAreCheckedAtATime(t *testing.T) {
	w := newWorld(t)
	cheap(t, w.store, "olga", "right one")
	slow := &slowStore{Store: w.store, hold: make(chan struct{}, 1)}
	s := service(slow, &w.now)
	slow.hold <- struct{}{}
	_, err := s.Login(t.Context(), "olga", "right one", here)
	require.NoError(t, err)
	const flood = 1000
	errs := make(chan error, flood)
	for i := range flood {
		go func() {
			_, err := s.Login(t.Context(), fmt.Sprintf("u%d", i), "x", fmt.Sprintf("10.0.%d.%d", i/250, i%250))
			errs <- err
		}()
	}
	const room = 10 // two at most are checked, eight wait
	for range flood - room {
		require.Equal(t, model.CodeTooMany, model.CodeOf(<-errs), "sent away before anything else happens")
	}
	known := make(chan error, 1)
	go func() {
		_, err := s.Login(t.Context(), "olga", "right one", here)
		for range 10 { // on a busy machine the ten before may take longer than one waits
			if model.CodeOf(err) != model.CodeTooMany {
				break
			}
			_, err = s.Login(t.Context(), "olga", "right one", here)
		}
		known <- err
	}()
	close(slow.hold)
	for range room {
		require.Contains(t, []model.ErrorCode{model.CodeInvalid, model.CodeTooMany}, model.CodeOf(<-errs))
	}
	require.NoError(t, <-known)
	require.LessOrEqual(t, slow.most, 2)
	_, err = s.Login(t.Context(), "olga", "right one", "192.0.2.99")
	require.NoError(t, err, "the room is free again")
}

// TestGuessesAtTheSameMomentCount: each is counted before it is checked.
func TestGuessesAtTheSameMomentCount(t *testing.T) {
	w := newWorld(t)
	cheap(t, w.store, "olga", "right one")
	var checked, refused int
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 80 {
		all.Go(func() {
			_, err := w.Login(t.Context(), "olga", "wrong", here)
			mu.Lock()
			defer mu.Unlock()
			if model.CodeOf(err) == model.CodeInvalid {
				checked++
			} else {
				refused++
			}
		})
	}
	all.Wait()
	require.LessOrEqual(t, checked, 5)
	require.Equal(t, 80, checked+refused)
}

// TestLongNamesAreRefusedFirst: before the database, the processor and the memory.
func TestLongNamesAreRefusedFirst(t *testing.T) {
	w := newWorld(t)
	slow := &slowStore{Store: w.store, hold: make(chan struct{})} // nobody may ask it
	s := service(slow, &w.now)
	for _, name := range []string{"", strings.Repeat("x", 51), strings.Repeat("\u957f", 51), strings.Repeat("A", 1<<20), "a\xff"} {
		_, err := s.Login(t.Context(), name, "x", here)
		require.EqualError(t, err, "invalid: error.login")
	}
	_, err := s.Login(t.Context(), "admin", strings.Repeat("x", 1<<20), here)
	require.EqualError(t, err, "invalid: error.login")
	require.Zero(t, slow.most)
}

// TestSprayingOverNamesIsSlow, and who got in from that address before is not held up by it.
func TestSprayingOverNamesIsSlow(t *testing.T) {
	w := newWorld(t)
	cheap(t, w.store, "olga", "right one")
	cheap(t, w.store, "chen", "right two")
	_, err := w.Login(t.Context(), "olga", "right one", here)
	require.NoError(t, err)
	checked := 0
	for i := range 60 {
		if _, err := w.Login(t.Context(), fmt.Sprintf("user%d", i), "Winter2026", here); model.CodeOf(err) == model.CodeInvalid {
			checked++
		}
	}
	require.Equal(t, 30, checked)
	_, err = w.Login(t.Context(), "chen", "right two", here)
	require.LessOrEqual(t, tooMany(t, err), time.Minute)
	_, err = w.Login(t.Context(), "olga", "right one", here)
	require.NoError(t, err)
	_, err = w.Login(t.Context(), "chen", "right two", "192.0.2.2")
	require.NoError(t, err, "other addresses are free")
}

// TestNobodyIsLockedOutForEver: guesses at one account from many addresses slow
// each other down, but not its owner at home, and others at most a minute.
func TestNobodyIsLockedOutForEver(t *testing.T) {
	w := newWorld(t)
	cheap(t, w.store, "olga", "right one")
	_, err := w.Login(t.Context(), "olga", "right one", here)
	require.NoError(t, err)
	checked := 0
	for i := range 2000 {
		if _, err := w.Login(t.Context(), "olga", "guess", fmt.Sprintf("10.1.%d.%d", i/250, i%250)); model.CodeOf(err) == model.CodeInvalid {
			checked++
		}
		w.now = w.now.Add(time.Second)
	}
	require.Less(t, checked, 20+2000/60+10)
	_, err = w.Login(t.Context(), "olga", "right one", here)
	require.NoError(t, err)
	_, err = w.Login(t.Context(), "olga", "right one", "10.9.9.9")
	w.now = w.now.Add(tooMany(t, err))
	_, err = w.Login(t.Context(), "olga", "right one", "10.9.9.9")
	require.NoError(t, err, "a minute at most")
}

// TestChangingAPasswordTakesFewGuesses: it is a login by another door.
func TestChangingAPasswordTakesFewGuesses(t *testing.T) {
	w := newWorld(t)
	id := cheap(t, w.store, "olga", "right one")
	for range 5 {
		_, err := w.ChangePassword(t.Context(), id, "guess", "long enough", here)
		require.ErrorContains(t, err, "field.wrong_password")
	}
	_, err := w.ChangePassword(t.Context(), id, "right one", "long enough", here)
	tooMany(t, err)
	_, err = w.Login(t.Context(), "olga", "right one", here)
	tooMany(t, err)
	w.now = w.now.Add(6 * time.Second)
	u, err := w.ChangePassword(t.Context(), id, "right one", "long enough", here)
	require.NoError(t, err)
	require.EqualValues(t, 1, u.SessionGeneration)
}

// TestANewPasswordIsANewGeneration of sessions; a better hash of the same password is not.
func TestANewPasswordIsANewGeneration(t *testing.T) {
	suite.Each(t, func(t *testing.T, st *store.Store) {
		now := time.Unix(1767225600, 0)
		s := service(st, &now)
		id := cheap(t, st, "olga", "right one")
		for want := range int64(3) {
			u, err := s.User(t.Context(), id)
			require.NoError(t, err)
			require.Equal(t, want, u.SessionGeneration)
			_, err = s.ResetPassword(t.Context(), "olga")
			require.NoError(t, err)
		}
		before, err := s.User(t.Context(), id)
		require.NoError(t, err)
		require.NoError(t, st.UpgradePasswordHash(t.Context(), id, "late"))
		after, err := s.User(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, before, after, "a password that was set meanwhile stays")
	})
}

// TestLongPasswordsOfAJavaAdmin get in; bcrypt cannot hold them, so the old hash stays.
func TestLongPasswordsOfAJavaAdmin(t *testing.T) {
	w := newWorld(t)
	password := strings.Repeat("\u5bc6", 30)
	id, err := w.store.InsertUser(t.Context(), &model.User{Name: "chang"})
	require.NoError(t, err)
	sum := md5.Sum([]byte(password))
	w.setLegacy(t, id, hex.EncodeToString(sum[:]))
	for range 2 {
		_, err = w.Login(t.Context(), "chang", password, here)
		require.NoError(t, err)
	}
}

// TestTimeTellsNoName: a wrong password of a Java admin's user takes as long as
// any other. The processor's time is measured, with much room.
func TestTimeTellsNoName(t *testing.T) {
	w := newWorld(t)
	id, err := w.store.InsertUser(t.Context(), &model.User{Name: "legacy"})
	require.NoError(t, err)
	w.setLegacy(t, id, "e10adc3949ba59abbe56e057f20f883e")
	began := time.Now()
	_, err = w.Login(t.Context(), "legacy", "654321", here)
	require.Error(t, err)
	legacy := time.Since(began)
	began = time.Now()
	_, err = w.Login(t.Context(), "nobody", "654321", here)
	require.Error(t, err)
	require.Greater(t, legacy, time.Since(began)/5)
}
