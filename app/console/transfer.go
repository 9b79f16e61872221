package console

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/carillon-scheduler/carillon/jobfile"
	"github.com/carillon-scheduler/carillon/jobs"
	"github.com/carillon-scheduler/carillon/model"
	"github.com/carillon-scheduler/carillon/views"
)

const (
	importPath = "/jobs/import"
	// maxUpload is read of an upload, so that one that is too large gets its answer
	// and not a broken connection; jobfile takes less.
	maxUpload = 128 << 20
	// mostItems is how many jobs of a plan are shown, mostShown how much of a value.
	mostItems  = 300
	mostShown  = 4000
	importTime = 15 * time.Minute
	// importsAtOnce bounds the memory that reading files takes.
	importsAtOnce = 2
	importWait    = 20 * time.Second
)

// jobExport gives the jobs of the current filter as a file.
func (c *Console) jobExport(r *request) error {
	f := jobFilter(r, bindJobFilter(r))
	ids, err := readIDs(r.QueryParam("ids"))
	if err != nil {
		return err
	}
	for _, id := range ids {
		if id <= model.MaxID { // others are no jobs
			f.IDs = append(f.IDs, int(id))
		}
	}
	if len(ids) > 0 && len(f.IDs) == 0 {
		return model.Errf(model.CodeNotFound, "error.not_found")
	}
	docs, err := c.svc.ExportJobs(r.Request().Context(), r.actor(), f)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := jobfile.Write(&b, docs); err != nil {
		return err
	}
	r.Response().Header().Set(echo.HeaderContentDisposition, `attachment; filename="jobs-`+r.now.Format("2006-01-02")+`.yaml"`)
	return r.Blob(http.StatusOK, "application/yaml; charset=utf-8", b.Bytes())
}

func (c *Console) jobImportForm(r *request) error {
	return c.drawImport(r, http.StatusOK, views.Import{})
}

func (c *Console) drawImport(r *request, status int, v views.Import) error {
	v.Page = r.page("jobs", r.loc.T("import.title"))
	return r.render(status, views.ImportPage(v))
}

// upload is what the form of an import sends.
type upload struct {
	raw                         []byte
	pasted                      []byte
	executors, digest, do, mode string
}

// readUpload reads the parts as they come and keeps no more of each than is taken.
func readUpload(req *http.Request) (u upload, err error) {
	parts, err := req.MultipartReader()
	if err != nil {
		return u, echo.NewHTTPError(http.StatusBadRequest).SetInternal(err)
	}
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			if len(u.raw) == 0 {
				u.raw = u.pasted
			}
			return u, nil
		}
		if err != nil {
			return u, err
		}
		switch part.FormName() {
		case "file":
			u.raw, err = keep(part, jobfile.MaxBytes+1)
		case "text":
			u.pasted, err = keep(part, jobfile.MaxBytes+1)
		default:
			var text []byte
			text, err = keep(part, 64<<10)
			switch part.FormName() {
			case "executors":
				u.executors = string(text)
			case "digest":
				u.digest = string(text)
			case "do":
				u.do = string(text)
			case "status":
				u.mode = string(text)
			}
		}
		if err != nil {
			return u, err
		}
	}
}

// keep reads a part to its end and gives the beginning of it.
func keep(part *multipart.Part, most int64) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(part, most))
	if err == nil {
		_, err = io.Copy(io.Discard, part)
	}
	return raw, err
}

// waitForImport waits until few enough files are being read.
func (c *Console) waitForImport(ctx context.Context) error {
	select {
	case c.importing <- struct{}{}:
		return nil
	default:
	}
	select {
	case c.importing <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-c.clock.After(importWait):
		return model.Errf(model.CodeTooMany, "import.busy")
	}
}

// jobImport shows what a file would change, and changes it when that was seen.
func (c *Console) jobImport(r *request) error {
	if err := c.waitForImport(r.Request().Context()); err != nil {
		return err
	}
	defer func() { <-c.importing }()
	u, err := readUpload(r.Request())
	if err != nil {
		return err
	}
	// Thousands of jobs take longer than the server gives a page. Recorders have no deadline.
	_ = http.NewResponseController(r.Response()).SetWriteDeadline(c.clock.Now().Add(importTime))
	ctx := r.Request().Context()
	v := views.Import{Executors: strings.ToValidUTF8(u.executors, "?"), Status: u.mode != ""}
	executors, err := numbers(u.executors)
	var docs []model.JobDoc
	if err == nil {
		docs, err = jobfile.Read(u.raw, executors)
	}
	if e, ok := errors.AsType[*jobfile.Error](err); ok {
		if e.Key != "import.too_large" && e.Key != "import.not_utf8" {
			v.Text = string(u.raw)
		}
		v.Error = r.loc.Error(e.Key, e.Args)
		if e.Line > 0 {
			v.Error = r.loc.T("import.line", "Line", e.Line, "Text", v.Error)
		}
		return c.drawImport(r, http.StatusUnprocessableEntity, v)
	}
	if err != nil {
		return err
	}
	v.Text = string(u.raw)
	o, status := jobs.ImportOptions{Status: v.Status}, http.StatusOK
	var plan jobs.ImportPlan
	if u.do == "apply" && u.digest != "" {
		// Gone on with when the browser goes: half of a file is worse.
		plan, err = c.svc.ImportJobs(context.WithoutCancel(ctx), r.actor(), docs, o, u.digest)
	} else {
		plan, err = c.svc.PlanImport(ctx, r.actor(), docs, o)
	}
	switch model.CodeOf(err) {
	case model.CodeInvalid, model.CodeConflict:
		v.Error, status = message(r.loc, err), statusOf(err)
	default:
		if err != nil {
			return err
		}
		if u.do == "apply" && u.digest != "" && !failed(plan) {
			return r.leave(c.path("/jobs?all=1"), r.loc.T("import.done", "New", plan.New, "Changed", plan.Changed, "Same", plan.Same))
		}
	}
	v.Plan = c.planView(r, plan, u.do == "apply" && err == nil)
	return c.drawImport(r, status, v)
}

func failed(p jobs.ImportPlan) bool {
	for i := range p.Items {
		if p.Items[i].Err != nil {
			return true
		}
	}
	return false
}

// planView draws the jobs that change or cannot be, those that cannot be first.
func (c *Console) planView(r *request, p jobs.ImportPlan, done bool) *views.ImportPlan {
	out := &views.ImportPlan{New: p.New, Changed: p.Changed, Same: p.Same, Bad: p.Bad, Digest: p.Digest, Done: done}
	for _, bad := range []bool{true, false} {
		for i := range p.Items {
			it := &p.Items[i]
			if (it.Err != nil) != bad || it.Kind == jobs.ImportSame {
				continue
			}
			if len(out.Items) == mostItems {
				out.More++
				continue
			}
			item := views.ImportItem{Key: it.Key, Kind: string(it.Kind), Line: it.Line}
			if it.Err != nil {
				item.Error = r.loc.T("import.line", "Line", it.Line, "Text", c.importProblem(r, it.Err))
			}
			for _, ch := range it.Changes {
				item.Changes = append(item.Changes, views.FieldChange{Field: ch.Field, Old: beginning(ch.Old), New: beginning(ch.New)})
			}
			out.Items = append(out.Items, item)
		}
	}
	return out
}

// importProblem says why one job cannot be; what is not meant for people is logged.
func (c *Console) importProblem(r *request, err error) string {
	if _, ok := errors.AsType[*model.Error](err); !ok {
		c.log.LogAttrs(r.Request().Context(), slog.LevelError, "a job could not be imported", slog.String("request_id", r.id), slog.Any("error", err))
		return r.loc.T("error.internal", "ID", r.id)
	}
	fields := fieldMessages(r.loc, err)
	if len(fields) == 0 {
		return message(r.loc, err)
	}
	var out []string
	for _, name := range sortedKeys(fields) {
		out = append(out, name+": "+fields[name])
	}
	return strings.Join(out, " · ")
}

func beginning(text string) string {
	if runes := []rune(text); len(runes) > mostShown {
		return string(runes[:mostShown]) + "…"
	}
	return text
}

// numbers reads which executor a number of a file is here.
func numbers(text string) (map[int]string, error) {
	out := map[int]string{}
	for part := range strings.FieldsFuncSeq(text, func(c rune) bool { return c == '\n' || c == '\r' || c == ',' || c == ';' }) {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		n, app, ok := strings.Cut(part, "=")
		id, err := strconv.Atoi(strings.TrimSpace(n))
		if !ok || err != nil || strings.TrimSpace(app) == "" {
			return nil, &jobfile.Error{Key: "import.executors_bad", Args: map[string]any{"Value": part}}
		}
		out[id] = strings.TrimSpace(app)
	}
	return out, nil
}
