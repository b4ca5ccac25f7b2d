package mcp_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

type artifacts struct {
	Artifacts []struct {
		URI, Name string
		Version   int64
	}
	Next string `json:"next_cursor"`
}

func read(t *testing.T, c *sdk.ClientSession, uri string) *sdk.ResourceContents {
	t.Helper()
	got, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
	if err != nil || len(got.Contents) != 1 {
		t.Fatalf("%s: %v %+v", uri, err, got)
	}
	if got.CacheScope != "private" {
		t.Errorf("%s may be cached as %q", uri, got.CacheScope)
	}
	return got.Contents[0]
}

func TestArtifacts(t *testing.T) {
	t.Parallel()
	const name = "user:größe & so?.txt"
	contents := map[string][]byte{
		"note.txt": []byte("a note"), "data.json": []byte(`{"a":"<"}`), "empty.txt": {}, "image.png": {0x89, 'P', 0xff, 0}, name: []byte("hers"),
	}
	types := map[string]string{
		"note.txt": "text/plain; charset=utf-8", "data.json": "application/json", "empty.txt": "text/plain", "image.png": "image/png", name: "text/plain",
	}
	r := newRig(t)
	const id = "s ü"
	r.create(t, alice, id, "one")
	for name, body := range contents {
		r.put(t, id, name, types[name], []byte("an earlier version"))
		r.put(t, id, name, types[name], body)
	}
	c := r.connect(t, alice)
	t.Run("are listed with URIs that can be read, as text or as bytes", func(t *testing.T) {
		t.Parallel()
		seen, at := 0, ""
		for {
			page := must[artifacts](t, c, "list_artifacts", object{"session_id": id, "limit": 2, "cursor": at})
			for _, a := range page.Artifacts {
				seen++
				got := read(t, c, a.URI)
				body := append([]byte(got.Text), got.Blob...)
				isText := got.Text != "" || a.Name == "empty.txt"
				if !bytes.Equal(body, contents[a.Name]) || got.MIMEType != types[a.Name] || isText == (a.Name == "image.png") || a.Version != 1 {
					t.Errorf("%s is %+v", a.Name, got)
				}
				first := read(t, c, a.URI+"?version=0")
				if earlier := append([]byte(first.Text), first.Blob...); string(earlier) != "an earlier version" {
					t.Errorf("version 0 of %s is %q", a.Name, earlier)
				}
				tool := call(t, c, "read_artifact", object{"session_id": id, "name": a.Name})
				if embedded, ok := tool.Content[0].(*sdk.EmbeddedResource); !ok || !cmp.Equal(embedded.Resource, got) {
					t.Errorf("the tool returns %+v", tool.Content[0])
				}
			}
			if at = page.Next; at == "" {
				break
			}
		}
		if seen != len(contents) {
			t.Errorf("%d artifacts are listed", seen)
		}
	})
	t.Run("what is not there is the protocol's not found, and an invalid URI too", func(t *testing.T) {
		t.Parallel()
		for _, uri := range []string{
			"rethread://sessions/never/artifacts/note.txt", "rethread://sessions/s%20%C3%BC/artifacts/never",
			"rethread://sessions/s%20%C3%BC/artifacts/note.txt?version=9", "rethread://sessions/s%20%C3%BC/artifacts/note.txt?version=x",
			"rethread://other/s/artifacts/note.txt", "file:///etc/passwd", "rethread://sessions/s%20%C3%BC/artifacts/note.txt/x",
		} {
			_, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
			if err == nil || !strings.Contains(err.Error(), "Resource not found") {
				t.Errorf("%s: %v", uri, err)
			}
		}
	})
	t.Run("a foreign one is not found", func(t *testing.T) {
		t.Parallel()
		_, err := r.connect(t, bob).ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "rethread://sessions/s%20%C3%BC/artifacts/note.txt"})
		if err == nil || !strings.Contains(err.Error(), "Resource not found") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("the template is listed", func(t *testing.T) {
		t.Parallel()
		got, err := c.ListResourceTemplates(t.Context(), nil)
		if err != nil || len(got.ResourceTemplates) != 1 || got.ResourceTemplates[0].URITemplate != "rethread://sessions/{session_id}/artifacts/{name}{?version}" {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

func TestArtifacts_size(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.create(t, alice, "s")
	r.put(t, "s", "largest", "application/octet-stream", make([]byte, 3<<20))
	r.put(t, "s", "larger", "application/octet-stream", make([]byte, 3<<20+1))
	r.put(t, "s", "text", "text/plain", bytes.Repeat([]byte("x"), 4<<20-2))
	r.put(t, "s", "quotes", "text/plain", bytes.Repeat([]byte(`"`), 3<<20))
	c := r.connect(t, alice)
	for name, size := range map[string]int{"largest": 3 << 20, "text": 4<<20 - 2} {
		if got := read(t, c, "rethread://sessions/s/artifacts/"+name); len(got.Blob)+len(got.Text) != size {
			t.Errorf("%s has %d bytes", name, len(got.Blob)+len(got.Text))
		}
	}
	for _, name := range []string{"larger", "quotes"} {
		_, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "rethread://sessions/s/artifacts/" + name})
		if err == nil || !strings.Contains(err.Error(), "the REST API answers with larger ones") {
			t.Errorf("%s: %v", name, err)
		}
		if got := refused(t, c, "read_artifact", object{"session_id": "s", "name": name}); got["status"] != float64(413) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// The resources are the artifacts of all of the caller's sessions, on pages.
func TestResources(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	want := map[string]bool{}
	for i := range 23 {
		id := fmt.Sprintf("s%d", i)
		r.create(t, alice, id)
		for j := range map[int]int{0: 130, 7: 2, 22: 1}[i] {
			name := fmt.Sprintf("file %d", j)
			r.put(t, id, name, "text/plain", []byte("x"))
			want[fmt.Sprintf("rethread://sessions/%s/artifacts/file%%20%d", id, j)] = true
		}
	}
	c := r.connect(t, alice)
	pages, params := 0, &sdk.ListResourcesParams{}
	for {
		got, err := c.ListResources(t.Context(), params)
		if err != nil {
			t.Fatal(err)
		}
		if got.CacheScope != "private" || len(got.Resources) > 100 {
			t.Errorf("a page of %d may be cached as %q", len(got.Resources), got.CacheScope)
		}
		for _, found := range got.Resources {
			if !want[found.URI] || found.Size != 1 || found.MIMEType != "text/plain" {
				t.Errorf("listed %+v", found)
			}
			delete(want, found.URI)
		}
		pages++
		if got.NextCursor == "" {
			break
		}
		if pages == 1 { // the next page continues in sessions of which one is gone
			if err := r.store.Sessions.Delete(t.Context(), alice, "s11"); err != nil {
				t.Fatal(err)
			}
		}
		params.Cursor = got.NextCursor
	}
	if len(want) > 0 || pages < 4 {
		t.Errorf("%d pages lack %d resources", pages, len(want))
	}
	if _, err := c.ListResources(t.Context(), &sdk.ListResourcesParams{Cursor: "AAAA"}); err == nil || !strings.Contains(err.Error(), "is not a cursor") {
		t.Errorf("a forged cursor: %v", err)
	}
}
