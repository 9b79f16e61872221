// Package i18n holds the texts of the console and of mails in simplified
// Chinese, traditional Chinese and English, and formats numbers, durations and
// relative times the way each language expects.
package i18n

import (
	"embed"
	"fmt"
	"strings"
	"sync"
	"time"

	goi18n "github.com/nicksnyder/go-i18n/v2/i18n"
	"golang.org/x/text/language"
)

//go:embed locales/*.json
var locales embed.FS

// Languages that texts exist in.
const (
	English  = "en"
	ChineseS = "zh-Hans"
	ChineseT = "zh-Hant"
)

// Languages lists the languages in the order in which they are offered.
func Languages() []string { return []string{ChineseS, ChineseT, English} }

// Bundle is the set of all texts.
type Bundle struct {
	byLang  map[string]*Localizer
	deflt   string
	matcher language.Matcher
	offered []string // in the order of the matcher, default first
}

// New reads the embedded texts. The default language is used when neither the
// user nor the browser has a wish that can be met; "" means simplified Chinese.
func New(deflt string) (*Bundle, error) {
	if deflt == "" {
		deflt = ChineseS
	}
	b := &Bundle{byLang: map[string]*Localizer{}, deflt: deflt}
	for _, lang := range Languages() {
		b.byLang[lang] = &Localizer{lang: lang, load: sync.OnceValues(func() (*texts, error) { return load(lang) })}
	}
	if b.byLang[deflt] == nil {
		return nil, fmt.Errorf("i18n: unknown language %q, use one of %s", deflt, strings.Join(Languages(), ", "))
	}
	if _, err := b.byLang[deflt].load(); err != nil {
		return nil, err
	}
	b.offered = []string{deflt}
	for _, lang := range Languages() {
		if lang != deflt {
			b.offered = append(b.offered, lang)
		}
	}
	var tags []language.Tag
	for _, lang := range b.offered {
		tags = append(tags, language.MustParse(lang))
	}
	b.matcher = language.NewMatcher(tags)
	return b, nil
}

// texts are those of one language. Each takes a megabyte or two, so it is read when
// somebody first wants it. Every language has every text: a test says so.
type texts struct {
	inner *goi18n.Localizer
	known map[string]bool
}

func load(lang string) (*texts, error) {
	bundle := goi18n.NewBundle(language.English)
	file, err := bundle.LoadMessageFileFS(locales, "locales/"+lang+".json")
	if err != nil {
		return &texts{inner: goi18n.NewLocalizer(bundle, lang)}, fmt.Errorf("i18n: %w", err)
	}
	known := make(map[string]bool, len(file.Messages))
	for _, m := range file.Messages {
		known[m.ID] = true
	}
	return &texts{inner: goi18n.NewLocalizer(bundle, lang), known: known}, nil
}

// Known reports whether texts exist in the language.
func (b *Bundle) Known(lang string) bool { return b.byLang[lang] != nil }

// Localizer gives the texts of a language, or of the default one.
func (b *Bundle) Localizer(lang string) *Localizer {
	if l := b.byLang[lang]; l != nil {
		return l
	}
	return b.byLang[b.deflt]
}

// Choose finds the language of a request: the user's wish, then the cookie,
// then what the browser accepts, then the default.
func (b *Bundle) Choose(user, cookie, acceptLanguage string) *Localizer {
	for _, wish := range []string{user, cookie} {
		if b.Known(wish) {
			return b.byLang[wish]
		}
	}
	tags, _, err := language.ParseAcceptLanguage(acceptLanguage)
	if err != nil || len(tags) == 0 {
		return b.byLang[b.deflt]
	}
	// One by one: asked for all at once the matcher prefers the plain zh that
	// browsers send behind zh-HK.
	for _, tag := range tags {
		if _, i, confidence := b.matcher.Match(tag); confidence != language.No {
			return b.byLang[b.offered[i]]
		}
	}
	return b.byLang[b.deflt]
}

// Localizer gives the texts of one language. It is safe for concurrent use.
type Localizer struct {
	lang string
	load func() (*texts, error)
}

func (l *Localizer) texts() *texts {
	t, _ := l.load() // the texts are part of the program: tests have read all of them
	return t
}

// Lang gives the language as used in the lang attribute of HTML.
func (l *Localizer) Lang() string { return l.lang }

// Has reports whether there is a text under the key.
func (l *Localizer) Has(key string) bool { return l.texts().known[key] }

// T gives the text under a key with arguments as key-value pairs. A key
// without text gives a bland line, never the key itself.
func (l *Localizer) T(key string, kv ...any) string { return l.text(key, pairs(kv), nil) }

// N gives the text under a key in the plural form for n, available as Count.
func (l *Localizer) N(key string, n int, kv ...any) string {
	args := pairs(kv)
	args["Count"] = n
	return l.text(key, args, n)
}

// Error gives the text of an error key. String arguments that are themselves
// keys (the reason inside a cron error) are translated too. What the cron
// parser complains about becomes a sentence of its own. Durations are said in
// whole seconds.
func (l *Localizer) Error(key string, args map[string]any) string {
	if strings.HasPrefix(key, "cron.err.") {
		return l.T("field.cron", "Reason", l.cronReason(key, args))
	}
	translated := make(map[string]any, len(args))
	for name, v := range args {
		if d, ok := v.(time.Duration); ok {
			v = l.Duration(max(time.Second, d.Round(time.Second)))
		}
		if s, ok := v.(string); ok {
			switch {
			case strings.HasPrefix(s, "cron.err."):
				v = l.cronReason(s, args)
			case l.texts().known[s]:
				v = l.text(s, args, nil)
			}
		}
		translated[name] = v
	}
	if !l.texts().known[key] && strings.HasPrefix(key, "field.") {
		key = "field.invalid"
	}
	return strings.ReplaceAll(l.text(key, translated, nil), missing, "?")
}

// cronReason says which field of an expression is wrong and why.
func (l *Localizer) cronReason(key string, args map[string]any) string {
	reason := l.text(key, args, nil)
	if !l.texts().known[key] || strings.Contains(reason, missing) {
		reason = l.text("cron.err.unknown", nil, nil)
	}
	if field, ok := args["Field"].(string); ok && l.texts().known["cron.field."+field] {
		return l.T("cron.in_field", "Field", l.T("cron.field."+field), "Reason", reason)
	}
	return reason
}

// missing is what a template prints for an argument that did not come.
const missing = "<no value>"

func (l *Localizer) text(key string, args map[string]any, count any) string {
	t := l.texts()
	if !t.known[key] {
		key = "error.unknown"
	}
	s, err := t.inner.Localize(&goi18n.LocalizeConfig{MessageID: key, TemplateData: args, PluralCount: count})
	if s == "" && err != nil {
		s, _ = t.inner.Localize(&goi18n.LocalizeConfig{MessageID: "error.unknown"})
	}
	return s
}

func pairs(kv []any) map[string]any {
	m := make(map[string]any, len(kv)/2+1)
	for i := 0; i+1 < len(kv); i += 2 {
		m[fmt.Sprint(kv[i])] = kv[i+1]
	}
	return m
}
