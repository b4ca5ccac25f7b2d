package entrances_test

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/infra/test/storetest/fixture"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/store/table/hooks"
	"github.com/rethread/rethread/shared/transport/openresponses/responsesconvert"
)

// guestReads are the reads of a session that a guest may send. RUN stands for the id of a run.
func guestReads() []request {
	const response = "/v1/responses/RUN"
	return []request{
		get("/api/v1/sessions/here"),
		get("/api/v1/sessions/here/state"),
		get("/api/v1/sessions/here/events"),
		get("/api/v1/sessions/here/thread"),
		get("/api/v1/sessions/here/tasks"),
		get("/api/v1/sessions/here/messages"),
		get("/ai-sdk/helper/here/messages"),
		get("/agui/helper/threads/here"),
		get("/v1/conversations/here"),
		get("/v1/conversations/here/items"),
		get(response),
		get(response + "?stream=true"),
		get(response + "/input_items"),
		rpc("/mcp", "tools/call", `{"name":"read_session","arguments":{"session_id":"here"}}`),
		rpc("/a2a/helper", "ListTasks", `{"contextId":"here"}`),
		rpc("/a2a/helper", "GetTask", `{"id":"task"}`),
	}
}

// What is written after the end of a share was answered is shown to none who had it,
// before whichever of their requests to the table it ended.
func TestReads_when_a_share_ends(t *testing.T) {
	t.Parallel()
	const least = 100
	cases := 0
	for _, read := range guestReads() {
		read.header = map[string]string{"User": "bob"}
		_, shown := readWhileEnding(t, read, 0)
		if !strings.Contains(shown, "hello") && !strings.Contains(shown, `"here"`) {
			t.Errorf("%s %s %s shows nothing of the session: %s", read.method, read.path, read.body, shown)
		}
		for before := int64(1); ; before++ {
			ended, answer := readWhileEnding(t, read, before)
			if !ended {
				break
			}
			cases++
			if strings.Contains(answer, "secret") {
				t.Errorf("%s %s %s, of a share that ended before request %d: %s", read.method, read.path, read.body, before, answer)
			}
		}
	}
	t.Logf("%d cases", cases)
	if cases < least {
		t.Errorf("%d cases, want %d", cases, least)
	}
}

// readWhileEnding sends a request of a guest. Before one of its requests to the table, if
// there are as many, the share ends and the owner writes.
func readWhileEnding(t *testing.T, read request, before int64) (ended bool, answer string) {
	t.Helper()
	engine := storetest.Engine(t)
	owner := newSystemOver(t, engine, slog.New(slog.DiscardHandler))
	var runID string
	says := func(text string) request {
		return post("/api/v1/sessions/here/events",
			`{"events":[{"invocation_id":"`+runID+`","author":"user","content":{"role":"user","parts":[{"text":"`+text+`"}]},"actions":{"state_delta":{"said":"`+text+`"}}}]}`)
	}
	owner.must(t, http.StatusCreated, post("/api/v1/sessions", `{"id":"here"}`))
	fixture.Share(t, owner.store, access.NewShare{ID: "share", SessionID: "here", Right: access.Write, UserID: "bob"})
	runID = owner.external(t, "here")
	owner.must(t, http.StatusOK, request{method: http.MethodPatch, path: "/api/v1/sessions/here/runs/" + runID, body: `{"status":"completed"}`})
	if err := owner.store.Tasks.AddLink(t.Context(), task.Link{TaskID: "task", UserID: alice, SessionID: "here", Agent: "helper", Runs: []string{runID}}, "bob"); err != nil {
		t.Fatal(err)
	}
	owner.must(t, http.StatusCreated, says("hello"))
	owner.must(t, http.StatusCreated, post("/api/v1/sessions/here/tasks",
		`{"task_id":"hello","message_bubbles":[{"id":"b","type":"agent","text":"hello","metadata":{"kagent_invocation_id":"`+runID+`"}}]}`))
	read.path = strings.ReplaceAll(read.path, "RUN", responsesconvert.ID{SessionID: "here", RunID: runID}.String())
	var count atomic.Int64
	guest := newSystemOver(t, hooks.New(engine, hooks.Hooks{Before: func(ctx context.Context, _ hooks.Call) error {
		if count.Add(1) != before {
			return nil
		}
		ended = true
		if err := owner.store.Shares.Revoke(ctx, alice, "here", "share"); err != nil {
			return err
		}
		owner.must(t, http.StatusCreated, says("secret")) //nolint:contextcheck // not the guest's
		return nil
	}}), slog.New(slog.DiscardHandler))
	_, answer = guest.do(t, read)
	return ended, answer
}
