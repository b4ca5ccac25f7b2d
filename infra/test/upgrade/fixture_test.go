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

// version is the commit whose code wrote the fixture.
const version = "2ceacf8"

// item is an item of the table, in the form of stream records.
type item map[string]events.DynamoDBAttributeValue

func (i item) pk() string { return i["PK"].String() }
func (i item) sk() string { return i["SK"].String() }

// answer is a request and the old version's answer. The method SOCKET means a
// message over a websocket, answered by frames.
type answer struct {
	User   string            `json:"user"`
	Scope  string            `json:"scope"`
	Method string            `json:"method"`
	Path   string            `json:"path"`
	Header map[string]string `json:"header"`
	Body   string            `json:"body"`

	Status int             `json:"status"`
	Type   string          `json:"type"`
	ETag   string          `json:"etag"`
	JSON   json.RawMessage `json:"json"`
	Text   string          `json:"text"`
	Bytes  int             `json:"bytes"` // of a body that is stored as a hash
	SHA256 string          `json:"sha256"`
	Frames []frame         `json:"frames"`
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

// story describes the fixture: its last moment, and ids by what they identify.
type story struct {
	Time int64             `json:"time"`
	IDs  map[string]string `json:"ids"`
}

func (s story) now() time.Time { return time.UnixMilli(s.Time) }

func file(name string) string { return filepath.Join("testdata", version, name) }

func mustStory(t testing.TB) story {
	t.Helper()
	text, err := os.ReadFile(file("story.json"))
	if err != nil {
		t.Fatal(err)
	}
	var s story
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// mustRead reads the lines of a compressed file of the fixture.
func mustRead[T any](t testing.TB, name string) (all []T) {
	t.Helper()
	f, err := os.Open(file(name))
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

// mustItems reads the fixture's items. Push configurations are in the present form,
// with their credentials apart: no release had the older one.
func mustItems(t testing.TB) (all []item) {
	t.Helper()
	for _, i := range mustRead[item](t, "items.jsonl.zst") {
		log, of := strings.CutPrefix(i.pk(), "N#")
		configs, ok := i["c"]
		if !of || !ok {
			all = append(all, i)
			continue
		}
		since := map[string]events.DynamoDBAttributeValue{}
		for id, c := range configs.Map() {
			since[id] = events.NewNumberAttribute("0")
			if ct, ok := c.Map()["ct"]; ok {
				since[id] = ct
			}
		}
		all = append(all, item{"PK": i["PK"], "SK": i["SK"], "c": events.NewMapAttribute(since)})
		i["PK"] = events.NewStringAttribute("NS#" + log)
		all = append(all, i)
	}
	return all
}
