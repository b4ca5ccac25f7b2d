// Package archives serves exports and imports of sessions over HTTP.
package archives

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"

	"github.com/klauspost/compress/gzip"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/problem"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/archive"
	"github.com/rethread/rethread/shared/transport/rest"
)

// api holds the handlers.
type api struct{ *rest.API }

// exportBuffer is how much of a document is buffered before it is sent: an
// error before that is answered with a problem. Most documents are shorter.
const exportBuffer = 1 << 20

// Export streams whole sessions as documents.
func Export(c rest.Config) http.Handler {
	a := &api{rest.NewAPI(c)}
	for _, base := range []string{rest.Versioned, rest.Bare} {
		a.Mux.Get(base+"/sessions/{session_id}/export", a.exportSession)
	}
	return a.Mux
}

// exportSession writes a session while it reads it. An error after the
// beginning leaves a document without its end, which readers recognise as
// incomplete.
func (a *api) exportSession(w http.ResponseWriter, r *http.Request) {
	c := a.NewCall(r)
	d := &download{w: w, c: c}
	err := a.export(c, d)
	switch {
	case err == nil:
	case !d.begun:
		a.Write(w, c, a.Problem(c, err))
	default:
		level := slog.LevelError
		if _, expected := problem.Of(err); expected || r.Context().Err() != nil { // the session changed or the caller has left
			level = slog.LevelWarn
		}
		a.Log.Log(r.Context(), level, "an export was interrupted", "path", c.URL.Path, "error", err)
	}
}

func (a *api) export(c *rest.Call, d *download) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	if c.User == "" {
		return fault.New(fault.Unauthorized, "no identity: send a bearer token")
	}
	if d.id, err = c.SessionID(); err != nil {
		return err
	}
	var out io.Writer = d
	var zip *gzip.Writer
	if rest.AcceptsGzip(c.Header) {
		zip = gzip.NewWriter(d)
		out, d.encoding = zip, "gzip"
	}
	held := bufio.NewWriterSize(out, exportBuffer)
	err = a.Gate.Do(c.Context(), c.Caller, d.id, access.Export, func(p access.Permission) error {
		return a.Exports.Export(c.Context(), p.Owner, d.id, archive.NewWriter(held))
	})
	if err != nil {
		return err
	}
	if err := held.Flush(); err != nil {
		return fmt.Errorf("send the document: %w", err)
	}
	if zip != nil {
		if err := zip.Close(); err != nil {
			return fmt.Errorf("send the document: %w", err)
		}
	}
	return nil
}

// download is a document that is being sent; the first bytes send the head.
type download struct {
	w        http.ResponseWriter
	c        *rest.Call
	id       string
	encoding string
	begun    bool
}

// Write implements io.Writer.
func (d *download) Write(p []byte) (int, error) {
	if !d.begun {
		d.begun = true
		h := d.w.Header()
		h.Set("Content-Type", rest.JSONType)
		h.Set("Content-Disposition", "attachment; filename*=UTF-8''"+url.PathEscape(d.id)+".json")
		h.Set("X-Request-Id", d.c.RequestID)
		h.Set("Cache-Control", "no-store")
		h.Set("Vary", "Accept-Encoding")
		if d.encoding != "" {
			h.Set("Content-Encoding", d.encoding)
		}
		d.w.WriteHeader(http.StatusOK)
	}
	return d.w.Write(p)
}
