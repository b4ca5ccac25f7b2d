package upgrade_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/klauspost/compress/zstd"
)

// kept is the folder of a table that a version left.
type kept struct{ folder string }

// each runs a test with each kept table.
func each(t *testing.T, do func(*testing.T, kept)) {
	t.Helper()
	all, err := os.ReadDir("testdata")
	if err != nil || len(all) == 0 {
		t.Fatalf("%d kept tables: %v", len(all), err)
	}
	for _, one := range all {
		t.Run(one.Name(), func(t *testing.T) { do(t, kept{filepath.Join("testdata", one.Name())}) })
	}
}

// item is an item of the table, in the form of stream records.
type item map[string]events.DynamoDBAttributeValue

func (i item) pk() string { return i["PK"].String() }
func (i item) sk() string { return i["SK"].String() }

// answer is a request and the old version's answer. The method SOCKET means a
// message over a websocket, answered by frames.
type answer struct {
	User   string            `json:"user"`
	Scope  string            `json:"scope,omitempty"`
	Method string            `json:"method"`
	Path   string            `json:"path,omitempty"`
	Header map[string]string `json:"header,omitempty"`
	Body   string            `json:"body,omitempty"`

	Status int             `json:"status"`
	Type   string          `json:"type,omitempty"`
	ETag   string          `json:"etag,omitempty"`
	JSON   json.RawMessage `json:"json,omitempty"`
	Text   string          `json:"text,omitempty"`
	Bytes  int             `json:"bytes,omitempty"` // of a body that is stored as a hash
	SHA256 string          `json:"sha256,omitempty"`
	Frames []frame         `json:"frames,omitempty"`
}

// frame is a message to a connection.
type frame struct {
	Connection string          `json:"connection"`
	Message    json.RawMessage `json:"message"`
}

// change is a record of the table's stream, the function that it was for, and the
// old version's result.
type change struct {
	Record     events.DynamoDBEventRecord `json:"record"`
	Fanout     bool                       `json:"fanout"`
	Dispatch   bool                       `json:"dispatch"`
	Frames     []frame                    `json:"frames"`
	Deliveries []json.RawMessage          `json:"deliveries"`
}

// message waits in a queue: "deliveries", "wakes" or "runs".
type message struct {
	Queue   string          `json:"queue"`
	Message json.RawMessage `json:"message"`
}

// story describes a table: its last moment, and ids by what they identify.
type story struct {
	Time int64             `json:"time"`
	IDs  map[string]string `json:"ids"`
}

func (s story) now() time.Time { return time.UnixMilli(s.Time) }

func (k kept) story(t testing.TB) (s story) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(k.folder, "story.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func (k kept) items(t testing.TB) []item {
	t.Helper()
	return mustRead[item](t, k, "items.jsonl.zst")
}

// mustRead reads the lines of a compressed file of a table's folder.
func mustRead[T any](t testing.TB, from kept, name string) (all []T) {
	t.Helper()
	f, err := os.Open(filepath.Join(from.folder, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	zr, err := zstd.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer zr.Close()
	lines := bufio.NewScanner(zr)
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		var one T
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			t.Fatalf("%s, line %d: %v", name, len(all)+1, err)
		}
		all = append(all, one)
	}
	if err := lines.Err(); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return all
}

// kind is the kind of an item, by its keys.
func kind(pk, sk string) string {
	partition, _, _ := strings.Cut(pk, "#")
	sort, rest, cut := strings.Cut(sk, "#")
	if !cut && strings.ToUpper(sort) != sort || strings.ContainsAny(sort, "0123456789") {
		sort = "…"
	}
	if rest == "~" {
		sort += "#~"
	}
	return partition + " " + sort
}
