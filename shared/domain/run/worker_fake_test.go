package run_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// op is one call of the store: what a worker called, and when.
type op struct {
	at     time.Duration // since the recorder was made
	name   string
	id     string
	ref    run.Ref
	deltas []content.Delta
	event  session.Event
	status run.Status
	code   string
}

// recorder is a store that records a worker's calls and stores nothing.
type recorder struct {
	run.Store // the methods that a worker never calls
	start     time.Time

	mu            sync.Mutex
	ops           []op
	statusIs      run.Status
	agent         string // of the run
	claimant      run.Claimant
	continuations int                     // how often the run has been continued
	takes         time.Duration           // how long a write lasts
	refuse        func(name string) error // nil accepts everything
	unwatched     bool                    // nobody watches its items
	storedFirst   int                     // how many deltas of a refused flush are stored
}

func newRecorder() *recorder {
	return &recorder{start: time.Now(), statusIs: run.InProgress, agent: "demo"}
}

func overFault(s run.Status) error {
	return fault.New(fault.Conflict, "the run is over: %s", s).With("status", s)
}

func (r *recorder) record(o op) error {
	if r.takes > 0 && o.name != "Run" {
		time.Sleep(r.takes) // of a synctest bubble
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	o.at = time.Since(r.start)
	r.ops = append(r.ops, o)
	if r.refuse != nil {
		if err := r.refuse(o.name); err != nil {
			return err
		}
	}
	if r.statusIs.Final() && o.name != "Run" {
		return overFault(r.statusIs)
	}
	return nil
}

func (r *recorder) cancel() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.statusIs = run.Cancelled
}

// takeOver has another worker continue the run.
func (r *recorder) takeOver() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.continuations++
}

func (r *recorder) Run(_ context.Context, ref run.Ref) (run.Run, error) {
	err := r.record(op{name: "Run", ref: ref})
	r.mu.Lock()
	defer r.mu.Unlock()
	return run.Run{ID: ref.RunID, Status: r.statusIs, Continuations: r.continuations}, err
}

func (r *recorder) Claim(_ context.Context, ref run.Ref, by run.Claimant) (run.Run, error) {
	r.claimant = by
	return run.Run{ID: ref.RunID, Agent: r.agent, Status: run.InProgress, Continuations: r.continuations}, r.record(op{name: "Claim", id: by.Worker})
}

func (r *recorder) Renew(_ context.Context, ref run.Ref) error {
	return r.record(op{name: "Renew", ref: ref})
}

func (r *recorder) AppendEvents(_ context.Context, ref run.Ref, events []session.Event) ([]session.Event, error) {
	return events, r.record(op{name: "Append", ref: ref, id: events[0].ID, event: events[0]})
}

func (r *recorder) BeginItem(_ context.Context, ref run.Ref, e session.Event) (run.Item, error) {
	if err := r.record(op{name: "Begin", ref: ref, id: e.ID, event: e}); err != nil {
		return nil, err
	}
	if e.ID == "" {
		e.ID = "made"
	}
	return &recordedItem{recorder: r, id: e.ID}, nil
}

func (r *recorder) End(_ context.Context, ref run.Ref, status run.Status, p *run.Problem) (run.Run, error) {
	o := op{name: "End", ref: ref, status: status}
	if p != nil {
		o.code = p.Code
	}
	if err := r.record(o); err != nil {
		return run.Run{}, err
	}
	return run.Run{ID: ref.RunID, Status: status, Error: p}, nil
}

// names returns the calls in order, without reads of the run.
func (r *recorder) names() []string {
	var out []string
	for _, o := range r.ops {
		if o.name != "Run" {
			out = append(out, o.name)
		}
	}
	return out
}

func (r *recorder) all(name string) []op {
	return slices.DeleteFunc(slices.Clone(r.ops), func(o op) bool { return o.name != name })
}

// end returns how the run ended, such as "failed agent_failed".
func (r *recorder) end() string {
	ends := r.all("End")
	if len(ends) != 1 {
		return fmt.Sprintf("%d ends", len(ends))
	}
	if ends[0].code == "" {
		return string(ends[0].status)
	}
	return string(ends[0].status) + " " + ends[0].code
}

// flushed returns the deltas that were stored, in order.
func (r *recorder) flushed() []content.Delta {
	var out []content.Delta
	for _, o := range r.all("Flush") {
		out = append(out, o.deltas...)
	}
	return out
}

type recordedItem struct {
	run.Item // the methods that a worker never calls
	*recorder
	id string
}

func (i *recordedItem) ID() string { return i.id }

func (i *recordedItem) Watched() bool { return !i.unwatched }

func (i *recordedItem) Flush(_ context.Context, deltas []content.Delta) ([]content.Delta, error) {
	err := i.record(op{name: "Flush", id: i.id, deltas: slices.Clone(deltas)})
	if err != nil {
		return deltas[min(i.storedFirst, len(deltas)):], err
	}
	return nil, nil
}

func (i *recordedItem) Complete(_ context.Context, e session.Event) (session.Event, error) {
	return e, i.record(op{name: "Complete", id: i.id, event: e})
}

// history is the history of a session, or the error of reading it.
type history struct {
	events []session.Event
	said   []session.Event
	err    error
	limit  run.HistoryLimit // that was asked for
}

func (h *history) AsOfInput(_ context.Context, _ run.Ref, limit run.HistoryLimit) (run.History, error) {
	h.limit = limit
	return run.History{
		AppName: "app", LogID: "log", Epoch: 7, Events: h.events, Said: h.said, Truncated: !limit.IsZero(), State: session.Values{"user:name": json.RawMessage(`"Ada"`)},
	}, h.err
}

// limited is an agent with a limited history.
type limited struct {
	agentFunc
	limit run.HistoryLimit
}

func (l limited) HistoryLimit() run.HistoryLimit { return l.limit }

func (l limited) Agent(name string) (run.Agent, bool) {
	_, ok := l.agentFunc.Agent(name)
	return l, ok
}

// agentFunc is the only agent, so it is that of sessions that name none.
type agentFunc func(ctx context.Context, req run.Request, emit func(run.Output) error) error

func (f agentFunc) Run(ctx context.Context, req run.Request, emit func(run.Output) error) error {
	return f(ctx, req, emit)
}

func (f agentFunc) Agent(name string) (run.Agent, bool) { return f, name == "demo" || name == "" }

var theRun = run.Ref{UserID: "alice", SessionID: "s", RunID: "r"} //nolint:gochecknoglobals // never changed

func newWorker(r *recorder, f agentFunc) *run.Worker {
	return &run.Worker{
		Store: r, Sessions: &history{}, Agents: f, NewID: func() string { return "w1" },
		Log: slog.New(slog.DiscardHandler),
	}
}

// says emits an item's start and texts, with a pause before each.
func says(ctx context.Context, emit func(run.Output) error, pause time.Duration, texts ...string) error {
	if err := emit(run.Output{Item: &run.ItemStart{ID: "i1", Author: "demo", Role: "model"}}); err != nil {
		return err
	}
	for _, text := range texts {
		if err := wait(ctx, pause); err != nil {
			return err
		}
		if err := emit(run.Output{Delta: &content.Delta{Text: text}}); err != nil {
			return err
		}
	}
	return nil
}

// wait waits in the time of a synctest bubble.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func mustExecute(t *testing.T, w *run.Worker) {
	t.Helper()
	if err := w.Execute(t.Context(), theRun); err != nil {
		t.Fatalf("execute: %v", err)
	}
}

func wantEnd(t *testing.T, r *recorder, want string) {
	t.Helper()
	if got := r.end(); got != want {
		t.Errorf("ended %q, want %q; calls: %v", got, want, r.names())
	}
}
