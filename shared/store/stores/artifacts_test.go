package stores_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
)

func mustPut(t testing.TB, s *stores.Store, user, id, name, content string) artifact.Version {
	t.Helper()
	v, err := s.Artifacts.PutArtifact(t.Context(), artifact.Put{
		SessionID: id, UserID: user, Name: name, MimeType: "text/plain", Body: []byte(content),
	})
	if err != nil {
		t.Fatalf("put %s of %s: %v", name, id, err)
	}
	return v
}

func newest(id, name string) artifact.Ref {
	return artifact.Ref{SessionID: id, UserID: alice, Name: name}
}

func numbered(id, name string, version int64) artifact.Ref {
	r := newest(id, name)
	r.Version = &version
	return r
}

// mustRead checks the content of an artifact; "" means that it does not exist.
func mustRead(t testing.TB, s *stores.Store, r artifact.Ref, want string) artifact.Version {
	t.Helper()
	v, content, err := s.Artifacts.Artifact(t.Context(), r)
	if want == "" {
		if !errors.Is(err, fault.Of(fault.NotFound)) {
			t.Errorf("read %s of %s: got %q, %v; want not found", r.Name, r.SessionID, content, err)
		}
		return v
	}
	if err != nil {
		t.Fatalf("read %s of %s: %v", r.Name, r.SessionID, err)
	}
	if string(content) != want {
		t.Errorf("read %s of %s: got %.100q, want %.100q", r.Name, r.SessionID, content, want)
	}
	return v
}

// mustList lists "name@version" of a session's artifacts, page by page.
func mustList(t testing.TB, s *stores.Store, user, id string, limit int) []string {
	t.Helper()
	out := []string{}
	for after := ""; ; {
		page, err := s.Artifacts.Artifacts(t.Context(), artifact.Query{SessionID: id, UserID: user, Limit: limit, After: after})
		if err != nil {
			t.Fatalf("list artifacts of %s: %v", id, err)
		}
		if len(page.Versions) > limit {
			t.Errorf("a page of %d, over the limit %d", len(page.Versions), limit)
		}
		for _, v := range page.Versions {
			out = append(out, fmt.Sprintf("%s@%d", v.Name, v.Version))
		}
		if after = page.Next; after == "" {
			return out
		}
	}
}

func mustVersions(t testing.TB, s *stores.Store, id, name string, limit int) []int64 {
	t.Helper()
	out := []int64{}
	for after := ""; ; {
		page, err := s.Artifacts.ArtifactVersions(t.Context(), artifact.VersionQuery{
			SessionID: id, UserID: alice, Name: name, Limit: limit, After: after,
		})
		if err != nil {
			t.Fatalf("list versions of %s: %v", name, err)
		}
		for _, v := range page.Versions {
			out = append(out, v.Version)
		}
		if after = page.Next; after == "" {
			return out
		}
	}
}

func randomText(t testing.TB, n int) string {
	t.Helper()
	b := make([]byte, n)
	if _, err := rand.Read(b); err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestArtifacts(t *testing.T) {
	t.Parallel()
	s := newStore(t)

	t.Run("versions are numbered from 0 and stay readable", func(t *testing.T) {
		t.Parallel()
		mustCreate(t, s, alice, "numbers", nil)
		for n := range int64(3) {
			v := mustPut(t, s, alice, "numbers", "a.txt", fmt.Sprint("v", n))
			want := artifact.Version{Name: "a.txt", Version: n, MimeType: "text/plain", Size: 2}
			if diff := cmp.Diff(want, v, cmpopts.IgnoreFields(v, "CreatedTime")); diff != "" || v.CreatedTime == 0 {
				t.Errorf("(-want +got):\n%s", diff)
			}
		}
		mustRead(t, s, newest("numbers", "a.txt"), "v2")
		for n := range int64(3) {
			mustRead(t, s, numbered("numbers", "a.txt", n), fmt.Sprint("v", n))
		}
		mustRead(t, s, numbered("numbers", "a.txt", 3), "")
		mustRead(t, s, newest("numbers", "a"), "")
		for _, limit := range []int{1, 2, 3, 9} {
			if diff := cmp.Diff([]int64{0, 1, 2}, mustVersions(t, s, "numbers", "a.txt", limit)); diff != "" {
				t.Errorf("limit %d (-want +got):\n%s", limit, diff)
			}
		}
	})

	t.Run("contents of any size and kind are read back", func(t *testing.T) {
		t.Parallel()
		mustCreate(t, s, alice, "sizes", nil)
		for i, content := range []string{
			"", "x", randomText(t, 3<<10), strings.Repeat("abc ", 100_000), randomText(t, 400<<10),
			randomText(t, artifact.MaxSize), strings.Repeat("z", artifact.MaxSize),
		} {
			v := mustPut(t, s, alice, "sizes", "blob", content)
			got, back, err := s.Artifacts.Artifact(t.Context(), newest("sizes", "blob"))
			if err != nil || !bytes.Equal(back, []byte(content)) || got != v || v.Size != int64(len(content)) {
				t.Errorf("content %d of %d bytes: got %d bytes, %+v, %v", i, len(content), len(back), got, err)
			}
		}
	})

	t.Run("a deleted artifact reads as missing, its versions stay", func(t *testing.T) {
		t.Parallel()
		mustCreate(t, s, alice, "deleted", nil)
		remove := func() error { return s.Artifacts.DeleteArtifact(t.Context(), alice, "deleted", "a") }
		if err := remove(); !errors.Is(err, fault.Of(fault.NotFound)) {
			t.Errorf("delete a missing artifact: %v", err)
		}
		mustPut(t, s, alice, "deleted", "a", "old")
		if err := remove(); err != nil {
			t.Fatalf("delete: %v", err)
		}
		if err := remove(); !errors.Is(err, fault.Of(fault.NotFound)) {
			t.Errorf("delete again: %v", err)
		}
		mustRead(t, s, newest("deleted", "a"), "")
		mustRead(t, s, numbered("deleted", "a", 1), "")
		mustRead(t, s, numbered("deleted", "a", 0), "old")
		if got := mustList(t, s, alice, "deleted", 9); len(got) != 0 {
			t.Errorf("listed: %v", got)
		}
		if v := mustPut(t, s, alice, "deleted", "a", "new"); v.Version != 2 {
			t.Errorf("the next version is %d, want 2", v.Version)
		}
		if diff := cmp.Diff([]int64{0, 2}, mustVersions(t, s, "deleted", "a", 1)); diff != "" {
			t.Errorf("versions (-want +got):\n%s", diff)
		}
	})

	t.Run("of a missing or another user's session", func(t *testing.T) {
		t.Parallel()
		mustCreate(t, s, alice, "hers", nil)
		mustPut(t, s, alice, "hers", "a", "x")
		for id, want := range map[string]fault.Kind{"none": fault.NotFound, "hers": fault.Forbidden} {
			_, put := s.Artifacts.PutArtifact(t.Context(), artifact.Put{SessionID: id, UserID: bob, Name: "a"})
			_, _, get := s.Artifacts.Artifact(t.Context(), artifact.Ref{SessionID: id, UserID: bob, Name: "a"})
			_, list := s.Artifacts.Artifacts(t.Context(), artifact.Query{SessionID: id, UserID: bob, Limit: 1})
			_, versions := s.Artifacts.ArtifactVersions(t.Context(), artifact.VersionQuery{SessionID: id, UserID: bob, Name: "a", Limit: 1})
			for what, err := range map[string]error{
				"put": put, "get": get, "list": list, "versions": versions,
				"delete": s.Artifacts.DeleteArtifact(t.Context(), bob, id, "a"),
			} {
				if !errors.Is(err, fault.Of(want)) {
					t.Errorf("%s of %s: %v", what, id, err)
				}
			}
		}
	})

	t.Run("a deleted session leaves none behind", func(t *testing.T) {
		t.Parallel()
		mustCreate(t, s, alice, "brief", nil)
		mustPut(t, s, alice, "brief", "a", randomText(t, 1<<20))
		if err := s.Sessions.Delete(t.Context(), alice, "brief"); err != nil {
			t.Fatal(err)
		}
		mustCreate(t, s, alice, "brief", nil)
		mustRead(t, s, newest("brief", "a"), "")
	})
}

func TestArtifacts_listed(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	mustCreate(t, s, alice, "list", nil)
	want := []string{}
	for _, name := range []string{"A", "a!", "a", "a~", "b", "user", "\U0010ffff"} { // "!" sorts before the key's "/"
		mustPut(t, s, alice, "list", name, "0")
		mustPut(t, s, alice, "list", name, "1")
		want = append(want, name+"@1")
	}
	for range 130 { // more than a list reads at once
		mustPut(t, s, alice, "list", "m", "x")
	}
	want = append(want[:5], append([]string{"m@129"}, want[5:]...)...)
	for _, name := range []string{"user:A", "user:b"} {
		mustPut(t, s, alice, "list", name, "x")
		want = append(want, name+"@0")
	}
	for _, limit := range []int{1, 2, 3, 9, 10, 100} {
		if diff := cmp.Diff(want, mustList(t, s, alice, "list", limit)); diff != "" {
			t.Errorf("limit %d (-want +got):\n%s", limit, diff)
		}
	}
	page, err := s.Artifacts.Artifacts(t.Context(), artifact.Query{SessionID: "list", UserID: alice, Limit: len(want)})
	if err != nil || page.Next != "" {
		t.Errorf("a page with everything has a next page: %q, %v", page.Next, err)
	}
}

func TestArtifacts_shared(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	create := func(user, id, app string) {
		n := session.New{ID: id, UserID: user, AppName: app, Nonce: id}
		if err := n.Validate(); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Sessions.Create(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	create(alice, "one", "app")
	create(alice, "two", "app")
	create(alice, "elsewhere", "other")
	create(bob, "his", "app")
	mustPut(t, s, alice, "one", "user:a", "0")
	mustPut(t, s, alice, "two", "user:a", randomText(t, 500<<10))
	mustPut(t, s, alice, "one", "a", "own")
	if diff := cmp.Diff([]string{"a@0", "user:a@1"}, mustList(t, s, alice, "one", 1)); diff != "" {
		t.Errorf("one (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"user:a@1"}, mustList(t, s, alice, "two", 9)); diff != "" {
		t.Errorf("two (-want +got):\n%s", diff)
	}
	for user, id := range map[string]string{alice: "elsewhere", bob: "his"} {
		if got := mustList(t, s, user, id, 9); len(got) != 0 {
			t.Errorf("%s of %s sees %v", id, user, got)
		}
	}
	mustRead(t, s, newest("two", "a"), "")
	mustRead(t, s, numbered("two", "user:a", 0), "0")
	if err := s.Sessions.Delete(t.Context(), alice, "one"); err != nil {
		t.Fatal(err)
	}
	mustRead(t, s, numbered("two", "user:a", 0), "0")
}
