package agui_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/test/frontendtest"
	"github.com/rethread/rethread/shared/transport/agui"
)

type rig struct{ *frontendtest.Rig }

func newRig(t *testing.T) rig {
	t.Helper()
	return rig{frontendtest.New(t, agui.New, "TEXT_MESSAGE_CONTENT")}
}

// run sends a request to run the agent helper in the thread s as alice.
func (r rig) run(t *testing.T, runID, members string) *frontendtest.Stream {
	t.Helper()
	return r.Call(t, "alice", http.MethodPost, "/agui/helper", `{"threadId":"s","runId":"`+runID+`","protocolVersion":"1.0",`+members+`}`)
}

// said runs the agent with a list of messages, and answers.
func (r rig) said(t *testing.T, runID, list, answer string) {
	t.Helper()
	s := r.run(t, runID, list)
	w := r.Work(t)
	w.Write(t, answer)
	w.Complete(t, `{"text":"`+answer+`"}`, nil)
	s.End(t)
}

// list returns the member messages with messages whose texts are their ids; those with
// an @ are the agent's.
func list(ids ...string) string {
	var out []string
	for _, id := range ids {
		role := "user"
		if id[0] == '@' {
			role, id = "assistant", id[1:]
		}
		out = append(out, `{"id":"`+id+`","role":"`+role+`","content":"`+id+`"}`)
	}
	return `"messages":[` + strings.Join(out, ",") + `]`
}
