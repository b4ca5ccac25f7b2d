package conversation_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

func TestThread_instructions(t *testing.T) {
	instructions := []session.Event{
		event("r0", 10, "user", `{"role":"system","parts":[{"text":"Be brief."}]}`),
		event("r0", 11, "user", `{"role":"developer","parts":[{"text":"Be kind."}]}`),
	}
	events := append(instructions, dialogue(2)...)
	thread := conversation.NewThread(events)
	ids := make([]string, len(thread.Messages()))
	for i, m := range thread.Messages() {
		ids[i] = m.ID
	}
	if diff := cmp.Diff([]string{"u0", "a0", "u1", "a1"}, ids); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if len(thread.Events()) != len(events) {
		t.Errorf("%d events, want %d", len(thread.Events()), len(events))
	}
	t.Run("do not make a known list diverge", func(t *testing.T) {
		plan, err := request(listed("u0", "a0", "u1", "a1", "u2")).Plan(whole(events), conversation.Ends{})
		if err != nil || plan.Rewind != "" {
			t.Fatalf("rewind %q, %v", plan.Rewind, err)
		}
		if got := inputIDs(t, plan); !slices.Equal(got, []string{"u2"}) {
			t.Errorf("input %v", got)
		}
	})
}
