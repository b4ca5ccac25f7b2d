package watch_test

import (
	"testing"

	"github.com/rethread/rethread/clients/go/watch/view"
)

// FuzzParseMessage checks that a parsed message has the members that its type
// requires.
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
		m, err := view.ParseMessage(frame)
		if err != nil {
			return
		}
		switch {
		case m.Type == "":
			t.Errorf("%s was parsed without a type", frame)
		case m.Type == view.TypeDelta && (m.Delta == nil || m.ItemID == ""):
			t.Errorf("%s was parsed as a delta without content", frame)
		case m.Type == view.TypeSnapshot && (m.Item == nil || m.Item.InvocationID == ""):
			t.Errorf("%s was parsed as a snapshot without an item", frame)
		}
	})
}

// FuzzParseThread checks that every item of a parsed page is an event.
func FuzzParseThread(f *testing.F) {
	for _, seed := range []string{
		`{"data":{"session":{},"status":"idle","items":[{"id":"e","seq":1,"invocation_id":"i","author":"a"}],"cursor":"0.1.0"},"meta":{"next_cursor":null}}`,
		`{"data":{"status":"failed","items":[],"cursor":"3.9.1","run":{"id":"r","error":{"code":"c","message":"m"}}},"meta":{"next_cursor":"x"}}`,
		`{"data":{"items":[null]}}`, `{"data":{"cursor":"1"}}`, `{}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		page, _, err := view.ParseThread(body)
		if err != nil {
			return
		}
		for _, e := range page.Items {
			if e.InvocationID == "" || e.Author == "" {
				t.Errorf("%s: an item was parsed as %+v", body, e)
			}
		}
	})
}
