package console

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/gzhttp"
)

const (
	indexName = "index.html"
	// assets is the folder of files with a hash of their content in the name.
	assets = "assets/"
	// etagBytes is the length of the SHA-256 prefix that identifies a file's
	// version.
	etagBytes = 16
	// maxFile is the largest file that a function can return, in bytes:
	// Lambda's limit is 6 MB, and base64 adds a third.
	maxFile = 4 << 20
)

// missing explains how to build a missing page.
//
//go:embed missing.html
var missing []byte

// page serves the files of the built page. For every other path it serves
// index.html, whose script interprets the path.
type page struct {
	files map[string]func() (file, error) // by their path under Base; read once
	log   *slog.Logger
}

type file struct {
	body         []byte
	kind         string // Content-Type
	etag         string
	cacheControl string
}

// newPage finds the files of the page. Each is read when it is first requested, since a cold
// start would wait for all, and an instance serves few.
func newPage(files fs.FS, log *slog.Logger) (http.Handler, error) {
	p := page{files: map[string]func() (file, error){}, log: log}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasPrefix(entry.Name(), ".") {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Size() > maxFile {
			return fmt.Errorf("%s has %d bytes, more than the %d that a function can answer", name, info.Size(), maxFile)
		}
		p.files[name] = sync.OnceValues(func() (file, error) { return readFile(files, name) })
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the console's page: %w", err)
	}
	compressed, err := gzhttp.NewWrapper()
	if err != nil {
		return nil, fmt.Errorf("compress the console's page: %w", err)
	}
	return compressed(http.HandlerFunc(p.serve)), nil
}

func readFile(files fs.FS, name string) (file, error) {
	body, err := fs.ReadFile(files, name)
	if err != nil {
		return file{}, fmt.Errorf("read the console's page: %w", err)
	}
	sum := sha256.Sum256(body)
	f := file{
		body: body, kind: kindOf(name), cacheControl: "no-cache",
		etag: `W/"` + hex.EncodeToString(sum[:etagBytes]) + `"`, // weak: the same for all encodings
	}
	if strings.HasPrefix(name, assets) {
		f.cacheControl = "public, max-age=31536000, immutable"
	}
	return f, nil
}

// kindOf returns a file's media type. The types of the page's own files must
// not depend on the machine's list, which Lambda does not have.
func kindOf(name string) string {
	switch extension := path.Ext(name); extension {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".ico":
		return "image/x-icon"
	case ".woff2":
		return "font/woff2"
	case ".webmanifest":
		return "application/manifest+json"
	case ".txt":
		return "text/plain; charset=utf-8"
	default:
		return cmp.Or(mime.TypeByExtension(extension), "application/octet-stream")
	}
}

func (p page) serve(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, Base), "/")
	read, ok := p.files[name]
	if !ok && strings.HasPrefix(name, assets) {
		// A page loaded before a deployment requests a file that no longer
		// exists.
		http.NotFound(w, r)
		return
	}
	if !ok {
		read, ok = p.files[indexName]
	}
	if !ok {
		serveMissing(w)
		return
	}
	f, err := read()
	if err != nil {
		p.log.ErrorContext(r.Context(), "a file of the console is not served", "error", err)
		http.Error(w, "the file cannot be read", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Cache-Control", f.cacheControl)
	h.Set("Etag", f.etag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.body))
}

func serveMissing(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = w.Write(missing) // the caller may have left
}
