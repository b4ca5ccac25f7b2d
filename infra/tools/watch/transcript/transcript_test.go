package transcript_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/clients/go/watch/view"
	"github.com/rethread/rethread/infra/tools/watch/transcript"
)

func item(seq int64, status view.EventStatus, content string) view.Event {
	return view.Event{
		ID: fmt.Sprint("e", seq), Seq: seq, Author: "agent", Status: status,
		Fields: map[string]json.RawMessage{"content": json.RawMessage(content), "error": json.RawMessage(`{"code":"x"}`)},
	}
}

func TestPrint(t *testing.T) {
	var out strings.Builder
	p := transcript.New(&out)
	hi := item(1, view.EventCompleted, `{"parts":[{"text":"hi"}]}`)
	for _, s := range []view.Session{
		{Items: []view.Event{hi}, Status: view.Idle},
		{Items: []view.Event{hi, item(2, view.EventInProgress, `{"parts":[{"text":"Hel"}]}`)}, Status: view.InProgress, RunID: "r"},
		{Items: []view.Event{hi, item(2, view.EventInProgress, `{"parts":[{"text":"Hello"}]}`)}, Status: view.InProgress, RunID: "r"},
		{
			Items:  []view.Event{hi, item(2, view.EventFailed, `{"parts":[{"text":"Hello"},{"function_call":{"name":"f","args_text":"{"}}]}`)},
			Status: view.Failed, RunID: "r", Error: &view.Problem{Code: "boom", Message: "it broke"},
		},
		{Items: []view.Event{hi}, Status: view.Idle, Epoch: 1},
		{Items: []view.Event{hi}, Status: view.Idle, Epoch: 1, Deleted: true},
	} {
		p.Print(s)
	}
	want := `1 agent: hi
— idle
— in_progress r
2 agent: Hello [f {]
— 2 failed: {"code":"x"}
— failed r
— boom: it broke
— rewound; the session now:
1 agent: hi
— idle
— deleted
`
	if diff := cmp.Diff(want, out.String()); diff != "" || p.Err() != nil {
		t.Errorf("it printed (-want +got), %v:\n%s", p.Err(), diff)
	}
}
