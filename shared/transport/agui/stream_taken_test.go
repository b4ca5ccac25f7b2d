package agui_test

import (
	"testing"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// A run that is cancelled and taken away before its stream has read any of its events ends
// as any other cancelled one.
func TestRun_taken_away_before_its_stream_begins(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.OnNextStart(func(ref run.Ref) {
		_, err := r.Store.History.Rewind(t.Context(), session.Rewind{
			UserID: ref.UserID, SessionID: ref.SessionID, Before: ref.RunID, CancelRun: true, Nonce: "rewind",
		})
		if err != nil {
			t.Error(err)
		}
	})
	s := r.run(t, "r1", list("u1"))
	if types, _ := s.End(t); types != "RUN_STARTED RUN_FINISHED" || s.Last()["outcome"].(map[string]any)["type"] != "cancelled" {
		t.Errorf("%s, at last %v", types, s.Last())
	}
}
