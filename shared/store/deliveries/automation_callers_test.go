package deliveries_test

import (
	"slices"
	"testing"

	"github.com/rethread/rethread/shared/domain/automation"
	"github.com/rethread/rethread/shared/domain/delivery"
)

// An automation starts no run of an agent that its owner may not call, by the proof that
// was stored with it.
func TestAct_callers(t *testing.T) {
	s := newStage(t)
	s.MayCall = func(agent string, proof []string) bool {
		return agent == "reviewer" && slices.Contains(proof, "scope=finance")
	}
	for _, c := range []struct {
		proof []string
		want  error
		runs  int
	}{
		{nil, delivery.ErrNever, 0}, {[]string{"scope=audit"}, delivery.ErrNever, 0}, {[]string{"scope=finance"}, nil, 1},
	} {
		s.mustAct(t, s.in(t, func(a *automation.Automation) { a.Proof = c.proof }), c.want)
		if len(s.handed) != c.runs {
			t.Errorf("with the proof %q: %d runs, want %d", c.proof, len(s.handed), c.runs)
		}
	}
}
