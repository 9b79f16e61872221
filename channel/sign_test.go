package channel

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
)

// The vectors were computed with another program from the makers' descriptions.
func TestSignatures(t *testing.T) {
	at := time.Unix(1700000000, 0)
	timestamp, sign := signDingTalk("SECdemo", at)
	assert.Equal(t, "1700000000000", timestamp)
	assert.Equal(t, "lOvVf9TQCVugV68mGbSZCg0gzOl1SVjxWi1MyVZCUuA=", sign)
	timestamp, sign = signFeishu("demo", at)
	assert.Equal(t, "1700000000", timestamp)
	assert.Equal(t, "8oT2n3SMKFfEnDoiwer8BUM/SjKLwe9SqoEIHlhDTKo=", sign)
	body := []byte(`{"a":1}`)
	assert.Equal(t, "sha256=fba1ec36d66c5d136d99f26b51d89b66499acd337bf953b1519a510ca51ef5fb", signGitHub("demo", body))
	assert.Equal(t, "v1,YOREwC5BRUvI4ezImQEgEteB7JbPr/Iy2YCZe049/5g=", signStandard("whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX", "msg_1", "1700000000", body))
}

func TestCutsAtTheEdgeOfWhatPeopleSee(t *testing.T) {
	for _, tc := range []struct {
		in   string
		n    int
		f    size
		want string
	}{
		{"abc", 2, inBytes, "ab"},
		{"任务", 5, inBytes, "任"},
		{"a👨‍👩‍👧b", 10, inBytes, "a"},      // a family is 18 bytes
		{"a👨‍👩‍👧b", 19, inBytes, "a👨‍👩‍👧"}, // all of it fits
		{"a👍🏽b", 5, inBytes, "a"},          // a hand with its colour is 8
		{"a👍🏽b", 9, inBytes, "a👍🏽"},        //
		{"🇨🇳🇹🇼", 12, inBytes, "🇨🇳"},        // half a flag is a letter
		{"🇨🇳🇹🇼", 4, inBytes, ""},           //
		{"e\u0301x", 1, inBytes, ""},       // letter and accent
		{"a❤\ufe0fb", 4, inBytes, "a"},     // heart and its form
		{"👍👍", 3, inUnits, "👍"},            // two units each
		{"a\nb\"c", 4, inJSON, "a\nb"},     // line break and quote are two bytes
		{"a\u2028b", 6, inJSON, "a"},       // six bytes
		{strings.Repeat("x", 9), 0, inBytes, ""},
	} {
		assert.Equal(t, tc.want, tc.f.cut(tc.in, tc.n), "%q %d", tc.in, tc.n)
	}
}

func TestWholeTextsFitEverywhere(t *testing.T) {
	m := Message{Title: "任务 42 失败", Text: strings.Repeat("👨‍👩‍👧 行 <b>\"x\"\n", 30), Link: "https://carillon.example.com/incidents/7"}
	for _, f := range []size{inBytes, inUnits, inJSON} {
		for n := 100; n < 1400; n++ {
			got := f.whole(m, n)
			assert.LessOrEqual(t, f.of(got), n)
			assert.True(t, utf8.ValidString(got))
			assert.True(t, strings.HasSuffix(got, m.Link))
			if f.of(m.Title+"\n\n"+m.Text+"\n"+m.Link) > n {
				assert.True(t, strings.HasSuffix(got, "… "+m.Link), n)
			}
		}
	}
	m.Link = ""
	assert.Equal(t, m.Title+"\n\n"+m.Text, size(inBytes).whole(m, 5000))
	assert.True(t, strings.HasSuffix(size(inBytes).whole(m, 100), "…"))
	assert.Equal(t, "任务 42 失败", size(inBytes).whole(Message{Title: m.Title}, 100))
}
