package aisdk_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/test/frontendtest"
	"github.com/rethread/rethread/shared/transport/aisdk"
)

type rig struct{ *frontendtest.Rig }

func newRig(t *testing.T) rig {
	t.Helper()
	return rig{frontendtest.New(t, aisdk.New, "text-delta")}
}

// chat sends the body of useChat for the session s to the agent helper as alice.
func (r rig) chat(t *testing.T, members string) *frontendtest.Stream {
	t.Helper()
	return r.Call(t, "alice", http.MethodPost, "/ai-sdk/helper", `{"id":"s",`+members+`}`)
}

// said runs the agent with a list of messages, and answers. It returns the id of the
// message.
func (r rig) said(t *testing.T, members, answer string) string {
	t.Helper()
	s := r.chat(t, members)
	w := r.Work(t)
	w.Write(t, answer)
	w.Complete(t, `{"text":"`+answer+`"}`, nil)
	s.End(t)
	return w.Ref.RunID
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
		out = append(out, `{"id":"`+id+`","role":"`+role+`","parts":[{"type":"text","text":"`+id+`"}]}`)
	}
	return `"messages":[` + strings.Join(out, ",") + `]`
}
