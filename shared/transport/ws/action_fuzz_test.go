package ws_test

import (
	"encoding/json"
	"testing"

	"github.com/rethread/rethread/infra/contract"
	"github.com/rethread/rethread/shared/transport/ws"
)

// FuzzAction checks that any message is answered with frames of the contract,
// and without an internal error.
func FuzzAction(f *testing.F) {
	described, err := contract.LoadMessages()
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{
		`{"action":"subscribe","session_id":"s1","request_id":"r"}`, `{"action":"subscribe","session_id":"s1","cursor":"0.1.0"}`,
		`{"action":"subscribe","session_id":"s1","last_item_id":"e"}`, `{"action":"unsubscribe","session_id":"s1"}`, `{"action":"ping"}`,
		`{"action":"ping","request_id":"\ud800"}`, `{"action":1}`, `[]`, "\xff", `{"action":"subscribe","session_id":"a/b","cursor":"x"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		frames := newFakeDomain(t).send(body)
		if len(frames) == 0 {
			t.Errorf("%q is not answered", body)
		}
		for _, frame := range frames {
			if err := described.Check([]byte(frame)); err != nil {
				t.Errorf("%q: %v", body, err)
			}
			var answer ws.Answer
			if err := json.Unmarshal([]byte(frame), &answer); err != nil || answer.Status >= 500 {
				t.Errorf("%q is answered %s", body, frame)
			}
		}
	})
}
