package console

import (
	"net/http"
	"strconv"
	"sync"
)

// A form that makes something new carries a name of its own. Sent twice, by an impatient
// double click, it is done once, and both answers lead to the same thing.

// mostOnce bounds how many forms are remembered: those of the last minutes.
const mostOnce = 1000

// once remembers which forms were done, and where they led.
type once struct {
	mu    sync.Mutex
	forms map[string]*onceForm
	order []string
}

type onceForm struct {
	done chan struct{} // closed when it is known what came of it
	to   string        // where it led, "" when it was not taken
}

// begin gives the form of that name, and whether the caller is the first to send it.
func (o *once) begin(name string) (*onceForm, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if f, ok := o.forms[name]; ok {
		return f, false
	}
	if len(o.order) >= mostOnce {
		delete(o.forms, o.order[0])
		o.order = o.order[1:]
	}
	f := &onceForm{done: make(chan struct{})}
	o.forms[name], o.order = f, append(o.order, name)
	return f, true
}

// end notes where a form led. One that was refused may be sent again.
func (o *once) end(name string, f *onceForm, to string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if f.to = to; to == "" && o.forms[name] == f {
		delete(o.forms, name)
	}
	close(f.done)
}

// doOnce runs the handler, or answers as the first sending of the same form was answered.
func (c *Console) doOnce(r *request, do handler) error {
	name := r.Request().PostForm.Get("once")
	if r.Request().Method != http.MethodPost || name == "" || len(name) > 40 || r.user == nil {
		return do(r)
	}
	name = strconv.Itoa(r.user.ID) + " " + r.Request().URL.Path + " " + name
	for {
		f, first := c.once.begin(name)
		if first {
			to := ""
			defer func() { c.once.end(name, f, to) }() // also when it panics
			err := do(r)
			if h := r.Response().Header(); err == nil && r.Response().Committed && r.Response().Status < 400 {
				if to = h.Get("HX-Redirect"); to == "" {
					to = h.Get("Location")
				}
			}
			return err
		}
		select {
		case <-f.done:
		case <-r.Request().Context().Done():
			return r.Request().Context().Err()
		}
		switch {
		case f.to == "": // refused: this one has its own turn
		case r.htmx():
			r.Response().Header().Set("HX-Redirect", f.to)
			return r.NoContent(http.StatusNoContent)
		default:
			return r.Redirect(http.StatusSeeOther, f.to)
		}
	}
}
