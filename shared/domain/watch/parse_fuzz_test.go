package watch_test

import (
	"testing"

	"github.com/rethread/rethread/shared/domain/watch"
)

// FuzzParseMessage checks that a parsed message has the members that its type
// needs.
func FuzzParseMessage(f *testing.F) {
	for _, seed := range []string{
		`{"type":"thread.status","session_id":"s","cursor":"0.1.0","prev":null,"status":"idle"}`,
		`{"type":"item.snapshot","session_id":"s","cursor":"0.1.2","prev":"0.0.0","offset":2,"item":{"id":"e","seq":1,"invocation_id":"i","author":"a","status":"in_progress","created_time":1,"content":{"role":"model","parts":[{"text":"x"}]}}}`,
		`{"type":"item.delta","session_id":"s","cursor":"0.1.3","prev":"0.1.2","item_id":"e","offset":3,"delta":{"part":0,"text":"y"}}`,
		`{"type":"item.completed","cursor":"0.1.0","prev":"0.1.3","item":{"id":"e","invocation_id":"i","author":"a"}}`,
		`{"type":"thread.rewound","cursor":"1.3.0","prev":"0.2.0","to_seq":1,"epoch":1}`,
		`{"type":"thread.reload"}`, `{"type":"item.snapshot","item":null}`, `{"type":"item.delta","delta":{}}`, `[]`, `null`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		m, err := watch.ParseMessage(frame)
		if err != nil {
			return
		}
		switch {
		case m.Type == "":
			t.Errorf("%s is read without a type", frame)
		case m.Type == watch.DeltaType && (m.Delta == nil || m.ItemID == ""):
			t.Errorf("%s is read as a delta of nothing", frame)
		case m.Type == watch.Snapshot && (m.Item == nil || m.Item.InvocationID == ""):
			t.Errorf("%s is read as a snapshot of nothing", frame)
		}
	})
}
