package e2e

import (
	"bufio"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/scheduler/cron"
)

// helper runs a script with the functions of the cron helper as h.
func (p *person) helper(script string, arg any) []any {
	p.t.Helper()
	out, err := p.page.Evaluate(`async (arg) => {
		const h = await import(document.querySelector('script[src*="/cron."]').src);
		`+script+`
	}`, arg)
	require.NoError(p.t, err)
	return out.([]any)
}

// TestCronHelperMakesWhatTheCenterTakes: every preset and many random states of the tabs
// go through the parser of the center, and each must fire.
func TestCronHelperMakesWhatTheCenterTakes(t *testing.T) {
	t.Parallel()
	p := newWorld(t).someone()
	p.doOpen("/jobs/new")
	made := p.helper(`
		const out = [];
		for (const name of ["seconds", "minutes", "hours", "daily", "weekdays", "weekly", "monthly", "lastday"]) {
			for (let n = -1; n < 70; n++) {
				const time = String(Math.max(0, n) % 24).padStart(2, "0") + ":" + String(Math.max(0, n) % 60).padStart(2, "0");
				out.push(h.preset(name, { n, day: n, weekday: n, time }));
			}
			out.push(h.preset(name, { n: "", day: "x", weekday: undefined, time: "" }));
		}
		return out;`, nil)
	random := p.helper(`
		let seed = arg;
		const rnd = (n) => { seed = (seed * 1103515245 + 12345) % 2147483648; return Math.floor(seed / 65536) % n; };
		const kinds = {
			second: ["every", "range", "step", "pick"], minute: ["every", "range", "step", "pick"], hour: ["every", "range", "step", "pick"],
			day: ["every", "none", "range", "step", "nearest", "last", "lastwork", "pick"], month: ["every", "range", "step", "pick"],
			weekday: ["none", "range", "step", "lastof", "nth", "pick"], year: ["none", "every", "range"],
		};
		const top = { second: 62, minute: 62, hour: 26, day: 34, month: 14, weekday: 9, year: 2050 };
		const out = [];
		for (let i = 0; i < 800; i++) {
			const state = {};
			for (const unit in kinds) {
				const v = () => (unit === "year" ? 2020 + rnd(30) : rnd(top[unit]) - 1);
				state[unit] = { kind: kinds[unit][rnd(kinds[unit].length)], n: [v(), v()], list: Array.from({ length: rnd(5) }, v) };
			}
			if (i % 4 === 0) state.month = { kind: "pick", list: [2] }; // where days are missing
			const last = ["", "day", "weekday", "second"][rnd(4)];
			const text = h.write(state, new Date(), last);
			out.push(text);
			if (h.write(h.read(text)) !== text) out.push("not stable: " + text + " becomes " + h.write(h.read(text)));
		}
		return out;`, 42)
	require.Greater(t, len(random), 799)
	now := time.Now()
	for _, text := range append(made, random...) {
		s, err := cron.Parse(text.(string))
		require.NoError(t, err)
		require.False(t, s.Next(now).IsZero(), text)
	}
}

// TestCronHelperReadsWhatTheCenterKnows: taken apart and written again an expression means
// what it meant.
func TestCronHelperReadsWhatTheCenterKnows(t *testing.T) {
	t.Parallel()
	f, err := os.Open("../scheduler/cron/testdata/cron_golden.tsv")
	require.NoError(t, err)
	defer f.Close()
	var texts []any
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for in := bufio.NewScanner(f); in.Scan(); {
		for cell := range strings.SplitSeq(in.Text(), "\t") {
			if s, err := cron.Parse(cell); err == nil && !strings.Contains(cell, "CRON_TZ") && !s.Next(time.Now()).IsZero() {
				texts = append(texts, cell)
			}
		}
	}
	require.Greater(t, len(texts), 50)
	p := newWorld(t).someone()
	p.doOpen("/jobs/new")
	for i, text := range p.helper(`return arg.map((text) => h.write(h.read(text)));`, texts) {
		was, _ := cron.Parse(texts[i].(string))
		is, err := cron.Parse(text.(string))
		require.NoError(t, err, "from %s", texts[i])
		for at, n := now, 0; n < 5; n++ {
			require.Equal(t, was.Next(at), is.Next(at), "%s became %s", texts[i], text)
			if at = was.Next(at); at.IsZero() {
				break
			}
		}
	}
}

// TestCronHelper on the page: presets and tabs write, typing updates both.
func TestCronHelper(t *testing.T) {
	t.Parallel()
	p := newWorld(t).someone()
	p.doOpen("/jobs/new")
	p.doFill("#schedule_conf", "")
	p.doChoose("#cron-preset", "weekly")
	p.doChoose("[data-part=weekday]", "6")
	p.doFill("[data-part=time]", "07:45")
	p.doType("[data-part=time]", "\t")
	p.verifyValue("#schedule_conf", "0 45 7 ? * FRI")
	p.verifyText("[data-testid=preview] strong", "every Friday at 07:45")
	p.verifyVisible("[data-testid=week]")
	p.verifyCount("[data-testid=week] rect.some", 1)

	// Typing updates the preset and the tabs.
	p.doFill("#schedule_conf", "0 0/15 9-17 L * ?")
	p.verifyValue("#cron-preset", "")
	p.doClick("[data-testid=cron-tabs] summary")
	p.doClick("#cron-tab-minute")
	p.verifyChecked("#cron-minute-step")
	p.verifyValue("[data-unit=minute] [data-kind=step] [data-n='1']", "15")
	p.doClick("#cron-tab-day")
	p.verifyChecked("#cron-day-last")
	// A weekday takes the day away.
	p.doClick("#cron-tab-weekday")
	p.doClick("[data-unit=weekday] [data-kind=pick] label:has-text('Mon')")
	p.verifyValue("#schedule_conf", "0 0/15 9-17 ? * MON")
	// By keyboard.
	require.NoError(t, p.page.Locator("#cron-tab-weekday").Focus())
	require.NoError(t, p.page.Keyboard().Press("ArrowLeft"))
	p.verifyFocused("#cron-tab-month")
	p.verifyVisible("#cron-unit-month")
	p.doClick("[data-unit=month] [data-kind=pick] label:has-text('11')")
	p.verifyValue("#schedule_conf", "0 0/15 9-17 ? 11 MON")

	p.doFill("#schedule_conf", "30 1 * * 1-5")
	p.doClick("[data-testid=cron-offer] button[type=button]")
	p.verifyValue("#schedule_conf", "0 30 1 ? * 2-6")
	p.verifyText("[data-testid=weekday-numbers]", "2 = Mon, 6 = Fri")
	p.verifyValue("#cron-preset", "weekdays")

	p.doChoose("#zone", "Europe/Berlin")
	p.doFill("#schedule_conf", "0 30 2 * * ?")
	p.verifyCount("[data-testid=jump]", 2)
	p.verifyCount("[data-testid=center-time]", 5)
	p.verifyAccessible("the cron helper", readAxe(t))
}

// TestCronOfferWithoutJavaScript is a button that saves nothing.
func TestCronOfferWithoutJavaScript(t *testing.T) {
	t.Parallel()
	p := newWorld(t).someone(noScripts)
	p.expectProblem("422")
	p.doOpen("/jobs/new")
	p.doFill("#name", "Five")
	p.doFill("#schedule_conf", "*/5 * * * *")
	p.doClick(".form-actions button")
	p.verifyCount("[data-testid=cron-helper]:visible", 0)
	p.doClick("[data-testid=cron-offer] button[name=use_cron]")
	p.verifyValue("#schedule_conf", "0 */5 * * * ?")
	p.verifyValue("#name", "Five")
	p.verifyText("[data-testid=preview] strong", "every 5 min")
}

func (p *person) verifyChecked(selector string) {
	p.t.Helper()
	require.NoError(p.t, expect.Locator(p.page.Locator(selector)).ToBeChecked(), selector)
}
