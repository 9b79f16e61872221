package cron

import (
	"errors"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParseRefuses(t *testing.T) {
	tests := []struct{ expr, field, key string }{
		{"", "", ErrEmpty},
		{" \t ", "", ErrEmpty},
		{"CRON_TZ=UTC", "", ErrEmpty},
		{"* * * * *", "", ErrFields},
		{"* * * * * ? * *", "", ErrFields},
		{"@every 5m", "", ErrFields},
		{"CRON_TZ=Mars/Base 0 0 0 * * ?", "", ErrZone},
		{"CRON_TZ= 0 0 0 * * ?", "", ErrZone},
		{"CRON_TZ=Local 0 0 0 * * ?", "", ErrZone},
		{"CRON_TZ=../etc 0 0 0 * * ?", "", ErrZone},
		{"0 0 0 ? * ?", "", ErrNoDay},
		{"0 0 0 * * *", "", ErrTwoDays},
		{"0 1,,2 * * * ?", "minute", ErrItemEmpty},
		{"0 ,1, * * * ?", "minute", ErrItemEmpty},
		{"0 , * * * ?", "minute", ErrItemEmpty},
		{"0 5X * * * ?", "minute", ErrSyntax},
		{"0 0x1F * * * ?", "minute", ErrSyntax},
		{"0 1-5X * * * ?", "minute", ErrSyntax},
		{"0 1-5-7 * * * ?", "minute", ErrSyntax},
		{"0 1-5/2/3 * * * ?", "minute", ErrSyntax},
		{"0 *X * * * ?", "minute", ErrSyntax},
		{"0 *-5 * * * ?", "minute", ErrSyntax},
		{"0 */-5 * * * ?", "minute", ErrSyntax},
		{"0 */+5 * * * ?", "minute", ErrSyntax},
		{"0 / * * * ?", "minute", ErrSyntax},
		{"0 ٥ * * * ?", "minute", ErrSyntax},
		{"0 0 0 ? * ſUN", "weekday", ErrSyntax},
		{"60 * * * * ?", "second", ErrRange},
		{"0 0 24 * * ?", "hour", ErrRange},
		{"0 0 0 0 * ?", "day", ErrRange},
		{"0 0 0 32W * ?", "day", ErrRange},
		{"0 0 0 99999999999999999999 * ?", "day", ErrRange},
		{"0 0 0 5-0 * ?", "day", ErrRange},
		{"0 0 0 1 5-0 ?", "month", ErrRange},
		{"0 0 0 ? * 1-0", "weekday", ErrRange},
		{"0 0 0 ? * 8#2", "weekday", ErrRange},
		{"0 0 0 ? * 0#2", "weekday", ErrRange},
		{"0 0 0 1 * ? 1960", "year", ErrRange},
		{"0 */0 * * * ?", "minute", ErrStep},
		{"0 5/0 * * * ?", "minute", ErrStep},
		{"0 1-5/0 * * * ?", "minute", ErrStep},
		{"0 0-59/70 * * * ?", "minute", ErrStep},
		{"0 00007 * * * ?", "minute", ErrZeros},
		{"0 0 0 1 * ? 2030-2025", "year", ErrOrder},
		{"0 0 0 1 JUNE ?", "month", ErrName},
		{"0 0 0 * JANUARY-13 ?", "month", ErrName},
		{"0 0 0 1 JAN-FOO ?", "month", ErrName},
		{"0 0 0 ? * SUNDAY", "weekday", ErrName},
		{"0 0 0 ? * MONDAY-FRIDAY", "weekday", ErrName},
		{"0 0 0 ? * MON-5", "weekday", ErrMixed},
		{"0 0 0 1 1-MAR ?", "month", ErrMixed},
		{"0 0 0 ? * MON-FRI/2", "weekday", ErrNameStep},
		{"0 0 0 1 JAN-DEC/3 ?", "month", ErrNameStep},
		{"0 0 0 ? * MON/2", "weekday", ErrNameStep},
		{"0 0 0 1 JAN/3 ?", "month", ErrNameStep},
		{"0 0 ? * * ?", "hour", ErrQuestion},
		{"0 0 0 ?,5 * MON", "day", ErrQuestion},
		{"0 0 0 ?X * MON", "day", ErrQuestion},
		{"0 0 0 1-5W * ?", "day", ErrSpecial},
		{"0 0 0 15L * ?", "day", ErrSpecial},
		{"0 0 0 3#2 * ?", "day", ErrSpecial},
		{"L * * * * ?", "second", ErrSpecial},
		{"0 5L * * * ?", "minute", ErrSpecial},
		{"0 0 0 1 L ?", "month", ErrSpecial},
		{"0 0 0 1 * ? L", "year", ErrSpecial},
		{"0 0 0 ? * LW", "weekday", ErrSpecial},
		{"0 0 0 ? * L-3", "weekday", ErrSpecial},
		{"0 0 0 L-W * ?", "day", ErrSyntax},
		{"0 0 0 L3 * ?", "day", ErrSyntax},
		{"0 0 0 ? * MON#2,FRI", "weekday", ErrAlone},
		{"0 0 0 ? * FRI,MON#2", "weekday", ErrAlone},
		{"0 0 0 ? * 6L,2", "weekday", ErrAlone},
		{"0 0 0 ? * L,2", "weekday", ErrAlone},
		{"0 0 0 L-31 * ?", "day", ErrOffset},
		{"0 0 0 ? * 6#6", "weekday", ErrNth},
		{"0 0 0 ? * 6#0", "weekday", ErrNth},
	}
	used := map[string]bool{ErrRate: true} // see TestFixedRateRefuses
	for _, tt := range tests {
		_, err := Parse(tt.expr)
		var pe *ParseError
		require.ErrorAs(t, err, &pe, tt.expr)
		require.Equal(t, []string{tt.field, tt.key, tt.expr}, []string{pe.Field, pe.Key, pe.Expr}, "%s: %v", tt.expr, err)
		require.NotRegexp(t, regexp.MustCompile(`\{[a-z]+\}`), pe.Error(), "an argument is missing")
		used[pe.Key] = true
	}
	for key := range english {
		require.True(t, used[key], "no expression gives %s", key)
	}
}

func TestParseErrorText(t *testing.T) {
	_, err := Parse("0 75 * * * ?")
	require.EqualError(t, err, `cron "0 75 * * * ?": minute: 75 is not between 0 and 59`)
	var pe *ParseError
	require.True(t, errors.As(err, &pe))
	require.Equal(t, map[string]any{"value": "75", "min": 0, "max": 59}, pe.Args)
}

func TestParseAccepts(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for expr, same := range map[string]string{
		"  0 \t /20 *  *\t* ? ":         "0 0,20,40 * * * ?",
		"0 00 05 01 01 ?":               "0 0 5 1 1 ?",
		"0 0 0 ? jan mon-fri":           "0 0 0 ? 1 2-6",
		"0 0 0 L-0 * ?":                 "0 0 0 L * ?",
		"0 0 0 L-0W * ? *":              "0 0 0 LW * ?",
		"CRON_TZ=UTC 0 0 0 1 * ?":       "0 0 0 1 * ?",
		"0 0 0 1 1 ? 2026/1":            "0 0 0 1 1 ? 2026-9999",
		"0 0 0 1 1 ? */1":               "0 0 0 1 1 ?",
		"0 0 22-2/2 ? * FRI-MON 2026/2": "0 0 22,0,2 ? * 6,7,1,2 2026/2",
	} {
		require.Equal(t, upcoming(mustParse(t, same), start, 9), upcoming(mustParse(t, expr), start, 9), expr)
	}
}

// Forms beyond cron_quirks.tsv.
func TestParseLenientForms(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for expr, same := range map[string]string{
		"0 0 0 1 1 ? 1960,2027":      "0 0 0 1 1 ? 2027",
		"0 0 0 1 1 ? 1961/2":         "0 0 0 1 1 ? 2027/2",
		"0 0 0 1 1 ? L,2027":         "0 0 0 1 1 ? 2027",
		"0 0 0 1 1 ? 2027-12000":     "0 0 0 1 1 ? 2027-9999",
		"0 0 0 1 1 ? 2027-2030/0":    "0 0 0 1 1 ? 2027",
		"0 0 0 ? * FRIDAY,MON":       "0 0 0 ? * FRI,MON",
		"0 0 0 ? * 6#2X":             "0 0 0 ? * 6#2",
		"0 0 0 ? * 8#2,FRI":          "0 0 0 ? * 6#2",
		"0 0 0 ? * 2-4/0":            "0 0 0 ? * 2",
		"CRON_TZ=UTC 0 1,,2 * * * ?": "0 1,2 * * * ?",
	} {
		s, err := ParseLenient(expr)
		require.NoError(t, err, expr)
		require.Equal(t, upcoming(mustParse(t, same), start, 9), upcoming(s, start, 9), expr)
	}
}

func TestParseLenientRefuses(t *testing.T) {
	for _, row := range rows(t, "cron_golden.tsv") {
		if row[3] == "ERROR" && row[0][:1] != "C" {
			_, err := ParseLenient(row[0])
			require.Error(t, err, row[0])
		}
	}
}

func TestFixedRate(t *testing.T) {
	s, err := ParseFixedRate(" 90 ")
	require.NoError(t, err)
	at := time.Date(2026, 1, 1, 10, 0, 0, 0, time.FixedZone("x", 3600))
	require.Equal(t, at.Add(90*time.Second), s.Next(at))
	require.Equal(t, at.Add(91*time.Second), s.Next(at.Add(time.Millisecond)), "never sooner than the rate")
}

func TestFixedRateRefuses(t *testing.T) {
	for _, conf := range []string{"", " ", "0", "-5", "+5", "1.5", "5s", "2147483648", "99999999999999999999"} {
		_, err := ParseFixedRate(conf)
		var pe *ParseError
		require.ErrorAs(t, err, &pe, conf)
		require.Equal(t, ErrRate, pe.Key)
		require.Equal(t, conf, pe.Expr)
	}
	_, err := FixedRate(0)
	require.EqualError(t, err, `cron "0": fixed rate 0 is not a number of seconds between 1 and 2147483647`)
	_, err = FixedRate(1<<31 - 1)
	require.NoError(t, err)
}

func FuzzParse(f *testing.F) {
	for _, expr := range []string{
		"0 0 0 * * ?", "*/5 * * * * ?", "0 0 0 L-3W,15W * ? 2026/2", "0 0 0 ? * MON#2,FRI", "0 1-5/2/3 * * * ?",
		"CRON_TZ=Europe/London 0 30 1 ? 10 1L", "0 0 0 ?X * 8#2", "0 0 0 1 JUNE,L ? 1960/7", ", , , , , ,", "0 */+5 22-2/2 L,LW JAN/3 ? L",
	} {
		f.Add(expr, int64(1767225600))
	}
	zone, err := time.LoadLocation("Australia/Lord_Howe")
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, expr string, unix int64) {
		start := time.Unix(unix%(1<<33), 0).In(zone)
		strict, strictErr := Parse(expr)
		lenient, err := ParseLenient(expr)
		for _, err := range []error{strictErr, err} {
			var pe *ParseError
			require.True(t, err == nil || errors.As(err, &pe) && pe.Expr == expr && english[pe.Key] != "")
		}
		if err != nil {
			require.Error(t, strictErr)
			return
		}
		at := start
		for range 3 {
			next := lenient.Next(at)
			if strictErr == nil {
				require.Equal(t, strict.Next(at), next)
			}
			if next.IsZero() {
				break
			}
			require.True(t, next.After(at), "%s after %s", next, at)
			at = next
		}
		require.NotEmpty(t, Describe(lenient, "en"))
		require.NotEmpty(t, Describe(lenient, "zh-Hant"))
	})
}
