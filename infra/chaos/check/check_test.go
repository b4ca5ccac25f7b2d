package check_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/chaos/agent"
	"github.com/rethread/rethread/infra/chaos/check"
	"github.com/rethread/rethread/infra/chaos/ledger"
	"github.com/rethread/rethread/infra/chaos/system"
	"github.com/rethread/rethread/infra/chaos/users"
)

// fake is an API with one session and its fork, whose answers a test corrupts.
type fake struct {
	id        string
	fork      *fake // before the invocation r2
	all       []map[string]any
	effective []string // ids
	thread    []string
	queued    []any
	state     map[string]any
	head      int
	status    string
	listed    int
	runs      int
	calls     []agent.Call // for r3
	open      bool         // to everybody
}

func entry(seq int, id, invocation, author, text string, more map[string]any) map[string]any {
	e := map[string]any{
		"seq": seq, "id": id, "invocation_id": invocation, "author": author, "status": "completed", "session_id": "s",
		"created_time": 1, "actions": map[string]any{}, "content": map[string]any{"parts": []any{map[string]any{"text": text}}},
	}
	maps.Copy(e, more)
	return e
}

// correctSession returns a correct session: two appends, a question that was cancelled and
// discarded, another with its answer, one whose worker was lost, and one that was kept.
func correctSession() *fake {
	first := agent.Call{Run: "r3", Number: 4}
	second := agent.Call{Run: "r3", Number: 5, Continuation: 1, Said: wordsOf(first, 3)}
	run := func(id, status string) map[string]any {
		return map[string]any{"type": "run", "run": map[string]any{"id": id, "status": status}}
	}
	return &fake{
		id: "s", fork: correctFork(), all: []map[string]any{
			entry(1, "e1", "a", "user", "t1.", map[string]any{"actions": map[string]any{"state_delta": map[string]any{"k": 1}}}),
			entry(2, "e2", "b", "user", "t2.", nil),
			entry(3, "e3", "r1", "user", "t3.", nil),
			entry(4, "e4", "r1", "system", "", run("r1", "cancelled")),
			entry(5, "e5", "discard-r1", "system", "", map[string]any{"actions": map[string]any{"rewind_before_invocation_id": "r1"}}),
			entry(6, "e6", "r2", "user", "t4.", nil),
			entry(7, "e7", "r2", "demo", `You said: "t4."`, nil),
			entry(8, "e8", "r2", "system", "", run("r2", "completed")),
			entry(9, "e9", "r3", "user", "go on", nil),
			entry(10, "e10", "r3", agent.Name, wordsOf(first, 3), map[string]any{"status": "failed"}),
			entry(11, "e11", "r3", "system", "", map[string]any{"type": "run_continued"}),
			entry(12, "e12", "r3", agent.Name, wordsOf(second, second.Words()), nil),
			entry(13, "e13", "r3", "system", "", run("r3", "completed")),
			entry(14, "e14", "r4", "user", "stay", nil),
			entry(15, "e15", "r4", "demo", "", map[string]any{
				"type": "run", "status": "failed", "run": map[string]any{"id": "r4", "status": "cancelled", "on_failed": "keep"},
			}),
		},
		effective: []string{"e1", "e2", "e6", "e7", "e9", "e10", "e12", "e14", "e15"},
		thread:    []string{"e1", "e2", "e6", "e7", "e9", "e10", "e12", "e14", "e15"},
		state:     map[string]any{"k": 1}, head: 15, status: "idle", listed: 1, calls: []agent.Call{first, second},
		queued: []any{queued("q1", "t7."), queued("q2", "t8.")},
	}
}

// queued returns a queued input.
func queued(run, text string) any {
	input := map[string]any{"author": "user", "content": map[string]any{"parts": []any{map[string]any{"text": text}}}}
	return map[string]any{"run_id": run, "agent": "demo", "input": []any{input}, "queued_time": 1}
}

// wordsOf returns the first words of the answer to a call.
func wordsOf(c agent.Call, n int) string {
	var text strings.Builder
	for i := range n {
		text.WriteString(c.Word(i) + " ")
	}
	return text.String()
}

// correctFork returns a fork of the good session: what it showed before its last run.
func correctFork() *fake {
	return &fake{
		id: "g", all: []map[string]any{
			entry(1, "g1", "a", "user", "t1.", map[string]any{"actions": map[string]any{"state_delta": map[string]any{"k": 1}}}),
			entry(2, "g2", "b", "user", "t2.", nil),
		},
		effective: []string{"g1", "g2"}, thread: []string{"g1", "g2"}, state: map[string]any{"k": 1}, head: 2, status: "idle", listed: 1,
	}
}

func (f *fake) chosen(ids []string) []map[string]any {
	var out []map[string]any
	for _, id := range ids {
		for _, e := range f.all {
			if e["id"] == id {
				out = append(out, e)
			}
		}
	}
	return out
}

// ServeHTTP returns every list on one page.
func (f *fake) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	list := func(data any) any { return map[string]any{"data": data, "meta": map[string]any{"next_cursor": nil}} }
	path := strings.TrimPrefix(r.URL.Path, "/api/v1")
	if f.fork != nil && strings.HasPrefix(path, "/sessions/g") {
		f.fork.ServeHTTP(rw, r)
		return
	}
	if strings.HasPrefix(path, "/sessions/") && r.Header.Get("Rethread-User") != "" && !f.open {
		rw.WriteHeader(http.StatusForbidden)
		return
	}
	session := func(f *fake) any {
		return map[string]any{"id": f.id, "name": f.id, "status": f.status, "head_seq": f.head}
	}
	var out any
	switch {
	case path == "/dev/token":
		out = map[string]any{"token": "token"}
	case path == "/sessions":
		out = list(append(slices.Repeat([]any{session(f)}, f.listed), session(f.fork)))
	case path == "/sessions/"+f.id:
		out = list(session(f))
	case strings.HasSuffix(path, "/forks"):
		out = list(map[string]any{"id": "s", "children": []any{map[string]any{"id": "g", "forked_at_seq": f.head}}})
	case path == "/me/usage":
		out = list(map[string]any{"sessions": map[string]any{"used": f.listed + 1}, "runs": map[string]any{"used": f.runs}})
	case strings.HasSuffix(path, "/state"):
		out = list(map[string]any{"session": f.state})
	case strings.HasSuffix(path, "/thread"):
		out = list(map[string]any{"session": session(f), "status": f.status, "items": f.chosen(f.thread), "cursor": "1.15.0", "run": nil, "queued": f.queued, "queue_version": 7})
	case strings.HasSuffix(path, "/events") && r.URL.Query().Get("view") == "all":
		out = list(f.all)
	case strings.HasSuffix(path, "/events"):
		events := f.chosen(f.effective)
		if r.URL.Query().Get("order") == "desc" {
			slices.Reverse(events)
		}
		out = list(events)
	default:
		rw.WriteHeader(http.StatusNotFound)
		return
	}
	_ = json.NewEncoder(rw).Encode(out) // the test may be over
}

// ops are the operations that the session's users recorded.
func ops() []ledger.Op {
	return []ledger.Op{
		{Kind: "append", Tokens: []string{"t1.", "t2."}, Outcome: ledger.Acked},
		{Kind: "ask", Tokens: []string{"t3."}, Outcome: ledger.Acked},
		{Kind: "cancel", Detail: "r1", Outcome: ledger.Acked},
		{Kind: "merge", Tokens: []string{"t4."}, Outcome: ledger.Acked},
		{Kind: "ask", Tokens: []string{"go on"}, Outcome: ledger.Acked},
		{Kind: "append", Tokens: []string{"t5."}, Outcome: ledger.Refused},
		{Kind: "append", Tokens: []string{"t6."}, Outcome: ledger.Unknown},
		{Kind: "enqueue", Tokens: []string{"t7."}, Outcome: ledger.Acked},
		{Kind: "enqueue", Tokens: []string{"t8."}, Outcome: ledger.Acked},
		{Kind: "enqueue", Tokens: []string{"t9."}, Outcome: ledger.Acked},
		{Kind: "ask", Tokens: []string{"stay"}, Outcome: ledger.Acked},
		{Kind: "cancel", Detail: "q3 t9.", Outcome: ledger.Acked},
	}
}

// examine returns the broken invariants and the number of checks.
func examine(t *testing.T, f *fake, ops []ledger.Op) ([]string, map[string]int) {
	t.Helper()
	server := httptest.NewServer(f)
	defer server.Close()
	w, err := users.New(t.Context(), &system.System{URL: server.URL}, []string{"ada", "finn"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Watchers.Close()
	w.Persons[0].Add(&users.Session{ID: "s", Owner: w.Persons[0]})
	w.Persons[0].Add(&users.Session{ID: "g", Owner: w.Persons[0], Fork: &users.Fork{Of: "s", Boundary: "r2", Found: true}})
	for _, op := range ops {
		op.Session, op.User = "s", "ada"
		outcome := op.Outcome
		w.Ledger.End(w.Ledger.Begin(op), func(o *ledger.Op) { o.Outcome = outcome })
	}
	c := check.New(w, func(run string) []agent.Call {
		return slices.DeleteFunc(slices.Clone(f.calls), func(c agent.Call) bool { return c.Run != run })
	}, 0)
	if err := c.Sessions(t.Context()); err != nil {
		t.Fatal(err)
	}
	var broken []string
	for _, v := range w.Violations() {
		broken = append(broken, v.Invariant)
		t.Logf("%s: %.200s", v.Invariant, v.Text)
	}
	slices.Sort(broken)
	return slices.Compact(broken), c.Counts()
}

func TestCorrectSession(t *testing.T) {
	t.Parallel()
	broken, counts := examine(t, correctSession(), ops())
	if len(broken) > 0 {
		t.Errorf("broken: %v", broken)
	}
	for _, invariant := range []string{"acknowledged", "answers", "continued", "dense", "forks", "kept", "listed", "once", "order", "owners", "queued", "refused", "state", "usage", "views"} {
		if counts[invariant] == 0 {
			t.Errorf("%s was not checked", invariant)
		}
	}
}

// TestViolations corrupts one thing at a time: each is found, by its invariant.
func TestViolations(t *testing.T) {
	t.Parallel()
	text := func(f *fake, at int, text string) {
		f.all[at]["content"] = map[string]any{"parts": []any{map[string]any{"text": text}}}
	}
	cases := []struct {
		name, invariant string
		spoil           func(f *fake, ops []ledger.Op) []ledger.Op
	}{
		{"an acknowledged event is lost", "acknowledged", func(f *fake, ops []ledger.Op) []ledger.Op { text(f, 1, "t0."); return ops }},
		{"a duplicate event", "once", func(f *fake, ops []ledger.Op) []ledger.Op { text(f, 6, "t1."); return ops }},
		{"a refused event in the log", "refused", func(f *fake, ops []ledger.Op) []ledger.Op { text(f, 6, "t5."); return ops }},
		{"a gap", "dense", func(f *fake, ops []ledger.Op) []ledger.Op { f.all[7]["seq"] = 9; return ops }},
		{"a head that is too low", "dense", func(f *fake, ops []ledger.Op) []ledger.Op { f.head = 7; return ops }},
		{"an item in progress forever", "stuck", func(f *fake, ops []ledger.Op) []ledger.Op { f.all[6]["status"] = "in_progress"; return ops }},
		{"a list without an event", "views", func(f *fake, ops []ledger.Op) []ledger.Op { f.effective = f.effective[1:]; return ops }},
		{"a thread without an item", "views", func(f *fake, ops []ledger.Op) []ledger.Op { f.thread = f.thread[1:]; return ops }},
		{"a session that others read", "owners", func(f *fake, ops []ledger.Op) []ledger.Op { f.open = true; return ops }},
		{"another state", "state", func(f *fake, ops []ledger.Op) []ledger.Op { f.state["l"] = 2; return ops }},
		{"input discarded with a run that was not cancelled", "acknowledged", func(_ *fake, ops []ledger.Op) []ledger.Op {
			return slices.Delete(ops, 2, 3)
		}},
		{"an event discarded with a run that began after it", "acknowledged", func(f *fake, ops []ledger.Op) []ledger.Op {
			f.all[1]["invocation_id"] = "r1"
			return ops
		}},
		{"a run that is kept and was discarded", "kept", func(f *fake, ops []ledger.Op) []ledger.Op {
			f.all[3]["run"].(map[string]any)["on_failed"], f.all[3]["status"] = "keep", "failed"
			return ops
		}},
		{"a run that is kept without a mark", "kept", func(f *fake, ops []ledger.Op) []ledger.Op { f.all[14]["status"] = "completed"; return ops }},
		{"an answer to another question", "answers", func(f *fake, ops []ledger.Op) []ledger.Op { text(f, 6, `You said: "t9."`); return ops }},
		{"an earlier event after a later one", "order", func(_ *fake, ops []ledger.Op) []ledger.Op { slices.Reverse(ops); return ops }},
		{"a position other than expected", "order", func(_ *fake, ops []ledger.Op) []ledger.Op {
			ops[0].Expected = new(int64)
			*ops[0].Expected = 4
			return ops
		}},
		{"a session that is listed twice", "listed", func(f *fake, ops []ledger.Op) []ledger.Op { f.listed = 2; return ops }},
		{"a run slot that was not released", "usage", func(f *fake, ops []ledger.Op) []ledger.Op { f.runs = 1; return ops }},
		{"a fork without an event", "forks", func(f *fake, ops []ledger.Op) []ledger.Op {
			g := f.fork
			g.all, g.effective, g.thread, g.head = g.all[:1], g.effective[:1], g.thread[:1], 1
			return ops
		}},
		{"a fork with a discarded event", "forks", func(f *fake, ops []ledger.Op) []ledger.Op { text(f.fork, 1, "t3."); return ops }},
		{"a word of a worker that was replaced", "continued", func(f *fake, ops []ledger.Op) []ledger.Op {
			text(f, 11, wordsOf(f.calls[1], f.calls[1].Words())+f.calls[0].Word(3))
			return ops
		}},
		{"a word that is missing before a takeover", "continued", func(f *fake, ops []ledger.Op) []ledger.Op {
			text(f, 9, wordsOf(f.calls[0], 2))
			return ops
		}},
		{"a completed answer that is cut", "continued", func(f *fake, ops []ledger.Op) []ledger.Op {
			text(f, 11, wordsOf(f.calls[1], 7))
			return ops
		}},
		{"an agent that is called once too often", "continued", func(f *fake, ops []ledger.Op) []ledger.Op {
			f.calls = append(f.calls, f.calls[1])
			return ops
		}},
		{"a queued input is lost", "acknowledged", func(f *fake, ops []ledger.Op) []ledger.Op { f.queued = f.queued[:1]; return ops }},
		{"a queued input is removed that no user cancelled", "acknowledged", func(_ *fake, ops []ledger.Op) []ledger.Op {
			return ops[:len(ops)-1]
		}},
		{"a queued input that is in the thread too", "once", func(f *fake, ops []ledger.Op) []ledger.Op { text(f, 8, "go on, t7."); return ops }},
		{"an input that is queued twice", "once", func(f *fake, ops []ledger.Op) []ledger.Op {
			f.queued = append(f.queued, f.queued[0])
			return ops
		}},
		{"a refused input in the queue", "refused", func(_ *fake, ops []ledger.Op) []ledger.Op { ops[7].Outcome = ledger.Refused; return ops }},
		{"a queue in another order", "queued", func(f *fake, ops []ledger.Op) []ledger.Op { slices.Reverse(f.queued); return ops }},
		{"queued inputs that ran in another order", "order", func(f *fake, ops []ledger.Op) []ledger.Op {
			f.queued = nil
			text(f, 5, "t8.")
			text(f, 8, "t7.")
			return ops
		}},
		{"a session that was deleted", "acknowledged", func(_ *fake, ops []ledger.Op) []ledger.Op {
			return append(ops, ledger.Op{Kind: "delete", Outcome: ledger.Acked})
		}},
	}
	found := 0
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := correctSession()
			broken, _ := examine(t, f, c.spoil(f, ops()))
			if !slices.Contains(broken, c.invariant) {
				t.Errorf("broken: %v, want %s", broken, c.invariant)
			}
			found++
		})
	}
	if found < 32 {
		t.Errorf("tried %d violations", found)
	}
}
