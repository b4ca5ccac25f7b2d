package httpagent_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/client/agent/agenttest"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

const root = "../../../.."

func TestTheProtocolsExamplesHold(t *testing.T) {
	t.Run("request", func(t *testing.T) {
		var got, want map[string]any
		if err := json.Unmarshal([]byte(agenttest.Examples(t, root, "json request")[0]), &want); err != nil {
			t.Fatal(err)
		}
		a := agenttest.NewHTTP(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
				t.Error(err)
			}
			agenttest.Streams(agenttest.ShortAnswer)(rw, r)
		}))
		e := agenttest.Event(t, `{"id":"e-1","invocation_id":"run-7","author":"user","content":{"role":"user","parts":[{"text":"Where is my parcel?"}]}}`)
		e.Seq, e.SessionID, e.Status, e.CreatedTime = 1, "s-1", session.EventCompleted, 1767225600000
		err := a.Run(t.Context(), run.Request{
			RunID: "run-7", SessionID: "s-1", AppName: "shop", UserID: "alice", Agent: "helper",
			Events: []session.Event{e},
			State:  session.Values{"order": json.RawMessage("42"), "user:language": json.RawMessage(`"en"`)},
		}, func(run.Output) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("answers", func(t *testing.T) {
		for _, text := range agenttest.Examples(t, root, "sse answer") {
			agenttest.MustRecord(t, agenttest.NewHTTP(t, agenttest.Streams(text)), agenttest.Ask(t, "hi"))
		}
		for _, text := range agenttest.Examples(t, root, "json answer") {
			agenttest.MustRecord(t, agenttest.NewHTTP(t, agenttest.Says("application/json", text)), agenttest.Ask(t, "hi"))
		}
	})
	t.Run("failure", func(t *testing.T) {
		_, err := agenttest.Record(t, agenttest.NewHTTP(t, agenttest.Streams(agenttest.Examples(t, root, "sse failure")[0])), agenttest.Ask(t, "hi"))
		agenttest.WantError(t, err, "no_stock_system", "The stock system is down.")
	})
}
