package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/report"
	"github.com/carillon-scheduler/carillon/store"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// BenchmarkReport makes reports of ten million runs of 5000 jobs in 90 days:
//
//	make bench-reports
func BenchmarkReport(b *testing.B) {
	const jobs, days, executors = 5000, 90, 20
	for _, engine := range storetest.Engines() {
		b.Run(engine, func(b *testing.B) {
			st := suite.Open(b, engine, time.UTC)
			db, done, err := st.MigrationDB()
			require.NoError(b, err)
			for g := range executors {
				storetest.Group(b, st, fmt.Sprintf("app-%02d", g), "")
			}
			fillJobs(b, db, 1, jobs)
			_, err = db.Exec(`UPDATE xxl_job_info SET author = CASE WHEN id % 10 = 0 THEN 'li.wei' ELSE 'chen.yu' END`)
			require.NoError(b, err)
			last := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
			began := time.Now()
			for d := range days {
				all := model.Counted{}
				day := last.AddDate(0, 0, -d)
				for j := 1; j <= jobs; j++ {
					for n := range 22 {
						at := day.Add(time.Duration(n) * time.Hour)
						k := model.CountKey{Hour: at.Unix(), JobID: j, GroupID: 1 + j%executors, Line: model.LedgerExpected, Took: -1}
						all.Add(k, 1, 0)
						if k.Line, k.Took = model.OutcomeSucceeded, model.TookBucket(int64(500+j*7+n*11)); (j+n+d)%97 == 0 {
							k.Line, k.Took = model.ReasonError, -1
						}
						all.Add(k, 1, int64(500+j*7+n*11))
					}
				}
				_, err := db.Exec(`INSERT INTO carillon_count_journal (stage, body) VALUES (0, ?)`, all.Encode())
				require.NoError(b, err)
				for range 4 { // so that it is merged and taken in small pieces
					_, err = db.Exec(`INSERT INTO carillon_count_journal (stage, body) VALUES (0, ?)`, model.Counted{}.Encode())
					require.NoError(b, err)
				}
				foldAll(b, st)
			}
			require.NoError(b, done())
			b.Logf("%s: %d fires counted in %s", engine, jobs*days*22, time.Since(began).Round(time.Second))
			for _, x := range []struct {
				name string
				p    report.Period
				f    model.CounterFilter
				l    report.List
			}{
				{"day", report.NewPeriod(report.Day, "2026-11-20", "", "", last), model.CounterFilter{}, report.Failing},
				{"week", report.NewPeriod(report.Week, "2026-11-12", "", "", last), model.CounterFilter{}, report.Failing},
				{"month", report.NewPeriod(report.Month, "2026-10-12", "", "", last), model.CounterFilter{}, report.Failing},
				{"month-slower", report.NewPeriod(report.Month, "2026-10-12", "", "", last), model.CounterFilter{}, report.Slower},
				{"90-days", report.NewPeriod(report.Range, "", "2026-08-25", "2026-11-22", last), model.CounterFilter{}, report.Failing},
				{"month-of-executor", report.NewPeriod(report.Month, "2026-10-12", "", "", last), model.CounterFilter{GroupID: 3}, report.Failing},
				{"month-of-owner", report.NewPeriod(report.Month, "2026-10-12", "", "", last), model.CounterFilter{Owner: "li.wei"}, report.Failing},
				{"90-days-of-owner", report.NewPeriod(report.Range, "", "2026-08-25", "2026-11-22", last), model.CounterFilter{Owner: "li.wei"}, report.Failing},
				{"day-never", report.NewPeriod(report.Day, "2026-11-20", "", "", last), model.CounterFilter{}, report.Never},
			} {
				b.Run(x.name, func(b *testing.B) {
					for b.Loop() {
						r, err := report.Build(b.Context(), st, report.Ask{Period: x.p, Filter: x.f, List: x.l, Today: last}, time.UTC)
						require.NoError(b, err)
						require.Positive(b, r.Now.Expected)
					}
				})
			}
		})
	}
}

func foldAll(b *testing.B, st *store.Store) {
	for more := true; more; {
		var err error
		more, err = st.FoldCounts(context.Background(), time.Unix(1, 0))
		require.NoError(b, err)
	}
}
