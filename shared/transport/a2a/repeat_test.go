package a2a_test

import (
	"fmt"
	"sync"
	"testing"

	lib "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// A client that has lost the answer to a message sends it again; it gets the
// task that the message began.
func TestAMessageBeginsOneTask(t *testing.T) {
	for _, version := range []lib.ProtocolVersion{"1.0", a2av0.Version} {
		for _, contextID := range []string{"", "c"} {
			t.Run(fmt.Sprintf("%s in the context %q", version, contextID), func(t *testing.T) {
				h := newPushServer(t)
				c := h.mustDial(t, alice, lib.TransportProtocolJSONRPC, version)
				req := repeatable(contextID, "hello")
				first := mustSend(t, c, req)
				if again := mustSend(t, c, req); !cmp.Equal(again, first) {
					t.Errorf("the repeat is another: %s", cmp.Diff(first, again))
				}
				if first.ContextID == "" || contextID != "" && first.ContextID != contextID {
					t.Errorf("the context is %q", first.ContextID)
				}
				h.endRun(t, first, first.ID)
				if again := mustSend(t, c, req); again.ID != first.ID || again.Status.State != lib.TaskStateCompleted {
					t.Errorf("after its end: %+v", again)
				}
				if n := h.events(t, first.ContextID); n != 1 {
					t.Errorf("%d events", n)
				}
				other := mustSend(t, c, repeatable(first.ContextID, "hello"))
				if other.ID == first.ID {
					t.Error("another message has the same task")
				}
			})
		}
	}
	t.Run("whoever sends it at the same time", func(t *testing.T) {
		h := newPushServer(t)
		var sending sync.WaitGroup
		got := make([]*lib.Task, 4)
		for i := range got {
			c, same := h.mustDial(t, alice, lib.TransportProtocolJSONRPC, "1.0"), repeatable("", "hello")
			same.Message.ID = "the same"
			sending.Go(func() { got[i] = mustSend(t, c, same) })
		}
		sending.Wait()
		for _, one := range got {
			if one.ID != got[0].ID || one.ContextID != got[0].ContextID || len(one.History) != 1 {
				t.Errorf("%+v and %+v", one, got[0])
			}
		}
		if n := h.events(t, got[0].ContextID); n != 1 {
			t.Errorf("%d events", n)
		}
	})
	t.Run("but not with other content, and not for another user", func(t *testing.T) {
		h := newPushServer(t)
		c := h.mustDial(t, alice, lib.TransportProtocolJSONRPC, "1.0")
		req := repeatable("", "hello")
		first := mustSend(t, c, req)
		bob := mustSend(t, h.mustDial(t, stranger, lib.TransportProtocolJSONRPC, "1.0"), req)
		if bob.ID == first.ID || bob.ContextID == first.ContextID {
			t.Errorf("two users share %+v", bob)
		}
		req.Message.Parts = lib.ContentParts{lib.NewTextPart("goodbye")}
		if other := mustSend(t, c, req); other.ID == first.ID || other.ContextID == first.ContextID {
			t.Errorf("other content has the same task: %+v", other)
		}
	})
	t.Run("also if it continues one", func(t *testing.T) {
		h := newPushServer(t)
		c := h.mustDial(t, alice, lib.TransportProtocolJSONRPC, "1.0")
		first := mustSend(t, c, repeatable("", "hello"))
		ref := run.Ref{UserID: alice, SessionID: first.ContextID, RunID: string(first.ID)}
		if _, err := h.store.Runs.AppendEvents(t.Context(), ref, []session.Event{agentEvent(`{"function_call":{"id":"c","name":"f","args":{}}}`)}); err != nil {
			t.Fatal(err)
		}
		h.endRun(t, first, first.ID)
		reply := repeatable(first.ContextID, "yes")
		reply.Message.TaskID = first.ID
		mustSend(t, c, reply)
		again := mustSend(t, c, reply)
		if again.ID != first.ID || again.Status.State != lib.TaskStateWorking || len(again.History) != 3 {
			t.Errorf("got %+v", again)
		}
	})
}

func repeatable(contextID, text string) *lib.SendMessageRequest {
	m := lib.NewMessage(lib.MessageRoleUser, lib.NewTextPart(text))
	m.ID, m.ContextID = uuid.NewString(), contextID
	return &lib.SendMessageRequest{Message: m, Config: &lib.SendMessageConfig{ReturnImmediately: true}}
}

func mustSend(t *testing.T, c *a2aclient.Client, req *lib.SendMessageRequest) *lib.Task {
	t.Helper()
	got, err := c.SendMessage(t.Context(), req)
	task, ok := got.(*lib.Task)
	if err != nil || !ok {
		t.Errorf("got %T, %v", got, err)
		return &lib.Task{}
	}
	return task
}

func (h *pushServer) endRun(t *testing.T, of *lib.Task, runID lib.TaskID) {
	t.Helper()
	ref := run.Ref{UserID: alice, SessionID: of.ContextID, RunID: string(runID)}
	if _, err := h.store.Runs.End(t.Context(), ref, run.Completed, nil); err != nil {
		t.Fatal(err)
	}
}

// events returns how many events a session of alice's has.
func (h *pushServer) events(t *testing.T, sessionID string) int {
	t.Helper()
	page, err := h.store.Sessions.Events(t.Context(), alice, sessionID, session.EventQuery{View: session.Effective, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	return len(page.Events)
}
