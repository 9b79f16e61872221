package console

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"net/http"
	"regexp"
	"strings"

	"github.com/a-h/templ"
)

// A panel that refreshes itself asks every few seconds. It says with haveHeader what it
// shows, as it was told in partsHeader: one number for its frame and one for each of its
// lines. Nothing new costs no body; when only lines have changed they come alone.
const (
	haveHeader  = "Carillon-Have"
	partsHeader = "Carillon-Parts"
)

// relative matches what the browser goes on with by itself: how long ago something was.
var relative = regexp.MustCompile(`(<time data-rel[^>]*>)[^<]*`)

// line is one row of a table that has an id.
type line struct {
	id   string
	html []byte
	sum  uint32
}

// livePanel is a drawn panel, taken apart.
type livePanel struct {
	frame uint32 // of everything but the lines, and of their order
	lines []line
}

func sum(html []byte) uint32 {
	h := fnv.New32a()
	_, _ = h.Write(relative.ReplaceAll(html, []byte("$1"))) // a hash takes everything
	return h.Sum32()
}

// takeApart finds the lines of a panel. Our own templates drew it: no line has another inside.
func takeApart(html []byte) livePanel {
	const begin, end = `<tr id="`, `</tr>`
	var p livePanel
	var frame bytes.Buffer
	for {
		at := bytes.Index(html, []byte(begin))
		if at < 0 {
			break
		}
		to := bytes.Index(html[at:], []byte(end))
		quote := bytes.IndexByte(html[at+len(begin):], '"')
		if to < 0 || quote < 0 {
			break
		}
		to += at + len(end)
		id := string(html[at+len(begin) : at+len(begin)+quote])
		frame.Write(html[:at])
		frame.WriteString(id)
		p.lines = append(p.lines, line{id, html[at:to], sum(html[at:to])})
		html = html[to:]
	}
	frame.Write(html)
	p.frame = sum(frame.Bytes())
	return p
}

// String is what the browser keeps of a panel.
func (p livePanel) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%x", p.frame)
	for _, l := range p.lines {
		fmt.Fprintf(&b, " %x", l.sum)
	}
	return b.String()
}

// news gives the lines that differ from what the browser has. It reports false when it
// needs the whole panel. The frame names the lines in their order, so they need no names.
func (p livePanel) news(have string) (changed []line, ok bool) {
	known := strings.Fields(have)
	if len(known) != len(p.lines)+1 || known[0] != fmt.Sprintf("%x", p.frame) {
		return nil, false
	}
	for i, l := range p.lines {
		if known[i+1] != fmt.Sprintf("%x", l.sum) {
			changed = append(changed, l)
		}
	}
	return changed, true
}

// draw gives a component as bytes: a failure can still become an error page then.
func draw(ctx context.Context, component templ.Component) ([]byte, error) {
	var b bytes.Buffer
	err := component.Render(ctx, &b)
	return b.Bytes(), err
}

// renderLive answers a panel that refreshes itself with what is new to it.
func (r *request) renderLive(status int, panel templ.Component) error {
	html, err := draw(r.Request().Context(), panel)
	if err != nil {
		return err
	}
	if !bytes.Contains(html, []byte("data-live")) {
		return r.send(status, html)
	}
	p, have := takeApart(html), r.Request().Header.Get(haveHeader)
	changed, ok := p.news(have)
	if ok && len(changed) == 0 {
		return r.nothingNew()
	}
	h := r.Response().Header()
	h.Set(partsHeader, p.String())
	if !ok {
		return r.send(status, html)
	}
	var b bytes.Buffer
	b.WriteString("<template>")
	for _, l := range changed {
		b.WriteString(`<tr hx-swap-oob="morph"`)
		b.Write(l.html[len("<tr"):])
	}
	b.WriteString("</template>")
	h.Set("HX-Reswap", "none")
	r.lighten()
	return r.send(status, b.Bytes())
}

// nothingNew answers a poll that brings nothing, in few bytes.
func (r *request) nothingNew() error {
	r.lighten()
	r.Response().Header().Del("X-Content-Type-Options") // of a body
	return r.NoContent(http.StatusNoContent)
}

// lighten takes the headers away that protect pages: what a script asked for is none, and
// nothing may keep it.
func (r *request) lighten() {
	h := r.Response().Header()
	for _, name := range []string{"Content-Security-Policy", "Referrer-Policy", "Cross-Origin-Opener-Policy", "Vary"} {
		h.Del(name)
	}
}
