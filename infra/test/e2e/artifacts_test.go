package e2e_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/e2e"
)

// mustPut puts a version of an artifact.
func mustPut(t *testing.T, u *e2e.User, path, kind string, body []byte, opts ...e2e.Option) *e2e.Answer {
	t.Helper()
	return u.Send("PUT", path, body, append(opts, e2e.Header("Content-Type", kind))...).Want(201)
}

// versions lists an answer's versions as name@number.
func versions(pages ...*e2e.Answer) []string {
	var out []string
	for _, p := range pages {
		for i := range p.List("data") {
			at := fmt.Sprint("data.", i)
			out = append(out, p.Str(at+".name")+"@"+p.Raw(at+".version"))
		}
	}
	return out
}

func testArtifacts(t *testing.T, sys *e2e.System) {
	t.Helper()
	t.Run("stores any bytes, by version", func(t *testing.T) {
		alice := sys.User(t, "alice")
		a := mustCreate(t, alice, nil) + "/artifacts/chart%20%231-2.png"
		noise := bytes.Repeat([]byte("\x00\xff\x89PNG\r\n,\"\\"), 30_000)
		for n, body := range [][]byte{noise, []byte("text"), {}} {
			got := mustPut(t, alice, a, "image/png", body)
			if got.Int("data.version") != int64(n) || got.Int("data.size") != int64(len(body)) ||
				got.Str("data.name") != "chart #1-2.png" || got.Str("data.mime_type") != "image/png" {
				t.Errorf("put: %s", got.Body)
			}
			for _, path := range []string{a, fmt.Sprint(a, "?version=", n), got.Header.Get("Location")} {
				read := alice.Get(path).Want(200)
				if !bytes.Equal(read.Body, body) || read.Header.Get("Content-Type") != "image/png" ||
					read.Header.Get("X-Artifact-Version") != fmt.Sprint(n) {
					t.Errorf("%s: %d bytes, %v", path, len(read.Body), read.Header)
				}
			}
		}
		if read := alice.Get(a + "?version=0").Want(200); !bytes.Equal(read.Body, noise) {
			t.Errorf("version 0 is %d bytes", len(read.Body))
		}
		alice.Get(a + "?version=3").Want(404)
		if diff := cmp.Diff([]string{"chart #1-2.png@0", "chart #1-2.png@1", "chart #1-2.png@2"},
			versions(allPages(t, alice, a+"/versions?limit=1")...)); diff != "" {
			t.Errorf("versions (-want +got)\n%s", diff)
		}
	})
	t.Run("stores up to 10 MB, with gzip if larger than a request may be", func(t *testing.T) {
		alice := sys.User(t, "alice")
		a := mustCreate(t, alice, nil) + "/artifacts/large"
		gzipped := e2e.Header("Content-Encoding", "gzip")
		body := bytes.Repeat([]byte("0123456789abcdef"), 10<<20/16)
		mustPut(t, alice, a, "text/plain", e2e.Gzip(t, body), gzipped)
		if got := alice.Get(a).Want(200); !bytes.Equal(got.Body, body) { // the client requests gzip by default
			t.Errorf("got %d bytes", len(got.Body))
		}
		if got := alice.Get(a, e2e.Header("Accept-Encoding", "identity")).Want(413); !strings.Contains(got.Str("detail"), "6 MB") {
			t.Errorf("got %s", got.Body)
		}
		body = append(body, 'x')
		kind := e2e.Header("Content-Type", "text/plain")
		if got := alice.Send("PUT", a, e2e.Gzip(t, body), gzipped, kind, e2e.Bad).Want(413); !strings.Contains(got.Str("detail"), "10 MB") {
			t.Errorf("got %s", got.Body)
		}
		alice.Send("PUT", a, body, kind, e2e.Bad).Want(413)
		if got := alice.Get(a + "/versions").Want(200); len(got.List("data")) != 1 {
			t.Errorf("versions: %s", got.Body)
		}
	})
	t.Run("a user's sessions of an app share artifacts with user: names", func(t *testing.T) {
		alice, bob := sys.User(t, "alice"), sys.User(t, "bob")
		one, two := mustCreate(t, alice, nil), mustCreate(t, alice, nil)
		other, his := mustCreate(t, alice, e2e.M{"app_name": "other"}), mustCreate(t, bob, nil)
		mustPut(t, alice, one+"/artifacts/user:a", "text/plain", []byte("shared"))
		mustPut(t, alice, one+"/artifacts/a", "text/plain", []byte("own"))
		if got := alice.Get(two + "/artifacts/user:a").Want(200); string(got.Body) != "shared" {
			t.Errorf("got %s", got.Body)
		}
		if diff := cmp.Diff([]string{"a@0", "user:a@0"}, versions(allPages(t, alice, one+"/artifacts?limit=1")...)); diff != "" {
			t.Errorf("list (-want +got)\n%s", diff)
		}
		if diff := cmp.Diff([]string{"user:a@0"}, versions(alice.Get(two+"/artifacts").Want(200))); diff != "" {
			t.Errorf("list (-want +got)\n%s", diff)
		}
		alice.Get(other + "/artifacts/user:a").Want(404)
		bob.Get(his + "/artifacts/user:a").Want(404)
		bob.Get(one + "/artifacts/a").Want(403)
		bob.Send("PUT", one+"/artifacts/a", "x").Want(403)
		bob.Delete(one + "/artifacts/a").Want(403)
	})
	t.Run("a deleted artifact is not found until it is put again", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		a := s + "/artifacts/a"
		alice.Delete(a).Want(404)
		mustPut(t, alice, a, "text/plain", []byte("0"))
		alice.Delete(a).Want(204)
		alice.Delete(a).Want(404)
		alice.Get(a).Want(404)
		alice.Get(a + "?version=1").Want(404)
		alice.Get(a + "?version=0").Want(200)
		if got := alice.Get(s + "/artifacts").Want(200); len(got.List("data")) != 0 {
			t.Errorf("list: %s", got.Body)
		}
		if got := mustPut(t, alice, a, "text/plain", []byte("2")); got.Int("data.version") != 2 {
			t.Errorf("put: %s", got.Body)
		}
	})
	t.Run("with an invocation, an event names the version", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		mustPut(t, alice, s+"/artifacts/a", "text/plain", []byte("unnamed"))
		mustPut(t, alice, s+"/artifacts/a?invocation_id=inv%201", "text/plain", []byte("named"))
		got := alice.Get(s + "/events").Want(200)
		if len(got.List("data")) != 1 || got.Str("data.0.invocation_id") != "inv 1" || got.Str("data.0.author") != "user" ||
			got.Raw("data.0.actions") != `{"artifact_delta":{"a":1}}` {
			t.Errorf("events: %s", got.Body)
		}
	})
	t.Run("references", func(t *testing.T) { testReferences(t, sys) })
	t.Run("bad names", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		for _, name := range []string{
			"a%2Fb", "%2E%2E", "user:", "user:%2E%2E", "%00", strings.Repeat("%F0%9F%98%80", 256), strings.Repeat("x", 129),
		} {
			for _, method := range []string{"PUT", "GET", "DELETE"} {
				got := alice.Send(method, s+"/artifacts/"+name, nil, e2e.Bad).Want(422)
				if got.Str("errors.0.pointer") != "name" {
					t.Errorf("%s %s: %s", method, name, got.Body)
				}
			}
		}
		if got := alice.Get(s + "/artifacts").Want(200); len(got.List("data")) != 0 {
			t.Errorf("refused, but stored: %s", got.Body)
		}
	})
}

func testReferences(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice, bob := sys.User(t, "alice"), sys.User(t, "bob")
	id, otherID, hisID := uuid.NewString(), uuid.NewString(), uuid.NewString()
	s := mustCreate(t, alice, e2e.M{"id": id})
	other := mustCreate(t, alice, e2e.M{"id": otherID, "app_name": "other"})
	his := mustCreate(t, bob, e2e.M{"id": hisID})
	list := e2e.Header("Content-Type", "text/uri-list")
	for u, path := range map[*e2e.User]string{alice: s, bob: his} {
		mustPut(t, u, path+"/artifacts/a%20b", "image/png", []byte("0"))
		mustPut(t, u, path+"/artifacts/user:u", "image/png", []byte("u"))
	}
	mustPut(t, alice, other+"/artifacts/a%20b", "image/png", []byte("other"))
	mustPut(t, alice, s+"/artifacts/a%20b", "image/png", []byte("1"))

	uri := "artifact://session/" + id + "/a%20b/0"
	for n := range 5 {
		got := mustPut(t, alice, s+"/artifacts/ref", "text/uri-list", []byte(uri))
		if got.Str("data.reference") != uri || got.Str("data.mime_type") != "image/png" || got.Int("data.size") != 1 {
			t.Errorf("put: %s", got.Body)
		}
		uri = fmt.Sprint("artifact://session/", id, "/ref/", n)
	}
	if got := alice.Get(s + "/artifacts/ref").Want(200); string(got.Body) != "0" || got.Header.Get("Content-Type") != "image/png" {
		t.Errorf("got %s, %v", got.Body, got.Header)
	}
	mustPut(t, alice, s+"/artifacts/ref", "text/uri-list", []byte("artifact://user/u/0\r\n"))
	if got := alice.Get(s + "/artifacts/ref").Want(200); string(got.Body) != "u" {
		t.Errorf("got %s", got.Body)
	}
	for _, uri := range []string{
		"artifact://session/" + hisID + "/a%20b/0", "artifact://session/" + otherID + "/a%20b/0", "artifact://session/none/a/0",
		"artifact://session/" + id + "/a%20b/2", "artifact://session/" + id + "/cycle/0", "artifact://session/" + id + "/a%20b",
		"artifact://user/u/1", "artifact://other/a/0", "no uri", "", "artifact://user/u/0\nhttps://a.example",
	} {
		alice.Send("PUT", s+"/artifacts/cycle", uri, list, e2e.Bad).Want(422)
	}
	alice.Get(s + "/artifacts/cycle").Want(404)
	elsewhere := "# kept elsewhere\r\ngs://bucket/a\r\nhttps://a.example/b\r\n"
	mustPut(t, alice, s+"/artifacts/elsewhere", "text/uri-list", []byte(elsewhere))
	got := alice.Get(s + "/artifacts/elsewhere").Want(200)
	if string(got.Body) != elsewhere || got.Header.Get("Content-Type") != "text/uri-list" {
		t.Errorf("got %q, %v", got.Body, got.Header)
	}
}
