package jobs

import (
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"strconv"
	"sync"
	"time"
)

// Guessing passwords is made slow: after some free attempts each further one
// doubles the wait. It is counted in three ways, and the longest wait holds:
// for an account from an address, for an account from wherever, for an address
// whatever the account. The last two have a short longest wait, because they
// hold up people who guess nothing.
const (
	pairFree, pairLongest       = 5, 15 * time.Minute
	accountFree, accountLongest = 20, time.Minute
	addressFree, addressLongest = 30, time.Minute
	firstWait                   = 5 * time.Second
	forgetAfter                 = time.Hour
	// homeFor is how long an address from which somebody got into an account is
	// that account's home: guesses from elsewhere do not hold up who is at home.
	homeFor = 30 * 24 * time.Hour
	// throttleLimit bounds each table, so that nobody fills the memory.
	throttleLimit = 10_000
	sweepEvery    = time.Minute
)

// throttle counts attempts before they are checked, so that those that come at
// the same moment count as well. It lives in the memory of one node.
type throttle struct {
	now       func() time.Time
	mu        sync.Mutex
	pairs     counter // by the name as typed, and by the account it leads to
	accounts  counter // by the id of the account
	strangers counter // by names without an account: of their own, so that they push out no account
	addresses counter
	homes     counter // when somebody got in; counts nothing
}

func newThrottle(now func() time.Time) *throttle {
	return &throttle{
		now:       now,
		pairs:     newCounter(pairFree, pairLongest, forgetAfter),
		accounts:  newCounter(accountFree, accountLongest, forgetAfter),
		strangers: newCounter(accountFree, accountLongest, forgetAfter),
		addresses: newCounter(addressFree, addressLongest, forgetAfter),
		homes:     newCounter(0, 0, homeFor),
	}
}

// attempt is one attempt that was counted, and where.
type attempt struct {
	typed, pair string // keys in pairs
	account     string
	known, home bool
	from        string
}

// early says how long a name has to wait at an address, as far as that can be
// said before anybody looks for the account, and whether it is at home there.
func (t *throttle) early(name, from string) (wait time.Duration, home bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now, from := t.now(), addressKey(from)
	typed := nameKey(name) + "|" + from
	wait, home = t.pairs.wait(typed, now), t.homes.has(typed, now)
	if !home {
		wait = max(wait, t.addresses.wait(from, now))
	}
	return wait, home
}

// begin counts an attempt on an account (0 = there is none of that name), or
// says how long it has to wait and counts nothing.
func (t *throttle) begin(userID int, name, from string) (attempt, time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	a := attempt{account: nameKey(name), known: userID != 0, from: addressKey(from)}
	a.typed = a.account + "|" + a.from
	if a.known {
		a.account = strconv.Itoa(userID) // all spellings that lead to it
	}
	a.pair, a.home = a.account+"|"+a.from, t.homes.has(a.typed, now)
	wait := max(t.pairs.wait(a.typed, now), t.pairs.wait(a.pair, now))
	if !a.home {
		wait = max(wait, t.byAccount(a).wait(a.account, now), t.addresses.wait(a.from, now))
	}
	if wait > 0 {
		return a, wait
	}
	t.pairs.add(a.typed, now)
	if a.pair != a.typed {
		t.pairs.add(a.pair, now)
	}
	if !a.home {
		t.byAccount(a).add(a.account, now)
		t.addresses.add(a.from, now)
	}
	return a, 0
}

// passed forgets the failures of somebody who knew the password. Those from
// elsewhere and of others at the address stay counted.
func (t *throttle) passed(a attempt) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.pairs.entries, a.typed)
	delete(t.pairs.entries, a.pair)
	t.giveBackShared(a)
	t.homes.add(a.typed, t.now())
}

// unused takes back an attempt that was not checked after all.
func (t *throttle) unused(a attempt) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pairs.giveBack(a.typed)
	if a.pair != a.typed {
		t.pairs.giveBack(a.pair)
	}
	t.giveBackShared(a)
}

func (t *throttle) giveBackShared(a attempt) {
	if !a.home {
		t.byAccount(a).giveBack(a.account)
		t.addresses.giveBack(a.from)
	}
}

func (t *throttle) byAccount(a attempt) *counter {
	if a.known {
		return &t.accounts
	}
	return &t.strangers
}

// nameKey stands for a name: short, whatever the name.
func nameKey(name string) string {
	sum := sha256.Sum256([]byte(name))
	return "n" + hex.EncodeToString(sum[:12])
}

// addressKey stands for a remote address. Whoever has one IPv6 address has the
// 64 bits behind it too.
func addressKey(from string) string {
	a, err := netip.ParseAddr(from)
	if err != nil {
		return nameKey(from)
	}
	if a = a.Unmap().WithZone(""); a.Is4() {
		return a.String()
	}
	p, _ := a.Prefix(64) // 64 fits into every IPv6 address
	return p.String()
}

// counter counts attempts by key and forgets them by time.
type counter struct {
	free    int
	longest time.Duration
	keep    time.Duration
	entries map[string]*attempts
	swept   time.Time
}

type attempts struct {
	count       int
	last, until time.Time
}

func newCounter(free int, longest, keep time.Duration) counter {
	return counter{free: free, longest: longest, keep: keep, entries: map[string]*attempts{}}
}

func (c *counter) has(key string, now time.Time) bool {
	e := c.entries[key]
	return e != nil && now.Sub(e.last) <= c.keep
}

// wait says how long the next attempt has to wait, 0 = not at all.
func (c *counter) wait(key string, now time.Time) time.Duration {
	if e := c.entries[key]; e != nil {
		return max(0, e.until.Sub(now))
	}
	return 0
}

func (c *counter) add(key string, now time.Time) {
	e := c.entries[key]
	if e == nil || now.Sub(e.last) > c.keep {
		c.makeRoom(now)
		e = &attempts{}
		c.entries[key] = e
	}
	e.count, e.last = e.count+1, now
	c.setWait(e)
}

func (c *counter) giveBack(key string) {
	e := c.entries[key]
	if e == nil {
		return
	}
	if e.count--; e.count <= 0 {
		delete(c.entries, key)
		return
	}
	c.setWait(e)
}

func (c *counter) setWait(e *attempts) {
	e.until = time.Time{}
	if over := e.count - c.free; over >= 0 && c.longest > 0 {
		e.until = e.last.Add(min(c.longest, firstWait<<min(over, 10)))
	}
}

// makeRoom drops what is forgotten, and when the table is full the oldest of a
// few: to look through all of them for each attempt would be work for an attacker.
func (c *counter) makeRoom(now time.Time) {
	if now.Sub(c.swept) >= sweepEvery {
		c.swept = now
		for k, e := range c.entries {
			if now.Sub(e.last) > c.keep {
				delete(c.entries, k)
			}
		}
	}
	if len(c.entries) < throttleLimit {
		return
	}
	oldest, looked := "", 0
	for k, e := range c.entries {
		if oldest == "" || e.last.Before(c.entries[oldest].last) {
			oldest = k
		}
		if looked++; looked == 8 {
			break
		}
	}
	delete(c.entries, oldest)
}
