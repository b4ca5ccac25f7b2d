package console_test

import (
	"compress/gzip"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/transport/console"
)

const (
	index  = "<!doctype html><title>Rethread</title>"
	script = "/console/assets/app-B2fW.js"
)

// long is a script large enough for compression.
func long() string { return strings.Repeat("export const a = 1;\n", 500) }

func built() fstest.MapFS {
	return fstest.MapFS{
		".gitkeep":             {},
		"index.html":           {Data: []byte(index)},
		"icon.svg":             {Data: []byte("<svg/>")},
		"assets/app-B2fW.js":   {Data: []byte(long())},
		"assets/font-9x.woff2": {Data: []byte{0, 1, 0xff, 0xfe}},
		"assets/app-Cx.css":    {Data: []byte("a{}")},
	}
}

func config() console.Config {
	return console.Config{
		Page: built(), WatchURL: "wss://ws.example/live", Client: http.DefaultClient, Log: slog.New(slog.DiscardHandler),
	}
}

func mustNew(t *testing.T, c console.Config) http.Handler {
	t.Helper()
	handler, err := console.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return handler
}

// send makes a request; headers are name, value pairs.
func send(t *testing.T, h http.Handler, method, path string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "http://api.example/", http.NoBody)
	r.URL.Path = path
	for header := range slices.Chunk(headers, 2) {
		r.Header.Set(header[0], header[1])
	}
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, r)
	return recorder
}

func TestPage(t *testing.T) {
	h := mustNew(t, config())
	for _, test := range []struct {
		name, path, kind, cache, body string
		status                        int
	}{
		{"index.html at the base path", "/console", "text/html; charset=utf-8", "no-cache", index, 200},
		{"index.html with a slash", "/console/", "text/html; charset=utf-8", "no-cache", index, 200},
		{"index.html by name", "/console/index.html", "text/html; charset=utf-8", "no-cache", index, 200},
		{"index.html for a path of the page", "/console/sessions/S1", "text/html; charset=utf-8", "no-cache", index, 200},
		{"index.html for a session id like a file name", "/console/sessions/report.v2 ü.js", "text/html; charset=utf-8", "no-cache", index, 200},
		{"scripts are immutable", script, "text/javascript; charset=utf-8", "public, max-age=31536000, immutable", long(), 200},
		{
			"fonts are immutable", "/console/assets/font-9x.woff2", "font/woff2",
			"public, max-age=31536000, immutable", "\x00\x01\xff\xfe", 200,
		},
		{"a file without a hash is revalidated", "/console/icon.svg", "image/svg+xml", "no-cache", "<svg/>", 200},
		{"404 for an unknown script", "/console/assets/app-old.js", "text/plain; charset=utf-8", "", "404 page not found\n", 404},
		{"hidden files are not served", "/console/.gitkeep", "text/html; charset=utf-8", "no-cache", index, 200},
		{"404 outside the base path", "/consolex", "text/plain; charset=utf-8", "", "404 page not found\n", 404},
	} {
		t.Run(test.name, func(t *testing.T) {
			res := send(t, h, http.MethodGet, test.path)
			got := []any{res.Code, res.Header().Get("Content-Type"), res.Header().Get("Cache-Control"), res.Body.String()}
			if diff := cmp.Diff([]any{test.status, test.kind, test.cache, test.body}, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	t.Run("the root redirects to the console", func(t *testing.T) {
		if res := send(t, h, http.MethodGet, "/"); res.Code != 302 || res.Header().Get("Location") != "/console" {
			t.Errorf("%d to %q", res.Code, res.Header().Get("Location"))
		}
	})
	t.Run("no path leaves the console", func(t *testing.T) {
		for _, path := range []string{"/console/../go.mod", "/console/assets/../../go.mod", "/console/..", "/console//../../etc/passwd"} {
			res := send(t, h, http.MethodGet, path)
			if to := res.Header().Get("Location"); res.Code/100 != 3 || strings.Contains(to, "..") {
				t.Errorf("%s: %d to %q", path, res.Code, to)
			}
		}
	})
	t.Run("405 for other methods", func(t *testing.T) {
		if res := send(t, h, http.MethodPost, "/console"); res.Code != http.StatusMethodNotAllowed {
			t.Errorf("status %d", res.Code)
		}
	})
}

func TestTransport(t *testing.T) {
	h := mustNew(t, config())
	t.Run("returns 304 for a current ETag", func(t *testing.T) {
		for _, path := range []string{"/console", script} {
			etag := send(t, h, http.MethodGet, path).Header().Get("Etag")
			res := send(t, h, http.MethodGet, path, "If-None-Match", etag, "Accept-Encoding", "gzip")
			if etag == "" || res.Code != http.StatusNotModified || res.Body.String() != "" {
				t.Errorf("%s: ETag %q, %d", path, etag, res.Code)
			}
		}
	})
	t.Run("changes the ETag with the content", func(t *testing.T) {
		c := config()
		c.Page = fstest.MapFS{"index.html": {Data: []byte(index + " ")}}
		old, changed := send(t, h, http.MethodGet, "/console"), send(t, mustNew(t, c), http.MethodGet, "/console")
		if old.Header().Get("Etag") == changed.Header().Get("Etag") {
			t.Error("the ETag is the same")
		}
	})
	t.Run("compresses text for clients that accept it", func(t *testing.T) {
		res := send(t, h, http.MethodGet, script, "Accept-Encoding", "gzip, br")
		if res.Header().Get("Content-Encoding") != "gzip" || res.Header().Get("Vary") != "Accept-Encoding" {
			t.Fatalf("headers %v", res.Header())
		}
		text, err := gzip.NewReader(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(text); err != nil || string(got) != long() {
			t.Errorf("%v: %d bytes", err, len(got))
		}
	})
	t.Run("answers HEAD without a body", func(t *testing.T) {
		res := send(t, h, http.MethodHead, script)
		if res.Code != 200 || res.Header().Get("Etag") == "" || res.Body.String() != "" {
			t.Errorf("%d %v", res.Code, res.Header())
		}
	})
	t.Run("refuses a file above Lambda's limit at the start", func(t *testing.T) {
		c := config()
		c.Page = fstest.MapFS{"assets/big.js": {Data: make([]byte, 4<<20+1)}}
		if _, err := console.New(c); err == nil || !strings.Contains(err.Error(), "assets/big.js") {
			t.Errorf("error %v", err)
		}
	})
}

// unreadable is a page whose files are found, but cannot be read.
type unreadable struct{ fstest.MapFS }

func (unreadable) ReadFile(string) ([]byte, error) { return nil, fs.ErrPermission }

func TestPage_reads_files_when_they_are_requested(t *testing.T) {
	c := config()
	c.Page = unreadable{built()}
	h := mustNew(t, c)
	if res := send(t, h, http.MethodGet, script); res.Code != http.StatusInternalServerError || res.Header().Get("Etag") != "" {
		t.Errorf("%d %v", res.Code, res.Header())
	}
}

func TestMissingPage(t *testing.T) {
	for name, page := range map[string]fstest.MapFS{
		"never built": {".gitkeep": {}}, "no files": {},
	} {
		t.Run(name, func(t *testing.T) {
			c := config()
			c.Page = page
			h := mustNew(t, c)
			res := send(t, h, http.MethodGet, "/console/sessions/S1")
			text := res.Body.String()
			if res.Code != 503 || res.Header().Get("Cache-Control") != "no-store" || res.Header().Get("Etag") != "" {
				t.Errorf("%d %v", res.Code, res.Header())
			}
			for _, want := range []string{"Node.js</a> 20.19", "make build"} {
				if !strings.Contains(text, want) {
					t.Errorf("the page lacks %q:\n%s", want, text)
				}
			}
			if res := send(t, h, http.MethodGet, "/console/config.json"); res.Code != 200 {
				t.Errorf("the configuration: %d", res.Code)
			}
		})
	}
}
