package console

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/store/storetest"
)

// TestManyAddresses: of an executor with hundreds of addresses a few are shown, those in
// trouble first, and the rest behind a link that needs no JavaScript.
func TestManyAddresses(t *testing.T) {
	w := newTown(t)
	var list []string
	for i := range 300 {
		list = append(list, fmt.Sprintf("http://10.1.%d.%d:9999/", i/100, i%100))
	}
	g := storetest.Group(t, w.st, "many-app", strings.Join(list, ","))
	twelve := storetest.Group(t, w.st, "twelve-app", strings.Join(list[:12], ","))
	now := time.Now()
	require.NoError(t, w.st.NoteCalls(t.Context(), []model.LastCall{{Address: list[250], AtMS: now.UnixMilli(), Reason: "unreachable", Text: "refused"}}))
	w.as("root", http.MethodPost, fmt.Sprint("/executors/", g.ID, "/drain"), "address="+list[200])
	nodes := func(path string) (first []string, n int, link string) {
		path, _, _ = strings.Cut(path, "#")
		d := w.doc(w.as("root", http.MethodGet, path, ""))
		rows := d.Find(fmt.Sprintf(`tbody[aria-labelledby="executor-name-%d"] [data-testid=node]`, g.ID))
		for i := range rows.Nodes {
			a, _ := rows.Eq(i).Attr("data-address")
			first = append(first, a)
		}
		assert.Equal(t, 12, d.Find(fmt.Sprintf(`tbody[aria-labelledby="executor-name-%d"] [data-testid=node]`, twelve.ID)).Length(), "two more are no reason to hide them")
		link, _ = testid(d, "all-addresses").Attr("href")
		return first, rows.Length(), link
	}
	first, n, link := nodes("/executors")
	assert.Equal(t, 10, n)
	assert.Equal(t, []string{list[250], list[200], list[0]}, first[:3])
	_, n, back := nodes(link)
	assert.Equal(t, 300, n)
	_, n, _ = nodes(back)
	assert.Equal(t, 10, n)
	d := w.doc(w.as("root", http.MethodGet, "/executors?q=10.1.2.99", ""))
	assert.Equal(t, 1, testid(d, "node").Length(), "what is searched for is found among the folded")
	address, _ := testid(d, "node").Attr("data-address")
	assert.Equal(t, list[299], address)
}
