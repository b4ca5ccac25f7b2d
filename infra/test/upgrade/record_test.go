package upgrade_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/store/table"
)

// maxRecords is how many records of a kind a table's folder has at most.
const maxRecords = 60

// TestRecord plays the story to this version and records its table, which must then
// pass the tests of kept tables. With RECORD_TABLE=VERSION it stays, as that version's folder.
func TestRecord(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if version := os.Getenv("RECORD_TABLE"); version != "" {
		folder = filepath.Join("testdata", version)
	}
	record(t, folder)
	for _, test := range []func(*testing.T, kept){testAnswers, testChanges, testTemplate, testWrites} {
		test(t, kept{folder})
	}
	kinds := map[string]int{}
	for _, one := range (kept{folder}).items(t) {
		kinds[kind(one.pk(), one.sk())]++
	}
	if diff := cmp.Diff(allKinds(), slices.Sorted(maps.Keys(kinds))); diff != "" {
		t.Errorf("kinds of items (-want +got):\n%s", diff)
	}
}

// allKinds are the kinds of items that the story must leave in the table: those that the
// documentation of package store lists, without staged artifacts and what a lane has put
// aside.
func allKinds() []string {
	return strings.Split("A STATE,AN …,AT …,AU …,DL LANE,DL P,ER ERASE,F …,FI …,HK HOOKS,HL …,HS …,IM …,K …,KA …,L A,L AI,"+
		"L AN,L AT,L B,L C,L D,L E,L E#~,L F,L I,L MD,L P,L QUEUE,L RQ,L RT,L RUN,L SG,L STATE,L T,L T#~,L TI,L TV,L WS,"+
		"N …,NS …,Q KEPT,Q USE,RU RUN,S HEAD,SH N,SH S,SH U,SHT T,SHU …,SIGN KEYS,ST …,U A,U STATE,UP …,"+
		"W R,W W,WC W", ",")
}

// record writes the files of a table's folder.
func record(t *testing.T, folder string) {
	t.Helper()
	w := tell(t)
	var items []item
	for _, one := range storetest.Items(t, w.table) {
		items = append(items, streamed(one))
	}
	slices.SortFunc(items, func(a, b item) int {
		return strings.Compare(a.pk()+"\x00"+a.sk(), b.pk()+"\x00"+b.sk())
	})
	if err := os.MkdirAll(folder, 0o750); err != nil {
		t.Fatal(err)
	}
	writeLines(t, folder, "items.jsonl.zst", items)
	writeLines(t, folder, "messages.jsonl.zst", w.waiting())
	writeFile(t, folder, "story.json", w.story)
	writeFile(t, folder, "stack.json", mustTemplate(t).unmovable())
	writeFile(t, folder, "changed.json", []changed{})
	writeLines(t, folder, "changes.jsonl.zst", w.results(newSystem(t, items, w.now(), 1)))
	writeLines(t, folder, "answers.jsonl.zst", ask(t, newSystem(t, items, w.now(), 1), w.keyed))
}

// results are what follows from the records of the stream, some of each kind.
func (w *teller) results(s *system) (all []change) {
	seen := map[string]int{}
	for _, r := range w.changes {
		of := r.EventName + kind(r.Change.Keys["PK"].String(), r.Change.Keys["SK"].String())
		out := s.process(w.t, w.functions, r)
		if seen[of]++; seen[of] > maxRecords || !out.Fanout && !out.Dispatch {
			continue
		}
		out.Record = r
		all = append(all, out)
	}
	return all
}

// difference are the records of what changed since the last call.
func (w *teller) difference() (all []events.DynamoDBEventRecord) {
	w.t.Helper()
	is := map[table.Key]table.Item{}
	var keys []table.Key
	for _, one := range storetest.Items(w.t, w.table) {
		k, err := table.KeyOf(one)
		if err != nil {
			w.t.Fatal(err)
		}
		is[k], keys = one, append(keys, k)
	}
	for k := range w.was {
		if is[k] == nil {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b table.Key) int { return strings.Compare(a.PK+"\x00"+a.SK, b.PK+"\x00"+b.SK) })
	for _, k := range keys {
		before, after := w.was[k], is[k]
		if reflect.DeepEqual(before, after) {
			continue
		}
		r := events.DynamoDBEventRecord{EventName: "MODIFY", EventSource: "aws:dynamodb"}
		r.Change.Keys = streamed(table.Item{"PK": &types.AttributeValueMemberS{Value: k.PK}, "SK": &types.AttributeValueMemberS{Value: k.SK}})
		if before == nil {
			r.EventName = "INSERT"
		} else {
			r.Change.OldImage = streamed(before)
		}
		if after == nil {
			r.EventName = "REMOVE"
		} else {
			r.Change.NewImage = streamed(after)
		}
		r.Change.SequenceNumber = fmt.Sprintf("%021d", len(w.changes)+len(all)+1)
		all = append(all, r)
	}
	w.was = is
	return all
}

// streamed converts an item to the form of stream records.
func streamed(in map[string]types.AttributeValue) item {
	out := make(item, len(in))
	for name, value := range in {
		out[name] = streamedValue(value)
	}
	return out
}

func streamedValue(v types.AttributeValue) events.DynamoDBAttributeValue {
	switch v := v.(type) {
	case *types.AttributeValueMemberB:
		return events.NewBinaryAttribute(v.Value)
	case *types.AttributeValueMemberBOOL:
		return events.NewBooleanAttribute(v.Value)
	case *types.AttributeValueMemberBS:
		return events.NewBinarySetAttribute(v.Value)
	case *types.AttributeValueMemberL:
		list := make([]events.DynamoDBAttributeValue, len(v.Value))
		for i, one := range v.Value {
			list[i] = streamedValue(one)
		}
		return events.NewListAttribute(list)
	case *types.AttributeValueMemberM:
		return events.NewMapAttribute(streamed(v.Value))
	case *types.AttributeValueMemberN:
		return events.NewNumberAttribute(v.Value)
	case *types.AttributeValueMemberNS:
		return events.NewNumberSetAttribute(v.Value)
	case *types.AttributeValueMemberS:
		return events.NewStringAttribute(v.Value)
	case *types.AttributeValueMemberSS:
		return events.NewStringSetAttribute(v.Value)
	default: // NULL is the only type left
		return events.NewNullAttribute()
	}
}

func writeFile(t *testing.T, folder, name string, v any) {
	t.Helper()
	body, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name), append(body, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
}

// writeLines writes compressed lines of JSON.
func writeLines[T any](t *testing.T, folder, name string, all []T) {
	t.Helper()
	var out bytes.Buffer
	zw, err := zstd.NewWriter(&out, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		t.Fatal(err)
	}
	e := json.NewEncoder(zw)
	for _, one := range all {
		if err := e.Encode(one); err != nil {
			t.Fatal(err)
		}
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name), out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}
