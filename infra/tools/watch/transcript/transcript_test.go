package transcript_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/tools/watch/transcript"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch/client"
)

func item(seq int64, status session.EventStatus, content string) session.Event {
	return session.Event{
		ID: fmt.Sprint("e", seq), Seq: seq, Author: "agent", Status: status,
		Fields: map[string]json.RawMessage{"content": json.RawMessage(content), "error": json.RawMessage(`{"code":"x"}`)},
	}
}

func TestPrint(t *testing.T) {
	var out strings.Builder
	p := transcript.New(&out)
	hi := item(1, session.EventCompleted, `{"parts":[{"text":"hi"}]}`)
	for _, s := range []client.Session{
		{Items: []session.Event{hi}, Status: session.Idle},
		{Items: []session.Event{hi, item(2, session.EventInProgress, `{"parts":[{"text":"Hel"}]}`)}, Status: session.InProgress, RunID: "r"},
		{Items: []session.Event{hi, item(2, session.EventInProgress, `{"parts":[{"text":"Hello"}]}`)}, Status: session.InProgress, RunID: "r"},
		{
			Items:  []session.Event{hi, item(2, session.EventFailed, `{"parts":[{"text":"Hello"},{"function_call":{"name":"f","args_text":"{"}}]}`)},
			Status: session.Failed, RunID: "r", Error: run.NewProblem("boom", "it broke"),
		},
		{Items: []session.Event{hi}, Status: session.Idle, Epoch: 1},
		{Items: []session.Event{hi}, Status: session.Idle, Epoch: 1, Deleted: true},
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
— rewound; what is shown now:
1 agent: hi
— idle
— deleted
`
	if diff := cmp.Diff(want, out.String()); diff != "" || p.Err() != nil {
		t.Errorf("it printed (-want +got), %v:\n%s", p.Err(), diff)
	}
}
