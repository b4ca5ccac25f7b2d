package e2e_test

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/e2e"
	"github.com/rethread/rethread/infra/test/e2e/httpfile"
)

// testSamples sends every request of samplerequests/ like an editor.
func testSamples(t *testing.T, sys *e2e.System) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(sys.Root, "samplerequests", "*.http"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			file := mustParse(t, name)
			file.Variables["host"] = sys.URL
			run := &httpfile.Session{Variables: file.Variables, NewID: uuid.NewString}
			for _, r := range file.Requests {
				t.Run(fmt.Sprintf("line %d %s", r.Line, r.Title), func(t *testing.T) { send(t, sys, run, r) })
			}
		})
	}
}

func mustParse(t *testing.T, name string) *httpfile.File {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // only read
	file, err := httpfile.Parse(f)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return file
}

func send(t *testing.T, sys *e2e.System, run *httpfile.Session, r httpfile.Request) {
	t.Helper()
	if len(r.Expect) == 0 {
		t.Fatal("the request says no status to expect")
	}
	r, err := run.Resolve(r)
	if err != nil {
		t.Fatal(err)
	}
	var opts []e2e.Option
	for _, h := range r.Headers {
		opts = append(opts, e2e.Header(h.Name, h.Value))
	}
	if slices.Contains(r.Headers, httpfile.Header{Name: "Accept", Value: "text/event-stream"}) {
		readStream(t, sys, r.URL, opts)
		return
	}
	if r.Expect[0] >= 400 {
		opts = append(opts, e2e.Bad)
	}
	var body any
	if r.Body != "" {
		body = r.Body
	}
	answer := sys.Bearer(t, "", "").Send(r.Method, strings.TrimPrefix(r.URL, sys.URL), body, opts...).Want(r.Expect...)
	if r.Name != "" {
		run.Remember(r.Name, httpfile.Answer{Header: answer.Header, Body: answer.Body})
	}
}

// readStream reads a stream of a sample to its end.
func readStream(t *testing.T, sys *e2e.System, address string, opts []e2e.Option) {
	t.Helper()
	at, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	stream := sys.Bearer(t, "", "").Watch(strings.TrimSuffix(at.Path, "/watch"), at.Query(), opts...)
	messages := 0
	for _, _, ok := stream.Next(); ok; _, _, ok = stream.Next() {
		messages++
	}
	if messages == 0 {
		t.Error("the stream was silent")
	}
}
