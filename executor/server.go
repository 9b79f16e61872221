package executor

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/carillon-scheduler/carillon/protocol"
)

// serveHTTP answers the center. Like the original it answers HTTP 200 whatever
// comes and tells success by the code; the order of the checks is method,
// token, path (reference: protocol.md 1.3).
func (e *Executor) serveHTTP(w http.ResponseWriter, r *http.Request) {
	a := e.answer(w, r)
	body, err := json.Marshal(a)
	if err != nil {
		e.log.Error("answer cannot be written", "path", r.URL.Path, "error", err)
		body = []byte(`{"code":500,"msg":"internal error"}`)
	}
	w.Header().Set("Content-Type", "application/json;charset=UTF-8")
	if _, err := w.Write(body); err != nil {
		e.log.Debug("caller went away", "path", r.URL.Path, "error", err)
	}
}

func (e *Executor) answer(w http.ResponseWriter, r *http.Request) protocol.Answer {
	switch {
	case r.Method != http.MethodPost:
		return protocol.Fail("only POST is understood here")
	case !e.allowed(r.Header.Get(protocol.HeaderToken)):
		return protocol.Fail("the access token is wrong")
	}
	switch r.URL.Path {
	case "/beat":
		a := e.answerBeat()
		a.About = e.about(false)
		return a
	case "/idleBeat":
		return withBody(w, r, e.answerIdleBeat)
	case "/globalIdleBeat":
		return e.answerIdleBeat(protocol.IdleBeat{})
	case "/run", "/trigger": // G2, G3 and G4
		return withBody(w, r, e.submit)
	case "/kill":
		return withBody(w, r, func(k protocol.Kill) protocol.Answer { return e.kill(k.JobID) })
	case "/log":
		return withBody(w, r, e.answerLog)
	}
	return protocol.Fail("there is no %s here", r.URL.Path)
}

// withBody decodes the body for a function.
func withBody[T any](w http.ResponseWriter, r *http.Request, f func(T) protocol.Answer) protocol.Answer {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, protocol.MaxBody))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return protocol.Fail("the request is larger than %d bytes", protocol.MaxBody)
	}
	if err != nil {
		return protocol.Fail("the request broke off: %v", err)
	}
	var v T
	if err := protocol.Decode(body, &v); err != nil {
		return protocol.Fail("the request is not understood: %v", err)
	}
	return f(v)
}

// allowed compares the token in constant time; the hashes hide its length.
func (e *Executor) allowed(token string) bool {
	if e.o.AccessToken == "" {
		return true
	}
	got, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(e.o.AccessToken))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

// answerBeat says whether runs are taken, so that FAILOVER passes by an
// executor that stops.
func (e *Executor) answerBeat() protocol.Answer {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.phase != started {
		return protocol.Fail("this executor is stopping")
	}
	return protocol.OK(nil)
}

// answerIdleBeat answers for one job, or for all when the id is 0.
func (e *Executor) answerIdleBeat(b protocol.IdleBeat) protocol.Answer {
	if a := e.answerBeat(); a.Code != protocol.CodeSuccess {
		return a
	}
	if e.busy(b.JobID) {
		return protocol.Fail("busy")
	}
	return protocol.OK(nil)
}

func (e *Executor) answerLog(req protocol.LogRequest) protocol.Answer {
	// Ask first: what ends meanwhile is read to its end by the next call.
	finished := !e.isActive(req.LogID)
	res, err := e.reader.read(logPath(e.logDir, req.LogID, req.Time()), req.FromLineNum, finished)
	if err != nil {
		e.log.Warn("log of a run cannot be read", "log_id", req.LogID, "error", err)
		return protocol.Fail("the log cannot be read: %v", err)
	}
	known := !finished || res.ToLineNum > 0 || !res.IsEnd
	if !known {
		_, err := os.Stat(logPath(e.logDir, req.LogID, req.Time()))
		known = err == nil || e.isActive(req.LogID) // it may have come meanwhile
	}
	res.Known = &known
	return protocol.OK(res)
}

// acceptable says why a trigger can never be run here.
func (e *Executor) acceptable(tr protocol.Trigger) error {
	if tr.JobID <= 0 || tr.LogID <= 0 {
		return fmt.Errorf("jobId %d or logId %d is no positive number", tr.JobID, tr.LogID)
	}
	if tr.GlueType == glueBean {
		if e.handler(tr.Handler) == nil {
			return noHandler(tr.Handler)
		}
		return nil
	}
	if _, ok := scriptKinds()[tr.GlueType]; !ok {
		return fmt.Errorf("this executor does not run glueType %q; it knows BEAN, GLUE_SHELL and GLUE_PYTHON", tr.GlueType)
	}
	if e.o.NoScripts {
		return &refusal{"scripts are switched off on this executor", protocol.Say("sdk_scripts_off")}
	}
	return nil
}
