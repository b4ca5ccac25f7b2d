package rest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/rest"
)

type versionView struct {
	Name        string `json:"name"`
	Version     int64  `json:"version"`
	MimeType    string `json:"mime_type"`
	Size        int64  `json:"size"`
	CreatedTime int64  `json:"created_time"`
	Reference   string `json:"reference"`
}

func put(user, path, contentType, body string) request {
	r := request{user: user, method: http.MethodPut, path: path, body: body}
	return r.with("Content-Type", contentType)
}

func (s *system) mustPut(t *testing.T, path, contentType, body string) versionView {
	t.Helper()
	return decode[one[versionView]](t, s.must(t, http.StatusCreated, put(alice, path, contentType, body))).Data
}

func TestArtifacts(t *testing.T) {
	s := newSystem(t)
	s.mustCreate(t, alice, `{"id":"s"}`)
	const path = "/sessions/s/artifacts/chart%20%23%2525.png"

	t.Run("is returned as it was stored", func(t *testing.T) {
		got := s.must(t, http.StatusCreated, put(alice, path, "image/png", "\x89PNG\x00\xff"))
		v := decode[one[versionView]](t, got).Data
		want := versionView{Name: "chart #%25.png", MimeType: "image/png", Size: 6, CreatedTime: v.CreatedTime}
		if diff := cmp.Diff(want, v); diff != "" || v.CreatedTime == 0 {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if at := got.header.Get("Location"); at != "/api/v1"+path+"?version=0" {
			t.Errorf("Location: got %q", at)
		}
		s.mustPut(t, path, "image/png", "second")
		read := s.must(t, http.StatusOK, get(alice, got.header.Get("Location")))
		if string(read.body) != "\x89PNG\x00\xff" || read.header.Get("Content-Type") != "image/png" ||
			read.header.Get("X-Artifact-Version") != "0" || read.header.Get("ETag") != got.header.Get("ETag") {
			t.Errorf("got %q, %v", read.body, read.header)
		}
		read = s.must(t, http.StatusOK, get(alice, path))
		if string(read.body) != "second" || read.header.Get("X-Artifact-Version") != "1" ||
			read.header.Get("ETag") == got.header.Get("ETag") {
			t.Errorf("newest: got %q, %v", read.body, read.header)
		}
	})

	t.Run("may be empty and have no type", func(t *testing.T) {
		v := s.mustPut(t, "/sessions/s/artifacts/empty", "", "")
		read := s.must(t, http.StatusOK, get(alice, "/sessions/s/artifacts/empty"))
		if v.MimeType != "application/octet-stream" || v.Size != 0 || len(read.body) != 0 ||
			read.header.Get("Content-Type") != v.MimeType {
			t.Errorf("got %+v, %q, %v", v, read.body, read.header)
		}
	})

	t.Run("may be sent and returned as gzip", func(t *testing.T) {
		large := strings.Repeat("0123456789", 1<<20)
		s.must(t, http.StatusCreated,
			put(alice, "/sessions/s/artifacts/large", "text/plain", zip(t, large)).with("Content-Encoding", "gzip"))
		read := unzip(t, s.must(t, http.StatusOK, get(alice, "/sessions/s/artifacts/large").with("Accept-Encoding", "gzip")))
		if string(read.body) != large {
			t.Errorf("got %d bytes", len(read.body))
		}
		problem := s.mustRefuse(t, http.StatusRequestEntityTooLarge, "", get(alice, "/sessions/s/artifacts/large"))
		if !strings.Contains(fmt.Sprint(problem["detail"]), "6 MB") {
			t.Errorf("no limit: %v", problem["detail"])
		}
	})

	t.Run("returns 404 once deleted, but keeps its versions", func(t *testing.T) {
		const path = "/sessions/s/artifacts/deleted"
		s.mustPut(t, path, "text/plain", "x")
		s.must(t, http.StatusNoContent, del(alice, path))
		s.mustRefuse(t, http.StatusNotFound, "", del(alice, path))
		s.mustRefuse(t, http.StatusNotFound, "", get(alice, path))
		s.mustRefuse(t, http.StatusNotFound, "", get(alice, path+"?version=1"))
		s.must(t, http.StatusOK, get(alice, path+"?version=0"))
	})

	t.Run("may refer to another artifact", func(t *testing.T) {
		s.mustPut(t, "/sessions/s/artifacts/ref", "text/uri-list; charset=utf-8", "artifact://session/s/chart%20%23%2525.png/0\r\n")
		read := s.must(t, http.StatusOK, get(alice, "/sessions/s/artifacts/ref"))
		if string(read.body) != "\x89PNG\x00\xff" || read.header.Get("Content-Type") != "image/png" {
			t.Errorf("got %q, %v", read.body, read.header)
		}
		s.mustRefuse(t, http.StatusUnprocessableEntity, "",
			put(alice, "/sessions/s/artifacts/ref", "text/uri-list", "artifact://session/s/ref/1"))
		s.mustPut(t, "/sessions/s/artifacts/url", "text/uri-list", "https://a.example/x\r\ngs://b/y\r\n")
		read = s.must(t, http.StatusOK, get(alice, "/sessions/s/artifacts/url"))
		if string(read.body) != "https://a.example/x\r\ngs://b/y\r\n" || read.header.Get("Content-Type") != "text/uri-list" {
			t.Errorf("got %q, %v", read.body, read.header)
		}
	})
}

func TestArtifactLists(t *testing.T) {
	s := newSystem(t)
	s.mustCreate(t, alice, `{"id":"s"}`)
	s.mustCreate(t, alice, `{"id":"other"}`)
	for _, name := range []string{"b", "a", "user:u", "a"} {
		s.mustPut(t, "/sessions/s/artifacts/"+name, "text/plain", name)
	}
	for path, want := range map[string][]string{
		"/sessions/s/artifacts":            {"a@1", "b@0", "user:u@0"},
		"/sessions/other/artifacts":        {"user:u@0"},
		"/sessions/s/artifacts/a/versions": {"a@0", "a@1"},
	} {
		for _, limit := range []string{"", "?limit=1", "?limit=2"} {
			var got []string
			pages := follow(t, s, get(alice, path+limit), func(r response) {
				for _, v := range decode[page[versionView]](t, r).Data {
					got = append(got, fmt.Sprintf("%s@%d", v.Name, v.Version))
				}
			})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s%s (-want +got):\n%s", path, limit, diff)
			}
			if limit == "?limit=1" && pages != len(want) {
				t.Errorf("%s: %d pages", path, pages)
			}
		}
	}
	s.mustRefuse(t, http.StatusNotFound, "", get(alice, "/sessions/s/artifacts/none/versions"))
	s.mustRefuse(t, http.StatusBadRequest, "cursor", get(alice, "/sessions/s/artifacts?cursor=x"))
	if got := s.must(t, http.StatusOK, get(alice, "/sessions/s/artifacts?limit=3")); !strings.Contains(string(got.body), `"next_cursor":null`) {
		t.Errorf("a whole list goes on: %s", got.body)
	}
}

func TestArtifactOfAnInvocation(t *testing.T) {
	s := newSystem(t)
	s.mustCreate(t, alice, `{"id":"s"}`)
	s.mustPut(t, "/sessions/s/artifacts/a?invocation_id=inv%201", "text/plain", "x")
	s.mustPut(t, "/sessions/s/artifacts/a", "text/plain", "unnamed")
	s.mustPut(t, "/sessions/s/artifacts/user:b?invocation_id=inv%202", "text/plain", "x")
	got := decode[page[map[string]any]](t, s.must(t, http.StatusOK, get(alice, "/sessions/s/events"))).Data
	var deltas []string
	for _, e := range got {
		deltas = append(deltas, fmt.Sprint(e["invocation_id"], e["author"], e["actions"]))
	}
	want := []string{"inv 1usermap[artifact_delta:map[a:0]]", "inv 2usermap[artifact_delta:map[user:b:0]]"}
	if diff := cmp.Diff(want, deltas); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// readOnlyStore is a session store that cannot append.
type readOnlyStore struct{ session.Store }

func (readOnlyStore) Append(context.Context, session.Append) ([]session.Event, int, error) {
	return nil, 0, errors.New("out of order")
}

func TestArtifactIsStoredBeforeItsEvent(t *testing.T) {
	s := newSystem(t, func(c *rest.Config) { c.Sessions = readOnlyStore{c.Sessions} })
	s.mustCreate(t, alice, `{"id":"s"}`)
	s.mustRefuse(t, http.StatusInternalServerError, "", put(alice, "/sessions/s/artifacts/a?invocation_id=i", "text/plain", "x"))
	s.must(t, http.StatusOK, get(alice, "/sessions/s/artifacts/a"))
}

func TestArtifactBadInput(t *testing.T) {
	s := newSystem(t)
	s.mustCreate(t, alice, `{"id":"s"}`)
	s.mustCreate(t, bob, `{"id":"his"}`)
	s.must(t, http.StatusCreated, put(bob, "/sessions/his/artifacts/a", "text/plain", "secret"))
	at := func(name string) string { return "/sessions/s/artifacts/" + name }

	for _, name := range []string{
		"a%2Fb", "..", "%2E%2E", ".", "user:", "user:..", "%00", "a%0Ab", strings.Repeat("%F0%9F%98%80", 256), strings.Repeat("x", 129),
	} {
		for method, r := range map[string]request{
			"put": put(alice, at(name), "text/plain", "x"), "get": get(alice, at(name)), "delete": del(alice, at(name)),
			"versions": get(alice, at(name)+"/versions"),
		} {
			t.Run(method+" "+name, func(t *testing.T) { s.mustRefuse(t, http.StatusUnprocessableEntity, "name", r) })
		}
	}
	noise := make([]byte, 10<<20+1)
	rand.NewChaCha8([32]byte{}).Read(noise) //nolint:errcheck,gosec // never fails
	for name, c := range map[string]struct {
		r       request
		status  int
		pointer string
	}{
		"too large":            {put(alice, at("a"), "text/plain", string(noise)), 413, ""},
		"too large unpacked":   {put(alice, at("a"), "text/plain", zip(t, strings.Repeat("x", 10<<20+1))).with("Content-Encoding", "gzip"), 413, ""},
		"no gzip":              {put(alice, at("a"), "text/plain", "x").with("Content-Encoding", "gzip"), 400, ""},
		"another coding":       {put(alice, at("a"), "text/plain", "x").with("Content-Encoding", "br"), 400, "Content-Encoding"},
		"no media type":        {put(alice, at("a"), "plain", "x"), 400, "Content-Type"},
		"a long media type":    {put(alice, at("a"), "text/"+strings.Repeat("x", 255), "x"), 400, "Content-Type"},
		"no URI":               {put(alice, at("a"), "text/uri-list", "nowhere"), 422, ""},
		"a foreign reference":  {put(alice, at("a"), "text/uri-list", "artifact://session/his/a/0"), 422, ""},
		"no invocation":        {put(alice, at("a")+"?invocation_id=", "text/plain", "x"), 400, "invocation_id"},
		"no id of one":         {put(alice, at("a")+"?invocation_id=a%2Fb", "text/plain", "x"), 400, "invocation_id"},
		"no version":           {get(alice, at("a")+"?version=x"), 400, "version"},
		"a negative version":   {get(alice, at("a")+"?version=-1"), 400, "version"},
		"an absent version":    {get(alice, at("a")+"?version=9007199254740991"), 404, ""},
		"an unknown session":   {put(alice, "/sessions/none/artifacts/a", "text/plain", "x"), 404, ""},
		"another's session":    {put(alice, "/sessions/his/artifacts/a", "text/plain", "x"), 403, ""},
		"reading another's":    {get(alice, "/sessions/his/artifacts/a"), 403, ""},
		"listing another's":    {get(alice, "/sessions/his/artifacts"), 403, ""},
		"deleting another's":   {del(alice, "/sessions/his/artifacts/a"), 403, ""},
		"no identity":          {put("", at("a"), "text/plain", "x"), 401, ""},
		"versions of nothing":  {get(alice, at("a")+"/versions"), 404, ""},
		"posting":              {post(alice, at("a"), "{}"), 405, ""},
		"the bare path":        {get(alice, "/api/sessions/s/artifacts"), 404, ""},
		"a cursor of another":  {get(alice, "/sessions/s/artifacts?cursor=AAAAAAAAAAAAAAAA"), 400, "cursor"},
		"a limit out of range": {get(alice, "/sessions/s/artifacts?limit=1001"), 400, "limit"},
	} {
		t.Run(name, func(t *testing.T) { s.mustRefuse(t, c.status, c.pointer, c.r) })
	}
	if got := s.must(t, http.StatusOK, get(alice, "/sessions/s/artifacts")); string(got.body) != `{"data":[],"meta":{"next_cursor":null}}` {
		t.Errorf("refused, and yet there: %s", got.body)
	}
	if s.headSeq(t, "s") != 0 {
		t.Error("refused, and yet in the log")
	}
}
