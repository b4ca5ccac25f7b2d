package rest_test

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/rest"
)

func TestRequestBody(t *testing.T) {
	s := newSystem(t)
	create := func(body string) request { return post(alice, "/sessions", body) }

	for name, r := range map[string]request{
		"without a Content-Type": create(`{}`).with("Content-Type", ""),
		"with a charset":         create(`{}`).with("Content-Type", "application/json; charset=utf-8"),
		"of a JSON type":         create(`{}`).with("Content-Type", "application/vnd.x+json"),
		"as it is":               create(`{}`).with("Content-Encoding", "identity"),
		"compressed":             create(zip(t, `{}`)).with("Content-Encoding", "GZIP"),
		"white space around":     create(" \n{} \r\n"),
	} {
		t.Run("accepts a body "+name, func(t *testing.T) { s.must(t, http.StatusCreated, r) })
	}
	for name, c := range map[string]struct {
		r      request
		detail string
	}{
		"none":                   {create(""), "required"},
		"blank":                  {create("  \n"), "required"},
		"cut off":                {create(`{"a":`), "at byte 5: it ends too early"},
		"trailing data":          {create(`{} {}`), "at byte 4"},
		"a comma too many":       {create(`{"a":1,}`), "at byte 8: '}' must not stand there"},
		"not UTF-8":              {create("{\"name\":\"\xff\"}"), "UTF-8 at byte 9"},
		"nested without end":     {create(strings.Repeat("[", 20000)), "valid JSON"},
		"form":                   {create(`a=b`).with("Content-Type", "application/x-www-form-urlencoded"), "not valid JSON"},
		"Content-Type broken":    {create(`{}`).with("Content-Type", "application/json;;="), "Content-Type"},
		"unknown compression":    {create(`{}`).with("Content-Encoding", "br"), "Content-Encoding"},
		"compressed twice":       {create(`{}`).with("Content-Encoding", "gzip, gzip"), "Content-Encoding"},
		"no gzip":                {create(`{}`).with("Content-Encoding", "gzip"), "gzip"},
		"gzip cut off":           {create(zip(t, `{"name":"abc"}`)[:20]).with("Content-Encoding", "gzip"), "gzip"},
		"gzip with a wrong sum":  {create(strings.Replace(zip(t, `{}`), "\x00\x00\x00", "\x00\x00\x01", 1)).with("Content-Encoding", "gzip"), ""},
		"gzip of malformed JSON": {create(zip(t, `{`)).with("Content-Encoding", "gzip"), "at byte 1"},
	} {
		t.Run("refuses a body "+name, func(t *testing.T) {
			if name == "gzip with a wrong sum" {
				raw := []byte(zip(t, `{}`))
				raw[len(raw)-8] ^= 1
				c.r.body, c.detail = string(raw), "gzip"
			}
			problem := s.mustRefuse(t, http.StatusBadRequest, "", c.r)
			if !strings.Contains(fmt.Sprint(problem["detail"]), c.detail) {
				t.Errorf("detail %q", problem["detail"])
			}
		})
	}
	t.Run("refuses more than 10 MB", func(t *testing.T) {
		problem := s.mustRefuse(t, http.StatusRequestEntityTooLarge, "", create(`{"x":"`+strings.Repeat("x", 10<<20)+`"}`))
		if !strings.Contains(fmt.Sprint(problem["detail"]), "10 MB") {
			t.Errorf("detail %q", problem["detail"])
		}
	})
}

func TestAnswerCompression(t *testing.T) {
	s := newSystem(t)
	s.mustCreate(t, alice, `{"id":"s","metadata":{"x":"`+strings.Repeat("m", 2000)+`"}}`)
	for accept, want := range map[string]bool{
		"gzip": true, "deflate, gzip;q=0.5": true, "*": true, "GZip": true, "*;q=0, gzip": true,
		"": false, "br": false, "gzip;q=0": false, "gzip; q=0.0": false, "identity": false, "gzip;q=x": false,
		"*, gzip;q=0": false,
	} {
		got := s.must(t, http.StatusOK, get(alice, "/sessions/s").with("Accept-Encoding", accept))
		if zipped := got.header.Get("Content-Encoding") == "gzip"; zipped != want {
			t.Errorf("Accept-Encoding %q: compressed %v", accept, zipped)
		}
		if got.header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("Vary: %q", got.header.Get("Vary"))
		}
		if want {
			got = unzip(t, got)
		}
		if made := decode[one[sessionView]](t, got).Data; made.ID != "s" {
			t.Errorf("Accept-Encoding %q: %+v", accept, made)
		}
	}
	small := s.must(t, http.StatusOK, get(alice, "/sessions/s/state").with("Accept-Encoding", "gzip"))
	if small.header.Get("Content-Encoding") != "" {
		t.Error("a small answer is not worth compressing")
	}
}

// noise returns text that compression cannot shrink by more than a quarter.
func noise(t *testing.T, bytes int) string {
	t.Helper()
	raw := make([]byte, bytes*3/4)
	if _, err := rand.Read(raw); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(raw)
}

func TestBatchWithTooLargeAnswerIsNotStored(t *testing.T) {
	s := newSystem(t)
	s.mustCreate(t, alice, `{"id":"s"}`)
	large := func(text string) request {
		return post(alice, "/sessions/s/events", zip(t, batch(said("i", text)))).with("Content-Encoding", "gzip")
	}
	text := strings.Repeat("much of the same ", 6<<20/17)
	s.mustRefuse(t, http.StatusRequestEntityTooLarge, "", large(text))
	s.mustRefuse(t, http.StatusRequestEntityTooLarge, "", large(noise(t, 6<<20)).with("Accept-Encoding", "gzip"))
	if head := s.headSeq(t, "s"); head != 0 {
		t.Fatalf("refused, and yet stored: head %d", head)
	}
	s.must(t, http.StatusCreated, large(text).with("Accept-Encoding", "gzip"))
	s.mustRefuse(t, http.StatusRequestEntityTooLarge, "", get(alice, "/sessions/s/events"))
	s.must(t, http.StatusOK, get(alice, "/sessions/s/events").with("Accept-Encoding", "gzip"))
}

// A photo of 4 MB has 5.3 MB of base64, in gzip 4 MB again.
func TestPhotoIsStoredAndRead(t *testing.T) {
	s := newSystem(t)
	s.mustCreate(t, alice, `{"id":"s"}`)
	photo := noise(t, 4_000_000*4/3)
	sent := post(alice, "/sessions/s/events", zip(t, batch(said("i", photo)))).with("Content-Encoding", "gzip")
	s.mustRefuse(t, http.StatusRequestEntityTooLarge, "", sent)
	s.must(t, http.StatusCreated, sent.with("Accept-Encoding", "gzip"))
	read := unzip(t, s.must(t, http.StatusOK, get(alice, "/sessions/s/events").with("Accept-Encoding", "gzip")))
	if !strings.Contains(string(read.body), photo) {
		t.Fatalf("the photo is not in the %d bytes that are read", len(read.body))
	}
}

func TestRoutes(t *testing.T) {
	s := newSystem(t)
	t.Run("unknown path", func(t *testing.T) {
		s.mustRefuse(t, http.StatusNotFound, "", get(alice, "/nothing"))
		s.mustRefuse(t, http.StatusNotFound, "", get(alice, "/sessions/"))
		s.mustRefuse(t, http.StatusNotFound, "", get(alice, "/api/v2/sessions"))
	})
	for _, c := range []struct{ method, path, allow string }{
		{http.MethodPut, "/sessions", "GET, POST"},
		{http.MethodPost, "/api/sessions/s", "DELETE, GET, PATCH"},
		{http.MethodDelete, "/sessions/s/state", "GET"},
		{http.MethodDelete, "/sessions/a%20b/events", "GET, POST"},
		{http.MethodPatch, "/sessions/s/tasks/t", "DELETE, GET"},
		{http.MethodDelete, "/feedback", "GET, POST"},
		{http.MethodGet, "/sessions/s/rewind", "POST"},
		{http.MethodGet, "/api/sessions/s/fork", "POST"},
		{http.MethodPost, "/sessions/s/forks", "GET"},
	} {
		t.Run(c.method+" "+c.path, func(t *testing.T) {
			r := request{user: alice, method: c.method, path: c.path}
			s.mustRefuse(t, http.StatusMethodNotAllowed, "", r)
			if allow := s.do(t, r).header.Get("Allow"); allow != c.allow {
				t.Errorf("Allow: got %q, want %q", allow, c.allow)
			}
		})
	}
}

func TestRequestID(t *testing.T) {
	s := newSystem(t)
	r := httptest.NewRequestWithContext(rest.WithRequestID(t.Context(), "req-7"), http.MethodGet, "/api/v1/sessions", nil)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if w.Header().Get("X-Request-Id") != "req-7" || !strings.Contains(w.Body.String(), `"request_id":"req-7"`) {
		t.Errorf("got %v %s", w.Header(), w.Body)
	}
	if w.Code != http.StatusUnauthorized || w.Header().Get("WWW-Authenticate") != "Bearer" {
		t.Errorf("got %d %v", w.Code, w.Header())
	}
	if made := s.must(t, http.StatusOK, get(alice, "/sessions")).header.Get("X-Request-Id"); made == "" {
		t.Error("no request id was made")
	}
}

// failing is a session store whose reads fail.
type failing struct {
	session.Store
	err error
}

func (f failing) Get(context.Context, string, string) (session.Session, error) {
	return session.Session{}, f.err
}

func TestFaultsBecomeStatuses(t *testing.T) {
	for kind, status := range map[fault.Kind]int{
		fault.Malformed: 400, fault.Unauthorized: 401, fault.Forbidden: 403, fault.NotFound: 404, fault.Conflict: 409,
		fault.Precondition: 412, fault.TooLarge: 413, fault.Invalid: 422, fault.Busy: 429, 0: 500, 99: 500,
	} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			f := fault.New(kind, "what happened").With("status", "not replaced").With("more", 1)
			f.RetryAfter = 1500 * time.Millisecond
			s := newSystem(t, func(c *rest.Config) {
				c.Sessions = failing{c.Sessions, fmt.Errorf("get session: %w", f)}
			})
			problem := s.mustRefuse(t, status, "", get(alice, "/sessions/s"))
			if problem["status"] != float64(status) {
				t.Errorf("status member: %v", problem["status"])
			}
			if status == http.StatusInternalServerError {
				if problem["detail"] != "Internal error." || problem["more"] != nil {
					t.Errorf("an unknown error says too much: %v", problem)
				}
				return
			}
			if problem["detail"] != "what happened" || problem["more"] != 1.0 {
				t.Errorf("problem %v", problem)
			}
			if after := s.do(t, get(alice, "/sessions/s")).header.Get("Retry-After"); after != "2" {
				t.Errorf("Retry-After %q", after)
			}
		})
	}
}
