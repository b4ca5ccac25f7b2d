package stores_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
)

func refer(t testing.TB, s *stores.Store, id, name, uri string) (artifact.Version, error) {
	t.Helper()
	target, err := artifact.ParseReference([]byte(uri))
	if err != nil || target == nil {
		t.Fatalf("parse %s: %v, %v", uri, target, err)
	}
	return s.Artifacts.PutArtifact(t.Context(), artifact.Put{
		SessionID: id, UserID: alice, Name: name, MimeType: artifact.URIList, Body: []byte(uri), Target: target,
	})
}

func mustRefer(t testing.TB, s *stores.Store, id, name, uri string) artifact.Version {
	t.Helper()
	v, err := refer(t, s, id, name, uri)
	if err != nil {
		t.Fatalf("refer to %s: %v", uri, err)
	}
	return v
}

func TestArtifactReferences(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for _, id := range []string{"s1", "s2"} {
		mustCreate(t, s, alice, id, nil)
	}
	content := randomText(t, 500<<10)
	mustPut(t, s, alice, "s1", "a", content)
	mustPut(t, s, alice, "s1", "a", "newer")

	t.Run("read as their target, to any depth", func(t *testing.T) {
		v := mustRefer(t, s, "s2", "ref", "artifact://session/s1/a/0")
		want := artifact.Version{
			Name: "ref", MimeType: "text/plain", Size: int64(len(content)), CreatedTime: v.CreatedTime,
			Reference: "artifact://session/s1/a/0",
		}
		if diff := cmp.Diff(want, v); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		for n := range int64(50) {
			uri := fmt.Sprintf("artifact://session/s2/ref/%d", n)
			if n%2 == 1 {
				mustRefer(t, s, "s1", "user:ref", uri)
				uri = fmt.Sprintf("artifact://user/ref/%d", n/2)
			}
			mustRefer(t, s, "s2", "ref", uri)
		}
		mustRead(t, s, newest("s2", "ref"), content)
		mustRead(t, s, newest("s1", "user:ref"), content)
	})

	t.Run("to an inaccessible target are refused", func(t *testing.T) {
		mustCreate(t, s, bob, "his", nil)
		mustPut(t, s, bob, "his", "a", "secret")
		mustPut(t, s, bob, "his", "user:a", "secret")
		n := session.New{ID: "other-app", UserID: alice, AppName: "other", Nonce: "n"}
		if err := n.Validate(); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Sessions.Create(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		mustPut(t, s, alice, "other-app", "a", "x")
		mustPut(t, s, alice, "other-app", "user:a", "x")
		mustPut(t, s, alice, "s1", "gone", "x")
		if err := s.Artifacts.DeleteArtifact(t.Context(), alice, "s1", "gone"); err != nil {
			t.Fatal(err)
		}
		for _, uri := range []string{
			"artifact://session/his/a/0", "artifact://session/none/a/0", "artifact://session/other-app/a/0",
			"artifact://user/a/0", "artifact://session/s1/user:a/0", "artifact://session/s1/a/2",
			"artifact://session/s1/gone/1", "artifact://session/s1/none/0",
			"artifact://session/s1/cycle/0", // itself
		} {
			if v, err := refer(t, s, "s1", "cycle", uri); !errors.Is(err, fault.Of(fault.Invalid)) {
				t.Errorf("%s: got %+v, %v", uri, v, err)
			}
		}
		mustRead(t, s, newest("s1", "cycle"), "")
	})

	t.Run("to a deleted artifact still read its version", func(t *testing.T) {
		mustPut(t, s, alice, "s1", "kept", "kept")
		mustRefer(t, s, "s2", "keeps", "artifact://session/s1/kept/0")
		if err := s.Artifacts.DeleteArtifact(t.Context(), alice, "s1", "kept"); err != nil {
			t.Fatal(err)
		}
		mustRead(t, s, newest("s2", "keeps"), "kept")
	})

	t.Run("into a deleted session read as missing", func(t *testing.T) {
		mustCreate(t, s, alice, "brief", nil)
		mustPut(t, s, alice, "brief", "a", "x")
		mustRefer(t, s, "s2", "dangling", "artifact://session/brief/a/0")
		if err := s.Sessions.Delete(t.Context(), alice, "brief"); err != nil {
			t.Fatal(err)
		}
		mustRead(t, s, newest("s2", "dangling"), "")
	})
}

func TestArtifactsRestored(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	mustCreate(t, s, alice, "s", nil)
	restore := func(name string, version, want int64) {
		t.Helper()
		got, err := restoreVersion(t.Context(), s, "s", name, version)
		if err != nil || got != want {
			t.Fatalf("restore %s@%d: got version %d, %v; want %d", name, version, got, err, want)
		}
	}
	for _, name := range []string{"a", "user:a"} {
		content := randomText(t, 9<<10)
		mustPut(t, s, alice, "s", name, content)
		mustPut(t, s, alice, "s", name, "1")
		restore(name, 0, 2)
		v := mustRead(t, s, newest("s", name), content)
		uri := "artifact://session/s/a/0"
		if name != "a" {
			uri = "artifact://user/a/0"
		}
		if v.Reference != uri || v.MimeType != "text/plain" || v.Size != 9<<10 {
			t.Errorf("restored: %+v", v)
		}
		restore(name, 2, 3) // to a restored version itself
		mustRead(t, s, newest("s", name), content)
		restore(name, -1, 4)
		mustRead(t, s, newest("s", name), "")
		restore(name, 4, 5) // to a version that did not exist
		mustRead(t, s, newest("s", name), "")
		restore(name, 1, 6)
		mustRead(t, s, newest("s", name), "1")
		restore(name, 77, 7) // named by an event and never stored
		mustRead(t, s, newest("s", name), "")
		if v := mustPut(t, s, alice, "s", name, "8"); v.Version != 8 {
			t.Errorf("the next version is %d, want 8", v.Version)
		}
		mustRead(t, s, numbered("s", name, 1), "1")
	}
	restore("never", -1, 0)
	mustRead(t, s, newest("s", "never"), "")
}

func TestArtifactsInherited(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for _, id := range []string{"root", "fork", "leaf"} {
		mustCreate(t, s, alice, id, nil)
	}
	big := randomText(t, 500<<10)
	for _, name := range []string{"a", "b", "late", "gone"} {
		mustPut(t, s, alice, "root", name, name+"0")
		mustPut(t, s, alice, "root", name, big)
	}
	mustPut(t, s, alice, "root", "ref", "0")
	if _, err := restoreVersion(t.Context(), s, "root", "gone", -1); err != nil {
		t.Fatal(err)
	}
	if _, err := restoreVersion(t.Context(), s, "root", "ref", 0); err != nil {
		t.Fatal(err)
	}
	mustInherit := func(id, from string, upTo map[string]int64) {
		t.Helper()
		if err := inherit(t.Context(), s, alice, id, from, upTo); err != nil {
			t.Fatal(err)
		}
	}
	mustInherit("fork", "root", map[string]int64{"a": 1, "b": 0, "gone": 2, "ref": 1})
	mustPut(t, s, alice, "root", "a", "after the fork")
	mustPut(t, s, alice, "root", "new", "after the fork")
	mustRead(t, s, newest("fork", "a"), big)
	mustRead(t, s, newest("fork", "b"), "b0")
	mustRead(t, s, numbered("fork", "b", 1), "")
	mustRead(t, s, newest("fork", "late"), "")
	mustRead(t, s, newest("fork", "gone"), "")
	mustRead(t, s, numbered("fork", "gone", 1), big)
	if v := mustRead(t, s, newest("fork", "ref"), "0"); v.Reference != "artifact://session/fork/ref/0" {
		t.Errorf("an inherited restored version refers to %s", v.Reference)
	}
	if v := mustPut(t, s, alice, "fork", "b", "own"); v.Version != 1 {
		t.Errorf("a fork's version is %d, want 1", v.Version)
	}
	mustRead(t, s, newest("fork", "b"), "own")
	mustRead(t, s, numbered("fork", "b", 0), "b0")
	mustRead(t, s, newest("root", "b"), big)
	mustPut(t, s, alice, "fork", "a!", "own")

	// A fork of the fork: "a" from the root through the fork, "b" from both.
	mustInherit("leaf", "fork", map[string]int64{"a": 1, "b": 1, "ref": 1})
	mustPut(t, s, alice, "fork", "b", "after the leaf")
	mustRead(t, s, newest("leaf", "a"), big)
	mustRead(t, s, numbered("leaf", "a", 0), "a0")
	mustRead(t, s, newest("leaf", "b"), "own")
	mustPut(t, s, alice, "leaf", "b", "leaf")
	mustRefer(t, s, "leaf", "b", "artifact://session/leaf/a/1")
	if err := s.Artifacts.DeleteArtifact(t.Context(), alice, "leaf", "a"); err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int{1, 2, 100} {
		if diff := cmp.Diff([]int64{0, 1, 2, 3}, mustVersions(t, s, "leaf", "b", limit)); diff != "" {
			t.Errorf("versions (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"a!@0", "a@1", "b@2", "ref@1"}, mustList(t, s, alice, "fork", limit)); diff != "" {
			t.Errorf("fork (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"b@3", "ref@1"}, mustList(t, s, alice, "leaf", limit)); diff != "" {
			t.Errorf("leaf (-want +got):\n%s", diff)
		}
	}
	mustRead(t, s, newest("leaf", "b"), big)
	if _, err := restoreVersion(t.Context(), s, "leaf", "b", 0); err != nil {
		t.Fatal(err)
	}
	mustRead(t, s, newest("leaf", "b"), "b0")
}
