package httpagent_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/client/agent/agenttest"
)

func TestContinues(t *testing.T) {
	var got map[string]any
	agenttest.MustRecord(t, agenttest.NewHTTP(t, agenttest.Received(t, &got, agenttest.Streams(agenttest.ShortAnswer))), agenttest.Continued(t))
	if got["continuation"] != 2.0 || len(got["events"].([]any)) != 1 {
		t.Errorf("got %v", got)
	}
	if diff := cmp.Diff([]any{"b"}, got["unanswered_tool_calls"]); diff != "" {
		t.Errorf("unanswered (-want +got):\n%s", diff)
	}
	var said []string
	for _, e := range got["said"].([]any) {
		e, ok := e.(map[string]any)
		if !ok {
			t.Fatalf("said %v", got["said"])
		}
		said = append(said, e["id"].(string)+" "+e["status"].(string))
	}
	if diff := cmp.Diff([]string{"1 completed", "2 completed", "3 failed"}, said); diff != "" {
		t.Errorf("said (-want +got):\n%s", diff)
	}
}
