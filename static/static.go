// Package static holds the style sheets, scripts and icons of the console,
// embedded in the binary. Each file is served under a name that contains the
// hash of its content, so browsers may keep it for ever and never see a stale
// one after an upgrade.
package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
)

//go:embed app vendor
var embedded embed.FS

// Prefix is the path below which the files are served.
const Prefix = "/static/"

// Files serves the embedded files.
type Files struct {
	byName map[string]*file // "app.css"
	byURL  map[string]*file // "app.0123456789ab.css"
}

type file struct {
	url, ctype, etag string
	// raw reads the file: a copy of all files would be more than what else a center at
	// rest keeps in memory.
	raw func() ([]byte, error)
	// packed gives the gzip form, made when somebody first asks for it.
	packed func() ([]byte, error)
}

// New reads the embedded files and computes their names.
func New() (*Files, error) { return newFrom(embedded) }

func newFrom(fsys fs.FS) (*Files, error) {
	f := &Files{byName: map[string]*file{}, byURL: map[string]*file{}}
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		ctype := contentType(p)
		if ctype == "" {
			return nil // licence and version files stay inside the binary
		}
		hash, err := hashOf(fsys, p)
		if err != nil {
			return err
		}
		name := path.Base(p)
		if _, twice := f.byName[name]; twice {
			return fmt.Errorf("static: two files are called %s", name)
		}
		raw := func() ([]byte, error) { return fs.ReadFile(fsys, p) }
		ext := path.Ext(name)
		one := &file{
			url: strings.TrimSuffix(name, ext) + "." + hash + ext, ctype: ctype, etag: `"` + hash + `"`, raw: raw,
			packed: sync.OnceValues(func() ([]byte, error) {
				content, err := raw()
				return pack(content), err
			}),
		}
		f.byName[name], f.byURL[one.url] = one, one
		return nil
	})
	return f, err
}

// hashOf is what stands for the content of a file in its name.
func hashOf(fsys fs.FS, name string) (string, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	return hex.EncodeToString(sum.Sum(nil)[:6]), errors.Join(err, f.Close())
}

// URL gives the path of a file by its plain name, such as "app.css". An
// unknown name gives a path that answers 404.
func (f *Files) URL(name string) string {
	if one, ok := f.byName[name]; ok {
		return Prefix + one.url
	}
	return Prefix + name
}

// Names lists the plain names of all files.
func (f *Files) Names() []string {
	names := make([]string, 0, len(f.byName))
	for n := range f.byName {
		names = append(names, n)
	}
	return names
}

// ServeHTTP serves paths that end in a hashed name; what stands before the
// last slash does not matter, so it works under any base path.
func (f *Files) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	one, ok := f.byURL[path.Base(r.URL.Path)]
	if !ok {
		http.NotFound(w, r)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, http.StatusText(http.StatusMethodNotAllowed), http.StatusMethodNotAllowed)
		return
	}
	h := w.Header()
	h.Set("Content-Type", one.ctype)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("ETag", one.etag)
	h.Set("Vary", "Accept-Encoding")
	h.Set("X-Content-Type-Options", "nosniff")
	if strings.Contains(r.Header.Get("If-None-Match"), one.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	read := one.raw
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		read = one.packed
	}
	body, err := read()
	if err != nil { // not of an embedded file
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	h.Set("Content-Length", fmt.Sprint(len(body)))
	if r.Method == http.MethodGet {
		// A client that went away is no error of ours.
		_, _ = w.Write(body)
	}
}

// contentType is that of a file; "" = it is not served. What the machine says in its
// mime.types is not asked: it may be wrong, and would stay in memory.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml; charset=utf-8"
	}
	return ""
}

func pack(raw []byte) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is valid
	_, _ = z.Write(raw)                                   // a buffer takes everything
	_ = z.Close()
	return b.Bytes()
}
