package agent_test

import (
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// examples returns the code blocks of docs/agent-protocol.md that are marked with a
// word.
func examples(t *testing.T, kind string) []string {
	t.Helper()
	page, err := os.ReadFile("../../../docs/agent-protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range regexp.MustCompile("(?ms)^```"+kind+"\n(.*?)^```$").FindAllStringSubmatch(string(page), -1) {
		out = append(out, m[1])
	}
	if len(out) == 0 {
		t.Fatalf("the page has no example %q", kind)
	}
	return out
}

func TestTheProtocolsExamplesHold(t *testing.T) {
	t.Run("request", func(t *testing.T) {
		var got, want map[string]any
		if err := json.Unmarshal([]byte(examples(t, "json request")[0]), &want); err != nil {
			t.Fatal(err)
		}
		a := newHTTP(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
				t.Error(err)
			}
			streams(fine)(rw, r)
		}))
		e := mustEvent(t, `{"id":"e-1","invocation_id":"run-7","author":"user","content":{"role":"user","parts":[{"text":"Where is my parcel?"}]}}`)
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
		for _, text := range examples(t, "sse answer") {
			mustRecord(t, newHTTP(t, streams(text)), ask(t, "hi"))
		}
		for _, text := range examples(t, "json answer") {
			mustRecord(t, newHTTP(t, says("application/json", text)), ask(t, "hi"))
		}
	})
	t.Run("failure", func(t *testing.T) {
		_, err := record(t, newHTTP(t, streams(examples(t, "sse failure")[0])), ask(t, "hi"))
		wantError(t, err, "no_stock_system", "The stock system is down.")
	})
	t.Run("configuration", func(t *testing.T) {
		for _, text := range examples(t, "json config") {
			d := mustConfig(t, text, map[string]string{"HELPER_KEY": "k", "OPENAI_API_KEY": "k"})
			if len(d) != 2 {
				t.Errorf("got %v", d)
			}
		}
	})
}
