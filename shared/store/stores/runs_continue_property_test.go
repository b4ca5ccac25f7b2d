package stores_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/hooks"
)

const (
	maxLost  = 2 // workers that may be lost
	maxSteps = 2000
)

var errCrashed = errors.New("the worker has crashed")

// laneKey is the key of a context's lane.
type laneKey struct{}

// lane is one worker. It stops before each call of the engine until it is stepped.
type lane struct {
	id      int
	program []string
	deaf    bool // goes on after it was refused

	waits, steps, done chan struct{}
	crashed, lose      bool
	lost               int // answers in a row

	ref     run.Ref
	claimed bool
	wrote   []wrote
	ended   bool
}

// wrote is a text that a worker has written.
type wrote struct {
	text       string
	acked      bool
	begun, end int // steps of all workers
}

// interleaving is workers that execute one run, one call of the engine at a time.
type interleaving struct {
	t      *rapid.T
	random *rand.Rand
	s      *stores.Store
	c      *calendar
	lanes  []*lane

	mu        sync.Mutex
	step      int
	snapshots [][]string // of the log, right after each takeover
	takenAt   []int      // the steps of the takeovers
}

func (in *interleaving) before(ctx context.Context, _ hooks.Call) error {
	l, ok := ctx.Value(laneKey{}).(*lane)
	if !ok {
		return nil
	}
	if !l.crashed {
		l.waits <- struct{}{}
		<-l.steps
	}
	if l.crashed {
		return errCrashed
	}
	return nil
}

func (in *interleaving) after(ctx context.Context, c hooks.Call, _ table.Units, err error) error {
	l, ok := ctx.Value(laneKey{}).(*lane)
	if !ok || err != nil || c.Op != hooks.Write && c.Op != hooks.Transact {
		return err
	}
	if c.Op == hooks.Transact && slices.ContainsFunc(c.Writes, func(w table.Write) bool {
		return w.Key.SK == "RUN" && w.Kind == table.UpdateKind
	}) {
		in.takenOver(context.WithValue(ctx, laneKey{}, nil))
	}
	if l.lose && l.lost < 3 {
		l.lost++
		return fmt.Errorf("%w: the answer was lost", table.ErrUndecided)
	}
	l.lost = 0
	return nil
}

// takenOver notes what the log holds right after a takeover. A repeated transaction
// changes nothing.
func (in *interleaving) takenOver(ctx context.Context) {
	in.mu.Lock()
	defer in.mu.Unlock()
	log := in.log(ctx)
	if last := log[len(log)-1]; len(in.snapshots) == fences(log)-1 && strings.HasSuffix(last, "run_continued") {
		in.snapshots, in.takenAt = append(in.snapshots, log), append(in.takenAt, in.step)
	}
}

func fences(log []string) (n int) {
	for _, e := range log {
		if strings.HasSuffix(e, "run_continued") {
			n++
		}
	}
	return n
}

// log returns the whole log: position, status, text and type of each event.
func (in *interleaving) log(ctx context.Context) []string {
	page, err := in.s.Sessions.Events(ctx, alice, "s", session.EventQuery{View: session.All, Limit: session.MaxPage})
	if err != nil {
		in.t.Fatalf("read the log: %v", err)
	}
	out := make([]string, len(page.Events))
	for i, e := range page.Events {
		out[i] = fmt.Sprintf("%s %s %s", texts(page.Events[i : i+1])[0], e.Status, strings.Trim(string(e.Fields["type"]), `"`))
	}
	return out
}

// start begins a worker and waits for its first call.
func (in *interleaving) start(l *lane) {
	l.waits, l.steps, l.done = make(chan struct{}), make(chan struct{}), make(chan struct{})
	in.lanes = append(in.lanes, l)
	go func() {
		defer close(l.done)
		in.work(context.WithValue(context.Background(), laneKey{}, l), l)
	}()
}

// ready waits until the worker is about to call the engine, and reports false once it
// is done.
func (l *lane) ready() bool {
	select {
	case <-l.waits:
		return true
	case <-l.done:
		return false
	}
}

// work claims the run and writes what the worker's program says.
func (in *interleaving) work(ctx context.Context, l *lane) {
	r, err := in.s.Runs.Claim(ctx, refOf("s", "r"), continuable(fmt.Sprint("worker ", l.id), maxLost))
	if err != nil {
		return
	}
	l.ref, l.claimed = refOf("s", "r"), true
	l.ref.Continuation = r.Continuations
	var it run.Item
	for n, what := range l.program {
		text := fmt.Sprintf("<%d.%d>", l.id, n)
		switch what {
		case "append":
			err = in.write(l, text, func() error {
				_, err := in.s.Runs.AppendEvents(ctx, l.ref, []session.Event{saying(text)})
				return err
			})
		case "begin":
			it, err = in.s.Runs.BeginItem(ctx, l.ref, saying(""))
		case "flush", "long flush":
			if it != nil {
				if what == "long flush" {
					text += strings.Repeat(".", 900)
				}
				err = in.write(l, text, func() error { return flush(ctx, it, text) })
			}
		case "complete":
			if it != nil {
				content, failed := it.Content().Finish()
				if failed == nil {
					_, err = it.Complete(ctx, saying("").With("content", content))
				}
				it = nil
			}
		case "renew":
			err = in.s.Runs.Renew(ctx, l.ref)
		case "end":
			_, err = in.s.Runs.End(ctx, l.ref, run.Completed, nil)
			l.ended = err == nil
		}
		if err != nil {
			it = nil
		}
		if err != nil && !l.deaf {
			return
		}
	}
}

func (in *interleaving) now() int {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.step
}

func (in *interleaving) write(l *lane, text string, do func() error) error {
	w := wrote{text: text, begun: in.now()}
	err := do()
	w.acked, w.end = err == nil, in.now()
	l.wrote = append(l.wrote, w)
	return err
}

func saying(text string) session.Event {
	e, err := session.ParseEvent([]byte(`{"invocation_id":"r","author":"agent","content":{"role":"model","parts":[{"text":"`+text+`"}]}}`), "")
	if err != nil {
		panic(err)
	}
	return e
}

// newLane draws a worker.
func (in *interleaving) newLane() *lane {
	some := []string{"append", "begin", "flush", "flush", "flush", "long flush", "complete", "renew"}
	program := []string{"begin"}
	for range in.random.IntN(10) {
		program = append(program, some[in.random.IntN(len(some))])
	}
	if in.random.IntN(2) == 0 {
		program = append(program, "end")
	}
	return &lane{id: len(in.lanes), program: program, deaf: in.random.IntN(2) == 0}
}

// play lets the workers make their calls in a drawn order, in which leases expire,
// answers are lost, workers crash and others begin.
func (in *interleaving) play() {
	var ready []*lane
	admit := func(l *lane) {
		if l.ready() {
			ready = append(ready, l)
		}
	}
	begin := func() {
		l := in.newLane()
		in.start(l)
		admit(l)
	}
	begin()
	for n := 0; len(ready) > 0; n++ {
		switch what := in.random.IntN(100); {
		case n > maxSteps:
			in.t.Fatalf("the workers are not done after %d steps", n)
		case what == 0:
			in.c.forward(run.Lease + time.Second)
			continue
		case what < 6 && len(in.lanes) < 6:
			in.c.forward(run.Lease/2 + time.Duration(in.random.Int64N(int64(run.Lease))))
			begin()
			continue
		}
		i := in.random.IntN(len(ready))
		l := ready[i]
		l.crashed, l.lose = in.random.IntN(200) == 0, in.random.IntN(10) == 0
		in.mu.Lock()
		in.step++
		in.mu.Unlock()
		l.steps <- struct{}{}
		ready = append(ready[:i:i], ready[i+1:]...)
		admit(l)
	}
}

// check compares the log with what the workers were told.
func (in *interleaving) check(ctx context.Context) (refused int) {
	log := in.log(ctx)
	for i, was := range in.snapshots {
		if diff := cmp.Diff(was, log[:min(len(was), len(log))]); diff != "" {
			in.t.Errorf("changed after takeover %d (-then +now):\n%s", i+1, diff)
		}
	}
	if fences(log) != len(in.snapshots) || fences(log) > maxLost {
		in.t.Errorf("%d takeovers in the log, %d seen, at most %d allowed", fences(log), len(in.snapshots), maxLost)
	}
	whole := strings.Join(log, "\n")
	for _, l := range in.lanes {
		if !l.claimed && len(l.wrote) > 0 {
			in.t.Errorf("worker %d wrote without a claim", l.id)
		}
		for _, w := range l.wrote {
			if n := strings.Count(whole, w.text); n > 1 || w.acked && n != 1 {
				in.t.Errorf("%.9s of worker %d (acknowledged: %v) is %d times in the log:\n%s", w.text, l.id, w.acked, n, whole)
			}
			if later := l.ref.Continuation; later < len(in.takenAt) && w.begun > in.takenAt[later] {
				if refused++; w.acked {
					in.t.Errorf("%.9s of worker %d was accepted after the takeover", w.text, l.id)
				}
			}
		}
		if l.ended && l.ref.Continuation != len(in.snapshots) {
			in.t.Errorf("worker %d of continuation %d ended the run after %d takeovers", l.id, l.ref.Continuation, len(in.snapshots))
		}
	}
	in.checkSegments(log)
	return refused
}

// checkSegments checks that between two takeovers only one worker has written.
func (in *interleaving) checkSegments(log []string) {
	number := 0
	for _, e := range log {
		if strings.HasSuffix(e, "run_continued") {
			number++
		}
		for _, l := range in.lanes {
			if strings.Contains(e, fmt.Sprintf("<%d.", l.id)) && l.ref.Continuation != number {
				in.t.Errorf("worker %d of continuation %d wrote %.40s after takeover %d", l.id, l.ref.Continuation, e, number)
			}
		}
	}
}

// Whatever the order of the workers' calls: a worker that was taken over changes
// nothing afterwards, all that was acknowledged before stays, and nothing is in the
// log twice.
func TestContinuation_interleaved(t *testing.T) {
	t.Parallel()
	takeovers, refused, ended := 0, 0, 0
	storetest.Check(t, 5, func(r *rapid.T) {
		seed := rapid.Uint64().Draw(r, "seed")
		for n := range uint64(4) { // orders
			in := &interleaving{t: r, c: &calendar{}, random: rand.New(rand.NewPCG(seed, n))} //nolint:gosec // a drawn order
			in.s = stores.New(hooks.New(storetest.Engine(t), hooks.Hooks{Before: in.before, After: in.after}),
				stores.WithCodec(storetest.Codec()), stores.WithClock(in.c.now))
			mustCreate(t, in.s, alice, "s", nil)
			mustStart(t, in.s, startOf(t, "s", "r", "hi"))
			in.play()
			refused += in.check(t.Context())
			takeovers += len(in.snapshots)
			for _, l := range in.lanes {
				if l.ended {
					ended++
				}
			}
			in.checkEnd(t)
		}
	})
	t.Logf("%d takeovers, %d writes refused after one, %d runs ended by a worker", takeovers, refused, ended)
	if storetest.InMemory() && (takeovers < 100 || refused < 20 || ended < 50) {
		t.Errorf("%d takeovers, %d writes refused after one, %d runs ended by a worker: too few", takeovers, refused, ended)
	}
}

// checkEnd checks that the run ends if nothing more is heard of it, and that the next
// one starts.
func (in *interleaving) checkEnd(t *testing.T) {
	t.Helper()
	in.c.forward(10 * run.Lease)
	got, err := in.s.Runs.Run(t.Context(), refOf("s", "r"))
	if err != nil || !got.Status.Final() || got.Continuations != len(in.snapshots) {
		in.t.Errorf("in the end the run is %+v, %v", got, err)
	}
	if _, err := in.s.Runs.Start(t.Context(), startOf(t, "s", "next", "more")); err != nil {
		in.t.Errorf("the next run cannot start: %v", err)
	}
	if err := in.s.Runs.Renew(t.Context(), refOf("s", "r")); !errors.Is(err, fault.Of(fault.Conflict)) {
		in.t.Errorf("the run can still be renewed: %v", err)
	}
}
