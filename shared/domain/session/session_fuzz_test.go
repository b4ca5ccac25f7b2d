package session_test

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/session"
)

// FuzzParseEvent checks that a stored event is read again unchanged, and that
// callers' input never becomes invalid JSON.
func FuzzParseEvent(f *testing.F) {
	for _, seed := range []string{
		`{"invocation_id":"i","author":"user","content":{"role":"user","parts":[{"text":"hi"}]}}`,
		`{"id":"i.1","invocation_id":"i","author":"a","actions":{"state_delta":{"user:x":1,"temp:y":null,"z":{}},"artifact_delta":{"f":2.0}}}`,
		`{"invocation_id":"i","author":"a","partial":true,"content":null,"a\"b":[1,"\ud83d\ude00"]}`,
		`{"invocation_id":"i","author":"\ud800"}`, `{"invocation_id":"i","author":"a","actions":{"artifact_delta":{"f":1e400}}}`,
		`{"invocation_id":"i","invocation_id":"j","author":"a"}`, `[]`, `{"invocation_id":null}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) || !utf8.Valid(raw) { // such a body is refused earlier
			return
		}
		e, err := session.ParseEvent(raw, "/events/0")
		if err != nil {
			return
		}
		own := e.Own()
		if !json.Valid(own) {
			t.Fatalf("%s is stored as %s", raw, own)
		}
		if e.ID == "" { // stored events have one
			return
		}
		again, err := session.ParseEvent(own, "")
		if err != nil {
			t.Fatalf("%s is stored as %s, which is not read: %v", raw, own, err)
		}
		if !again.SameAs(e) {
			t.Errorf("%s is stored as %s, which is another event", raw, own)
		}
	})
}

// FuzzDecodeOutline checks that any bytes are refused or are an outline whose encoding
// decodes to the same.
func FuzzDecodeOutline(f *testing.F) {
	f.Add(session.Timeline{{Log: "a", From: 1, To: 4, Seq: 1}, {Log: "b", From: 2, Seq: 5, Gen: 1}}.Encode())
	f.Add(session.Timeline{{Log: "a", From: 1, Seq: 1}}.Encode())
	f.Add(session.Outline{
		{Range: session.Range{Log: "a", From: 9, Seq: 1, Gen: 2}, Level: 2, Count: 5},
		{Range: session.Range{Log: "b", From: 7, Seq: 6}, Level: 1, Count: 3},
		{Range: session.Range{Log: "b", From: 8, Seq: 12}},
	}.Encode())
	f.Add([]byte{})
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255, 255, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		outline, err := session.DecodeOutline(b)
		if err != nil {
			return
		}
		again, err := session.DecodeOutline(outline.Encode())
		if err != nil {
			t.Fatalf("%v is not read again: %v", outline, err)
		}
		if diff := cmp.Diff(outline, again); diff != "" {
			t.Errorf("read again (-want +got):\n%s", diff)
		}
	})
}
