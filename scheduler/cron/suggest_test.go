package cron

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSuggest(t *testing.T) {
	for expr, want := range map[string]string{
		"*/5 * * * *":                  "0 */5 * * * ?",
		"30 1 * * 1-5":                 "0 30 1 ? * 2-6",
		"0 9 * * 0":                    "0 0 9 ? * 1",
		"0 9 * * 7":                    "0 0 9 ? * 1",
		"0 9 * * 5-7":                  "0 0 9 ? * 6-1",
		"0 9 * * 0-7":                  "0 0 9 * * ?",
		"0 9 * * mon,wed":              "0 0 9 ? * mon,wed",
		"0 9 1 * *":                    "0 0 9 1 * ?",
		"0 9 * * 1,3/2":                "0 0 9 ? * 2,4/2",
		"@daily":                       "0 0 0 * * ?",
		"@Weekly":                      "0 0 0 ? * SUN",
		"0 0 12 * * *":                 "0 0 12 * * ?",
		"0 0 12 * * MON":               "0 0 12 ? * MON",
		"0 0 12 ? * ?":                 "0 0 12 * * ?",
		"CRON_TZ=Asia/Tokyo 0 9 * * *": "CRON_TZ=Asia/Tokyo 0 0 9 * * ?",
		// Nothing to guess, or no safe guess.
		"0 0 12 * * ?": "", "0 9 1 * 1": "", "": "", "@reboot": "", "61 * * * *": "", "a b c": "", "0 9 * * 8": "",
		"CRON_TZ=Mars/Base 0 9 * * *": "",
	} {
		got, ok := Suggest(expr)
		assert.Equal(t, want != "", ok, expr)
		if ok {
			assert.Equal(t, want, got, expr)
		}
	}
}
