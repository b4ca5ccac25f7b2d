package adk_test

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	adkartifact "google.golang.org/adk/v2/artifact"
	"google.golang.org/genai"

	"github.com/rethread/rethread/shared/domain/artifact"
)

// saving returns a request to save a part in a session of alice.
func saving(id, name string, part *genai.Part) *adkartifact.SaveRequest {
	return &adkartifact.SaveRequest{AppName: app, UserID: alice, SessionID: id, FileName: name, Part: part}
}

func loading(id, name string, version int64) *adkartifact.LoadRequest {
	return &adkartifact.LoadRequest{AppName: app, UserID: alice, SessionID: id, FileName: name, Version: version}
}

func save(t *testing.T, s *system, id, name, text string) int64 {
	t.Helper()
	saved, err := s.Artifacts.Save(t.Context(), saving(id, name, genai.NewPartFromText(text)))
	if err != nil {
		t.Fatal(err)
	}
	return saved.Version
}

func load(t *testing.T, s *system, id, name string, version int64) string {
	t.Helper()
	loaded, err := s.Artifacts.Load(t.Context(), loading(id, name, version))
	if err != nil {
		t.Fatal(err)
	}
	return loaded.Part.Text
}

func names(t *testing.T, s *system, id string) []string {
	t.Helper()
	listed, err := s.Artifacts.List(t.Context(), &adkartifact.ListRequest{AppName: app, UserID: alice, SessionID: id})
	if err != nil {
		t.Fatal(err)
	}
	return listed.FileNames
}

func versions(t *testing.T, s *system, id, name string) ([]int64, error) {
	t.Helper()
	listed, err := s.Artifacts.Versions(t.Context(), &adkartifact.VersionsRequest{
		AppName: app, UserID: alice, SessionID: id, FileName: name,
	})
	if err != nil {
		return nil, err
	}
	return listed.Versions, nil
}

func remove(t *testing.T, s *system, id, name string, version int64) error {
	t.Helper()
	return s.Artifacts.Delete(t.Context(), &adkartifact.DeleteRequest{
		AppName: app, UserID: alice, SessionID: id, FileName: name, Version: version,
	})
}

func TestArtifacts(t *testing.T) {
	t.Parallel()
	s := newSystem(t)
	s.mustCreate(t, alice, "s", nil)
	s.mustCreate(t, alice, "other", nil)
	t.Run("numbers versions from 1 and keeps all of them", func(t *testing.T) {
		for i, text := range []string{"one", "two", "three"} {
			if v := save(t, s, "s", "counted", text); v != int64(i+1) {
				t.Errorf("%s has version %d", text, v)
			}
		}
		for version, want := range map[int64]string{0: "three", 1: "one", 2: "two", 3: "three"} {
			if got := load(t, s, "s", "counted", version); got != want {
				t.Errorf("version %d: got %q, want %q", version, got, want)
			}
		}
		if got, err := versions(t, s, "s", "counted"); err != nil || !cmp.Equal(got, []int64{3, 2, 1}) {
			t.Errorf("versions %v, %v", got, err)
		}
		if _, err := s.Artifacts.Load(t.Context(), loading("s", "counted", 4)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("version 4: %v", err)
		}
	})
	t.Run("a deleted artifact is missing until it is saved again", func(t *testing.T) {
		save(t, s, "s", "gone", "one")
		for range 2 {
			if err := remove(t, s, "s", "gone", 0); err != nil {
				t.Fatal(err)
			}
		}
		_, err := s.Artifacts.Load(t.Context(), loading("s", "gone", 0))
		_, listed := versions(t, s, "s", "gone")
		if !errors.Is(err, fs.ErrNotExist) || !errors.Is(listed, fs.ErrNotExist) {
			t.Errorf("load: %v, versions: %v", err, listed)
		}
		for _, name := range names(t, s, "s") {
			if name == "gone" {
				t.Error("the deleted artifact is listed")
			}
		}
		if save(t, s, "s", "gone", "again"); load(t, s, "s", "gone", 0) != "again" {
			t.Error("the artifact saved again is not listed")
		}
	})
	t.Run("refuses to delete or choose a single version", func(t *testing.T) {
		save(t, s, "s", "kept", "one")
		if err := remove(t, s, "s", "kept", 1); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("delete: %v", err)
		}
		chosen := saving("s", "kept", genai.NewPartFromText("x"))
		chosen.Version = 7
		if _, err := s.Artifacts.Save(t.Context(), chosen); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("save: %v", err)
		}
	})
	t.Run("sessions share the artifacts of their user", func(t *testing.T) {
		save(t, s, "s", "user:profile", "mine")
		if got := load(t, s, "other", "user:profile", 1); got != "mine" {
			t.Errorf("got %q", got)
		}
		save(t, s, "other", "a", "x")
		if diff := cmp.Diff([]string{"a", "user:profile"}, names(t, s, "other")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("a missing artifact is fs.ErrNotExist, as in ADK", func(t *testing.T) {
		for _, id := range []string{"s", "none"} {
			if _, err := s.Artifacts.Load(t.Context(), loading(id, "none", 0)); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("load from %s: %v", id, err)
			}
			if err := remove(t, s, id, "none", 0); err != nil {
				t.Errorf("delete from %s: %v", id, err)
			}
		}
		if got := names(t, s, "none"); len(got) != 0 {
			t.Errorf("listed %v", got)
		}
		for _, name := range []string{"", "a/b", "..", "user:", "a\nb"} {
			if _, err := s.Artifacts.Save(t.Context(), saving("s", name, genai.NewPartFromText("x"))); err == nil {
				t.Errorf("%q was saved", name)
			}
		}
	})
	t.Run("an id that no session can have is that of a missing one", func(t *testing.T) {
		for _, id := range []string{".", "..", "a/b", strings.Repeat("x", 129), "a\nb", "\xff"} {
			if _, err := s.Artifacts.Save(t.Context(), saving(id, "f", genai.NewPartFromText("x"))); err == nil {
				t.Errorf("saved in %q", id)
			}
			if _, err := s.Artifacts.Load(t.Context(), loading(id, "f", 0)); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("load from %q: %v", id, err)
			}
			if err := remove(t, s, id, "f", 0); err != nil {
				t.Errorf("delete from %q: %v", id, err)
			}
			if got := names(t, s, id); len(got) != 0 {
				t.Errorf("listed %v of %q", got, id)
			}
		}
	})
}

func TestParts(t *testing.T) {
	t.Parallel()
	s := newSystem(t)
	s.mustCreate(t, alice, "s", nil)
	for name, part := range map[string]*genai.Part{
		"text":                        genai.NewPartFromText("<é>\r\n"),
		"bytes":                       genai.NewPartFromBytes([]byte{0, 255, 10}, "image/png"),
		"text as bytes":               genai.NewPartFromBytes([]byte("plain"), "text/plain"),
		"bytes with a type parameter": genai.NewPartFromBytes([]byte("ü"), "text/plain; charset=utf-8"),
		"large":                       genai.NewPartFromBytes(bytes.Repeat([]byte("0123456789"), 100_000), "application/x-y"),
		"a file by URI":               genai.NewPartFromURI("gs://bucket/film", "video/mp4"),
		"a page by URI":               genai.NewPartFromURI("https://example.com/", ""),
		"several URIs":                genai.NewPartFromBytes([]byte("https://a.example/\r\nhttps://b.example/\r\n"), "text/uri-list"),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := s.Artifacts.Save(t.Context(), saving("s", name, part)); err != nil {
				t.Fatal(err)
			}
			got, err := s.Artifacts.Load(t.Context(), loading("s", name, 0))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(part, got.Part); diff != "" {
				t.Errorf("(-want +got):\n%.2000s", diff)
			}
		})
	}
	t.Run("loads parts saved by the Python package", func(t *testing.T) {
		for name, c := range map[string]struct {
			mimeType, body string
			want           *genai.Part
		}{
			"text":  {`text/plain; charset=utf-8; adk-part="text"; adk-metadata="eyJhIjoxfQ=="`, "hi", genai.NewPartFromText("hi")},
			"bytes": {`image/png; adk-metadata="eyJhIjoxfQ=="`, "png", genai.NewPartFromBytes([]byte("png"), "image/png")},
			"file":  {`text/uri-list; adk-part="file"; adk-type="video/mp4"`, "gs://b/f", genai.NewPartFromURI("gs://b/f", "video/mp4")},
		} {
			put := artifact.Put{SessionID: "s", UserID: alice, Name: "python " + name, MimeType: c.mimeType, Body: []byte(c.body)}
			if _, err := s.store.Artifacts.PutArtifact(t.Context(), put); err != nil {
				t.Fatal(err)
			}
			got, err := s.Artifacts.Load(t.Context(), loading("s", put.Name, 0))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got.Part); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
		described, err := s.Artifacts.GetArtifactVersion(t.Context(), describing("python text", 1))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]any{"a": 1.0}, described.ArtifactVersion.CustomMetadata); diff != "" {
			t.Errorf("metadata (-want +got):\n%s", diff)
		}
	})
	t.Run("resolves a reference", func(t *testing.T) {
		save(t, s, "s", "source", "first")
		save(t, s, "s", "source", "second")
		described, err := s.Artifacts.GetArtifactVersion(t.Context(), describing("source", 1))
		if err != nil {
			t.Fatal(err)
		}
		link := genai.NewPartFromURI(described.ArtifactVersion.CanonicalURI, "")
		if _, err := s.Artifacts.Save(t.Context(), saving("s", "user:link", link)); err != nil {
			t.Fatal(err)
		}
		if got := load(t, s, "s", "user:link", 0); got != "first" {
			t.Errorf("got %q", got)
		}
		nowhere := genai.NewPartFromURI("artifact://session/s/source/9", "")
		if _, err := s.Artifacts.Save(t.Context(), saving("s", "link", nowhere)); err == nil {
			t.Error("a reference to a missing artifact was saved")
		}
	})
	t.Run("describes a version", func(t *testing.T) {
		for version, uri := range map[int64]string{0: "artifact://session/s/source/1", 1: "artifact://session/s/source/0"} {
			got, err := s.Artifacts.GetArtifactVersion(t.Context(), describing("source", version))
			if err != nil {
				t.Fatal(err)
			}
			v := got.ArtifactVersion
			if v.CanonicalURI != uri || v.MimeType != "text/plain" || time.Since(v.CreateTime) > time.Minute {
				t.Errorf("version %d: %+v", version, v)
			}
		}
		for name, version := range map[string]int64{"source": 9, "none": 0} {
			if _, err := s.Artifacts.GetArtifactVersion(t.Context(), describing(name, version)); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("version %d of %s: %v", version, name, err)
			}
		}
	})
	t.Run("rejects an empty part and an invalid media type", func(t *testing.T) {
		for _, part := range []*genai.Part{
			nil, {}, genai.NewPartFromBytes([]byte("x"), "nonsense"), genai.NewPartFromURI("no uri", ""),
		} {
			if _, err := s.Artifacts.Save(t.Context(), saving("s", "refused", part)); err == nil {
				t.Errorf("%+v was saved", part)
			}
		}
	})
}

func describing(name string, version int64) *adkartifact.GetArtifactVersionRequest {
	return &adkartifact.GetArtifactVersionRequest{
		AppName: app, UserID: alice, SessionID: "s", FileName: name, Version: version,
	}
}
