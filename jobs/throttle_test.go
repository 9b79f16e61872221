package jobs

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestThrottleIsBoundedAndForgets(t *testing.T) {
	now := time.Unix(1767225600, 0)
	th := newThrottle(func() time.Time { return now })
	for i := range throttleLimit + 1000 {
		name := fmt.Sprint(i, strings.Repeat("x", 40))
		_, wait := th.begin(0, name, fmt.Sprintf("2001:db8:%x:%x::1", i/60000, i%60000))
		require.Zero(t, wait)
	}
	tables := []*counter{&th.pairs, &th.accounts, &th.strangers, &th.addresses, &th.homes}
	for _, c := range tables {
		require.LessOrEqual(t, len(c.entries), throttleLimit)
		for key := range c.entries {
			require.Less(t, len(key), 70, "keys are short whatever was typed")
		}
	}
	now = now.Add(2 * time.Hour)
	th.begin(0, "one", "192.0.2.1")
	for _, c := range tables {
		require.LessOrEqual(t, len(c.entries), 1, "forgotten by time, not only when full")
	}
}

func TestThrottleGivesBackWhatWasNotChecked(t *testing.T) {
	now := time.Unix(1767225600, 0)
	th := newThrottle(func() time.Time { return now })
	for range 50 {
		a, wait := th.begin(7, "olga", "192.0.2.1")
		require.Zero(t, wait)
		th.unused(a)
	}
	require.Empty(t, th.pairs.entries)
	require.Empty(t, th.accounts.entries)
	require.Empty(t, th.addresses.entries)
}

func TestAddressKeys(t *testing.T) {
	require.Equal(t, addressKey("192.0.2.1"), addressKey("::ffff:192.0.2.1"))
	require.Equal(t, addressKey("2001:db8::1"), addressKey("2001:db8::ffff:1"), "one network behind one line")
	require.NotEqual(t, addressKey("2001:db8::1"), addressKey("2001:db8:0:1::1"))
	require.NotEqual(t, addressKey("192.0.2.1"), addressKey("192.0.2.2"))
	require.Less(t, len(addressKey(strings.Repeat("x", 1000))), 30)
}
