package views

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/carillon-scheduler/carillon/model"
)

// counted is a counter of a day or longer.
func counted(good, bad int64) *model.Counter {
	c := model.NewCounter(0, "", 0, 0)
	c.Expected, c.Succeeded, c.Failed = good+bad, good, bad
	return c
}

// TestTheUsualRateIsTheMedian: the rate that is shown is the one that the difference is from.
func TestTheUsualRateIsTheMedian(t *testing.T) {
	days := []*model.Counter{counted(1000, 0), counted(100, 25), counted(490, 10), counted(600, 6)}
	v := Report{Page: testPage(t), Kind: "day", BeforeFirst: time.Date(2026, 11, 13, 0, 0, 0, 0, time.UTC), Now: counted(99, 1)}
	v.Usual, v.Then = model.UsualOf(days, true)
	assert.InDelta(t, 98.5, v.Usual.Rate.Median, 0.01)
	assert.Contains(t, v.comparison(), "98.50%")
	assert.Equal(t, "usually 98.50%", v.rateCompared(v.Now, v.Then, v.Usual).Text)
	assert.Equal(t, "98.00%", rateThen(v.Page, counted(98, 2), nil), "of a week or month: its own")
}

// TestWhatIsNotOverIsNotCompared: half a month has fewer failures than a whole one.
func TestWhatIsNotOverIsNotCompared(t *testing.T) {
	for _, kind := range []string{"week", "month", "range"} {
		v := Report{Page: testPage(t), Kind: kind, Now: counted(1000, 131), Then: counted(2000, 159)}
		for _, c := range []compared{v.lostCompared(131, 159, usualFailed), v.rateCompared(v.Now, v.Then, nil)} {
			assert.Equal(t, compared{Text: "not over yet"}, c, kind)
		}
		assert.Equal(t, "Not over yet, so not compared with "+v.Before()+".", v.comparison())
		v.Over = true
		assert.Equal(t, "−28 against "+v.Before(), v.lostCompared(131, 159, usualFailed).Text)
		assert.Equal(t, "worse", v.rateCompared(v.Now, v.Then, nil).Class)
		assert.Contains(t, v.comparison(), "92.63%")
	}
}
