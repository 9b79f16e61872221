package i18n

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func catalog(t *testing.T, lang string) map[string]any {
	t.Helper()
	raw, err := locales.ReadFile("locales/" + lang + ".json")
	require.NoError(t, err)
	m := map[string]any{}
	require.NoError(t, json.Unmarshal(raw, &m))
	return m
}

// forms gives the plural forms of a text, or the text itself.
func forms(v any) []string {
	if m, ok := v.(map[string]any); ok {
		var out []string
		for _, k := range slices.Sorted(maps.Keys(m)) {
			out = append(out, fmt.Sprint(m[k]))
		}
		return out
	}
	return []string{fmt.Sprint(v)}
}

var placeholder = regexp.MustCompile(`\{\{\.(\w+)\}\}`)

func placeholders(s string) []string {
	var out []string
	for _, m := range placeholder.FindAllStringSubmatch(s, -1) {
		out = append(out, m[1])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func TestCatalogsAgree(t *testing.T) {
	en := catalog(t, English)
	for _, lang := range Languages() {
		other := catalog(t, lang)
		assert.Equal(t, slices.Sorted(maps.Keys(en)), slices.Sorted(maps.Keys(other)), lang)
		for key, v := range other {
			want := placeholders(forms(en[key])[0])
			for _, text := range forms(v) {
				assert.NotEmpty(t, strings.TrimSpace(text), "%s %s", lang, key)
				assert.Equal(t, want, placeholders(text), "%s %s", lang, key)
				assert.NotContains(t, placeholder.ReplaceAllString(text, ""), "{", "%s %s", lang, key)
			}
		}
	}
}

// TestUsedKeysExist looks for keys in the source of the packages that show
// texts. Keys put together at run time are checked by their prefix.
func TestUsedKeysExist(t *testing.T) {
	known := catalog(t, English)
	call := regexp.MustCompile(`(?:\.T|\.N|\.Error|Errf\([\w.]+,|AddField\([^,]+,|toast\(|flash\()\(?\s*"([a-z0-9_.]+)"([ +]*)`)
	errKey := regexp.MustCompile(`"((?:error|field|cron\.err)\.[a-z0-9_]+)"`)
	seen := 0
	for _, dir := range []string{"../views", "../app", "../jobs", "../model", "../scheduler/cron"} {
		if _, err := os.Stat(dir); os.IsNotExist(err) {
			continue
		}
		require.NoError(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasSuffix(p, "_test.go") || strings.HasSuffix(p, "_templ.go") {
				return err
			}
			if ext := filepath.Ext(p); ext != ".go" && ext != ".templ" {
				return nil
			}
			raw, err := os.ReadFile(p)
			require.NoError(t, err)
			found := call.FindAllStringSubmatch(string(raw), -1)
			found = append(found, errKey.FindAllStringSubmatch(string(raw), -1)...)
			for _, m := range found {
				seen++
				if strings.HasSuffix(m[1], ".") {
					continue
				}
				if _, ok := known[m[1]]; !ok {
					t.Errorf("%s uses %s, which has no text", p, m[1])
				}
			}
			return nil
		}))
	}
	assert.Positive(t, seen, "the search found no use at all")
}

func TestUnknownKeysDegrade(t *testing.T) {
	b, err := New("")
	require.NoError(t, err)
	for _, lang := range Languages() {
		l := b.Localizer(lang)
		for _, key := range []string{"error.no_such", "field.no_such", "nonsense"} {
			got := l.Error(key, map[string]any{"X": 1})
			assert.NotContains(t, got, key)
			assert.NotEmpty(t, got)
		}
		assert.NotContains(t, l.Error("field.cron", map[string]any{"Reason": "cron.err.no_such"}), "cron.err")
		assert.NotContains(t, l.Error("cron.err.range", nil), "no value")
	}
	assert.Equal(t, "Not a valid cron expression: minute: 99 is not between 0 and 59",
		b.Localizer(English).Error("cron.err.range", map[string]any{"Field": "minute", "value": 99, "min": 0, "max": 59}))
}

func TestChoose(t *testing.T) {
	b, err := New("")
	require.NoError(t, err)
	for _, c := range []struct{ user, cookie, accept, want string }{
		{"", "", "", ChineseS},
		{"", "", "fr", ChineseS},
		{"", "", "en-GB,en;q=0.8", English},
		{"", "", "zh-TW", ChineseT},
		{"", "", "zh-HK,zh;q=0.8", ChineseT},
		{"", "", "zh-CN,zh;q=0.9,en;q=0.1", ChineseS},
		{"", "en", "zh-CN", English},
		{"zh-Hant", "en", "zh-CN", ChineseT},
		{"xx", "yy", "not a header;;", ChineseS},
	} {
		assert.Equal(t, c.want, b.Choose(c.user, c.cookie, c.accept).Lang(), "%+v", c)
	}
	_, err = New("xx")
	assert.Error(t, err)
}

func TestFormats(t *testing.T) {
	b, err := New("")
	require.NoError(t, err)
	en, zh := b.Localizer(English), b.Localizer(ChineseS)
	assert.Equal(t, "840 ms", en.Millis(840))
	assert.Equal(t, "5.2 s", en.Millis(5200))
	assert.Equal(t, "5 s", en.Millis(5000))
	assert.Equal(t, "4 m 12 s", en.Millis(252_000))
	assert.Equal(t, "9 d", en.Duration(9*24*time.Hour))
	assert.Equal(t, "–", en.Millis(-1))
	assert.Equal(t, "4 分 12 秒", zh.Millis(252_000))
	now := time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC)
	assert.Equal(t, "in 42 s", en.Relative(now.Add(42*time.Second), now))
	assert.Equal(t, "42 秒后", zh.Relative(now.Add(42*time.Second), now))
	assert.Equal(t, "2 h ago", en.Relative(now.Add(-2*time.Hour), now))
	assert.Equal(t, "1,204,881", en.Number(1204881))
	assert.Equal(t, "99.99%", en.Percent(99999, 100000))
	assert.Equal(t, "100%", en.Percent(3, 3))
	assert.Equal(t, "1 retry left", en.N("run.retries_left", 1))
	assert.Equal(t, "3 retries left", en.N("run.retries_left", 3))
}
