package contract_test

import (
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/contract"
)

func TestMessages(t *testing.T) {
	messages, err := contract.LoadMessages() // checks the examples
	if err != nil {
		t.Fatal(err)
	}
	const (
		news  = `"session_id":"s1","cursor":"0.3.2","prev":"0.3.1"`
		event = `"id":"e3","seq":3,"session_id":"s1","invocation_id":"i1","author":"agent","content":null,"actions":{},"created_time":1`
	)
	for name, test := range map[string]struct {
		message string
		want    string // part of the error; "" means no error
	}{
		"an action":                         {`{"action":"subscribe","session_id":"s1"}`, ""},
		"an answer":                         {`{"type":"pong","request_id":"r1"}`, ""},
		"a snapshot":                        {`{"type":"item.snapshot",` + news + `,"offset":2,"item":{` + event + `,"status":"in_progress"}}`, ""},
		"a delta":                           {`{"type":"item.delta",` + news + `,"item_id":"e3","offset":2,"delta":{"part":1,"function_call":{"args_text":"{"}}}`, ""},
		"an unknown member":                 {`{"type":"thread.deleted",` + news + `,"why":"asked"}`, ""},
		"the first message of a connection": {`{"type":"thread.reload","session_id":"s1","cursor":"1.9.0","prev":"0.0.0","reason":"too_far_behind"}`, ""},

		"an unsubscribed notice":    {`{"type":"unsubscribed","session_id":"s1","reason":"expired","status":403}`, ""},
		"the answer to unsubscribe": {`{"type":"unsubscribed","session_id":"s1","request_id":"r1"}`, ""},

		"an unsubscribed notice without a reason": {`{"type":"unsubscribed","session_id":"s1","status":403}`, "request_id"},
		"an unsubscribed notice as an answer":     {`{"type":"unsubscribed","session_id":"s1","request_id":"r1","reason":"revoked","status":403}`, "oneOf"},
		"invalid JSON":                            {`{`, "not valid JSON"},
		"not an object":                           {`[]`, "not an object"},
		"an unknown type":                         {`{"type":"item.lost",` + news + `}`, `"item.lost" is not in the contract`},
		"a message of the gateway":                {`{"message":"Forbidden","connectionId":"c","requestId":"r"}`, "not in the contract"},
		"a subscription without a session":        {`{"action":"subscribe"}`, "session_id"},
		"an answer without a request id":          {`{"type":"pong"}`, "request_id"},
		"a problem without a status":              {`{"type":"error","request_id":"r","title":"t","detail":"d"}`, "status"},
		"a message without prev":                  {`{"type":"thread.deleted","session_id":"s1","cursor":"0.3.2"}`, "prev"},
		"an invalid cursor":                       {`{"type":"thread.deleted","session_id":"s1","cursor":"3","prev":"0.3.1"}`, "/cursor"},
		"an unknown status":                       {`{"type":"thread.status",` + news + `,"status":"busy"}`, "/status"},
		"a snapshot of an incomplete event":       {`{"type":"item.snapshot",` + news + `,"offset":2,"item":{"id":"e3"}}`, "/item"},
		"a completed item in progress":            {`{"type":"item.completed",` + news + `,"item":{` + event + `,"status":"in_progress"}}`, "/item/status"},
		"a failed item without a cause":           {`{"type":"item.failed",` + news + `,"item":{` + event + `,"status":"failed"}}`, "error"},
		"a delta message without a delta":         {`{"type":"item.delta",` + news + `,"item_id":"e3","offset":2}`, "delta"},
		"a delta with offset 0":                   {`{"type":"item.delta",` + news + `,"item_id":"e3","offset":0,"delta":{"part":0,"text":"a"}}`, "/offset"},
		"a delta of two kinds":                    {`{"type":"item.delta",` + news + `,"item_id":"e3","offset":2,"delta":{"part":0,"text":"a","function_call":{}}}`, "/delta"},
		"an empty delta":                          {`{"type":"item.delta",` + news + `,"item_id":"e3","offset":2,"delta":{"part":0}}`, "/delta"},
	} {
		t.Run(name, func(t *testing.T) {
			err := messages.Check([]byte(test.message))
			switch {
			case test.want == "" && err != nil:
				t.Error(err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}
