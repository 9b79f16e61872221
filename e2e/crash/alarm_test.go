package crash

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/jhillyerd/enmime/v2"
	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/protocol"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// mailbox is an SMTP server that takes its time when told so.
type mailbox struct {
	addr string

	mu   sync.Mutex
	got  map[string][]string // Message-IDs of what was taken, by their mail's subject
	hold func(step string)   // at "greet", "data" and "taken"
}

type mailSession struct{ box *mailbox }

func openMailbox(t *testing.T) *mailbox {
	b := &mailbox{got: map[string][]string{}}
	s := smtp.NewServer(b)
	s.Domain = "localhost"
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	b.addr = l.Addr().String()
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close(); <-done })
	return b
}

func (b *mailbox) at(step string) {
	b.mu.Lock()
	hold := b.hold
	b.mu.Unlock()
	if hold != nil {
		hold(step)
	}
}

// once calls f in the server at the next such step, before the center knows of it.
func (b *mailbox) once(step string, f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var one sync.Once
	b.hold = func(s string) {
		if s == step {
			one.Do(f)
		}
	}
}

func (b *mailbox) taken(subject string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.got[subject]...)
}

func (b *mailbox) NewSession(*smtp.Conn) (smtp.Session, error) {
	b.at("greet")
	return mailSession{b}, nil
}
func (m mailSession) Mail(string, *smtp.MailOptions) error { return nil }
func (m mailSession) Rcpt(string, *smtp.RcptOptions) error { return nil }
func (m mailSession) Reset()                               {}
func (m mailSession) Logout() error                        { return nil }
func (m mailSession) Data(r io.Reader) error {
	m.box.at("data")
	mail, err := enmime.ReadEnvelope(r)
	if err != nil {
		return err
	}
	m.box.mu.Lock()
	s := mail.GetHeader("Subject")
	m.box.got[s] = append(m.box.got[s], mail.GetHeader("Message-ID"))
	m.box.mu.Unlock()
	m.box.at("taken")
	return nil
}

// newFailer is an executor that fails each run at once, through whichever center lives.
func newFailer(t *testing.T, centers func() []string) string {
	c := &counter{token: token, centers: centers, results: make(chan protocol.Callback, 1000)}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/run" {
			var run protocol.Trigger
			_ = json.NewDecoder(r.Body).Decode(&run)
			c.results <- protocol.Callback{LogID: run.LogID, LogDateTime: run.LogDateTime, Code: 500, Msg: "fails on purpose"}
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(protocol.OK(nil))
	}))
	c.done.Go(func() { c.callBack(t.Context()) })
	t.Cleanup(func() { c.done.Wait(); s.Close() })
	return s.URL
}

// alarmWorld is some centers with one database, and where their mails go.
type alarmWorld struct {
	t       *testing.T
	box     *mailbox
	db      *sql.DB
	centers []*center
	jobs    int
}

func newAlarmWorld(t *testing.T, engine string, nodes int) *alarmWorld {
	w := &alarmWorld{t: t, box: openMailbox(t)}
	database := suite.URL(t, engine)
	for n := range nodes {
		c := newCenter(t, database)
		c.args = append(c.args, "--node-name", fmt.Sprint("n", n), "--smtp-url", "smtp://"+w.box.addr+"?tls=none", "--mail-from", "carillon@example.org", "--lang", "en")
		c.start()
		w.centers = append(w.centers, c)
	}
	w.db = open(t, database)
	addExecutor(t, w.db, newFailer(t, func() (urls []string) {
		for _, c := range w.centers {
			urls = append(urls, c.url)
		}
		return urls
	}))
	return w
}

// job writes a new job that fails when it is run, and gives its number.
func (w *alarmWorld) job() int {
	w.t.Helper()
	w.jobs++
	w.centers[0].api("addJob", fmt.Sprintf(`{"jobGroup":1,"name":"Fails %d","author":"crash","scheduleType":"NONE","misfireStrategy":"DO_NOTHING","alarmEmail":"oncall@example.org",
		"executorRouteStrategy":"FIRST","executorHandler":"fail","executorBlockStrategy":"SERIAL_EXECUTION","glueType":"BEAN"}`, w.jobs))
	return w.jobs
}

func (w *alarmWorld) run(job int) {
	w.t.Helper()
	w.centers[0].api("triggerJob", fmt.Sprintf(`{"id":%d,"executorParam":""}`, job))
}

func (w *alarmWorld) count(query string, args ...any) (n int) {
	w.t.Helper()
	require.NoError(w.t, w.db.QueryRowContext(w.t.Context(), query, args...).Scan(&n))
	return n
}

// until waits in small steps for something of the tables or of the mailbox.
func (w *alarmWorld) until(what string, ok func() bool) {
	w.t.Helper()
	require.Eventually(w.t, ok, 20*time.Second, 2*time.Millisecond, what)
}

func subjectOf(job int) string { return fmt.Sprintf("Job trouble: Fails %d", job) }

// told waits for the end of telling of a job: its mail was taken, and that is written down.
func (w *alarmWorld) told(job int) []string {
	w.t.Helper()
	w.until("the job is told of", func() bool {
		return w.count(`SELECT COUNT(*) FROM carillon_outbox o JOIN carillon_incident i ON i.id = o.incident_id WHERE i.job_id = ? AND o.state = 'sent'`, job) > 0
	})
	require.Equal(w.t, 2, w.count(`SELECT MAX(alarm_status) FROM xxl_job_log WHERE job_id = ?`, job))
	return w.box.taken(subjectOf(job))
}

// TestKilledWhileTelling kills the only center at each step between the end of a run and the
// answer to its mail: each job is told of, and told of again only when the server had taken
// the mail and the center did not live to hear it; then with the same Message-ID.
func TestKilledWhileTelling(t *testing.T) {
	for _, engine := range storetest.Engines() {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			w := newAlarmWorld(t, engine, 1)
			c := w.centers[0]
			for _, x := range []struct {
				at    string
				until func(job int) bool
				most  int
			}{
				{"the run has failed", func(job int) bool {
					return w.count(`SELECT COUNT(*) FROM xxl_job_log WHERE job_id = ? AND handle_code = 500`, job) > 0
				}, 1},
				{"it is decided", func(job int) bool {
					return w.count(`SELECT COUNT(*) FROM carillon_incident WHERE job_id = ?`, job) > 0
				}, 2},
				{"it is claimed", nil, 1},
				{"it is being sent", nil, 2}, // what is on its way may arrive after its sender is dead
				{"it was taken", nil, 2},
			} {
				job := w.job()
				killed := make(chan struct{})
				kill := func() { _ = c.cmd.Process.Kill(); _, _ = c.cmd.Process.Wait(); close(killed) }
				switch x.at {
				case "it is claimed":
					w.box.once("greet", kill)
				case "it is being sent":
					w.box.once("data", kill)
				case "it was taken":
					w.box.once("taken", kill)
				}
				w.run(job)
				if x.until != nil {
					w.until(x.at, func() bool { return x.until(job) })
					kill()
				}
				<-killed
				require.NotEqual(t, 2, w.count(`SELECT MAX(alarm_status) FROM xxl_job_log WHERE job_id = ?`, job), "killed too late: %s", x.at)
				c.start()
				ids := w.told(job)
				require.NotEmpty(t, ids, x.at)
				require.LessOrEqual(t, len(ids), x.most, x.at)
				for _, id := range ids {
					require.Equal(t, ids[0], id, x.at)
				}
				if x.at == "it was taken" {
					require.Len(t, ids, 2, "the server had it and nobody knew")
				}
			}
		})
	}
}

// TestTwoAndThreeNodesTellOnce lets jobs fail while nodes that share the work are killed.
func TestTwoAndThreeNodesTellOnce(t *testing.T) {
	for _, nodes := range []int{2, 3} {
		t.Run(fmt.Sprint(nodes), func(t *testing.T) {
			t.Parallel()
			w := newAlarmWorld(t, "mariadb", nodes)
			var jobs []int
			fail := func(n int) {
				for range n {
					job := w.job()
					w.run(job)
					jobs = append(jobs, job)
				}
			}
			fail(6)
			for _, job := range jobs {
				require.Len(t, w.told(job), 1)
			}
			// The last node dies while the others work on.
			w.centers[nodes-1].kill()
			fail(4)
			w.centers[nodes-1].start()
			fail(2)
			for _, job := range jobs {
				ids := w.told(job)
				require.NotEmpty(t, ids)
				require.Len(t, strings.Fields(strings.Join(ids, " ")), 1, "job %d: %v", job, ids)
			}
			require.Equal(t, len(jobs), w.count(`SELECT COUNT(*) FROM carillon_incident`))
			require.Equal(t, len(jobs), w.count(`SELECT COUNT(*) FROM carillon_outbox`))
			require.Zero(t, w.count(`SELECT COUNT(*) FROM carillon_alarm_event`))
		})
	}
}
