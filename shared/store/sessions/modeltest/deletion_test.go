package modeltest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/store/stores"
)

// estate is what can be read of a deleted session: everything, and of a fork
// whose source is gone too, so that deleting it clears both logs.
func estate(s *scene) {
	story(s)
	s.append(s.events("s", "five", `{"k":5}`, `{"l":5}`, ""))
	s.save("s", &record{id: "second", text: "second", bubbles: []bubble{{text: "b2", invocation: "two"}}})
	s.save("s", &record{id: "third", text: "third", bubbles: []bubble{{text: "b5", invocation: "five"}}})
	for range 3 {
		s.put("s", "notes")
	}
	s.put("s", "plan")
	s.fork(s.forking("s", "f", ""))
	s.append(s.events("f", "six", `{"k":6}`, ""))
	s.save("f", &record{id: s.taken("f", "second"), text: "changed", bubbles: []bubble{{text: "b6", invocation: "six"}}})
	s.put("f", "notes")
	s.put("f", "report")
}

// put stores a version of an artifact and names it in the log. Neither is in
// the model.
func (s *scene) put(id, name string) {
	v, err := s.store.PutArtifact(s.t.Context(), artifact.Put{
		SessionID: id, UserID: "user", Name: name, MimeType: "text/plain", Body: []byte(randomText(8 << 10)),
	})
	s.must(err)
	e, err := session.ParseEvent(mustJSON(map[string]any{
		"invocation_id": "files", "author": "agent", "actions": map[string]any{"artifact_delta": map[string]int64{name: v.Version}},
	}), "")
	s.must(err)
	_, _, err = s.store.Append(s.t.Context(), session.Append{SessionID: id, UserID: "user", Events: []session.Event{e}})
	s.must(err)
}

// taken is the id that a fork gave a task.
func (s *scene) taken(id, of string) string {
	page, err := s.store.Tasks(s.t.Context(), task.Query{SessionID: id, UserID: "user"})
	s.must(err)
	i := slices.IndexFunc(page.Tasks, func(t task.Task) bool { return strings.HasPrefix(t.ID, of+".") })
	return page.Tasks[i].ID
}

func randomText(n int) string {
	var b strings.Builder
	for b.Len() < n {
		fmt.Fprintf(&b, "%016x", rand.Uint64()) //nolint:gosec // a test
	}
	return b.String()
}

// halfway carries out half of one batch of writes, and nothing after it.
type halfway struct {
	at    int64
	count atomic.Int64
}

var errHalfway = errors.New("the deletion was cut off")

func (h *halfway) store(st *stage) *stores.Store {
	return open(dynamodb.New(st.client.Options(), func(o *dynamodb.Options) {
		o.APIOptions = append(o.APIOptions, h.add)
	}), st.table)
}

func (h *halfway) add(stack *middleware.Stack) error {
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Halfway", func(
		ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
	) (out middleware.InitializeOutput, metadata middleware.Metadata, err error) {
		batch, ok := in.Parameters.(*dynamodb.BatchWriteItemInput)
		ctx = context.WithoutCancel(ctx) // what was sent has happened before the next run
		n := h.count.Load()
		if ok {
			n = h.count.Add(1)
		}
		switch {
		case n > h.at:
			return out, metadata, errHalfway
		case !ok || n < h.at:
			return next.HandleInitialize(ctx, in)
		}
		for table, writes := range batch.RequestItems {
			rand.Shuffle(len(writes), func(i, j int) { //nolint:gosec // a test
				writes[i], writes[j] = writes[j], writes[i]
			})
			batch.RequestItems[table] = writes[:(len(writes)+1)/2]
		}
		if out, metadata, err = next.HandleInitialize(ctx, in); err == nil {
			err = errHalfway
		}
		return out, metadata, err
	}), middleware.Before)
}

// TestDeletionWhileReading deletes a session, wholly or cut off somewhere,
// before each request of each read. The answer must be what was there before
// or that there is no session, never a part of it.
func TestDeletionWhileReading(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	estate(&scene{t: t, store: st.store, world: newWorld()})
	if err := st.store.Delete(t.Context(), "user", "s"); err != nil { // its log stays for f
		t.Fatal(err)
	}
	st.keep()
	var runs []run
	for name, read := range reads("f") {
		before, err := read(t.Context(), st.store)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for cut := range 12 {
			runs = append(runs, requests(2, func(at int) bool {
				st.reset()
				what := fmt.Sprintf("deletion up to batch %d before request %d of %s", cut, at, name)
				i := &interruption{at: at, run: func() {
					deleter := st.store
					if cut > 0 {
						deleter = (&halfway{at: int64(cut)}).store(st)
					}
					if err := deleter.Delete(t.Context(), "user", "f"); err != nil {
						t.Errorf("%s: delete: %v", what, err)
					}
				}}
				got, err := read(t.Context(), i.store(st))
				if missing := errors.Is(err, fault.Of(fault.NotFound)); err != nil && !missing {
					t.Errorf("%s: %v", what, err)
				} else if d := cmp.Diff(before, got, cmpopts.EquateEmpty()); d != "" && !missing {
					t.Errorf("%s: neither all nor nothing\n%s", what, d)
				}
				return i.reached()
			})...)
		}
	}
	spend(t, 12*time.Second, runs)
}

type read func(context.Context, *stores.Store) (any, error)

// reads are the ways to read a session.
func reads(id string) map[string]read {
	out := map[string]read{
		"session": func(ctx context.Context, s *stores.Store) (any, error) { return s.Get(ctx, "user", id) },
		"state":   func(ctx context.Context, s *stores.Store) (any, error) { return s.State(ctx, "user", id) },
		"forks":   func(ctx context.Context, s *stores.Store) (any, error) { return s.Forks(ctx, "user", id) },
		"changed task": func(ctx context.Context, s *stores.Store) (any, error) {
			page, err := s.Tasks(ctx, task.Query{SessionID: id, UserID: "user"})
			if err != nil {
				return nil, err
			}
			return s.Task(ctx, "user", id, page.Tasks[len(page.Tasks)-1].ID)
		},
	}
	for _, limit := range []int{1, 2, session.MaxPage} {
		for _, view := range []session.View{session.All, session.Effective} {
			for _, down := range []bool{false, true} {
				out[fmt.Sprintf("%s events, %d a page, descending %v", view, limit, down)] = func(
					ctx context.Context, s *stores.Store,
				) (any, error) {
					r := &reader{store: s}
					return r.all(ctx, &conv{id: id, user: "user"}, session.EventQuery{View: view, Limit: limit, Descending: down})
				}
			}
		}
		out[fmt.Sprintf("tasks, %d a page", limit)] = func(ctx context.Context, s *stores.Store) (any, error) {
			r := &reader{store: s, pages: session.EventQuery{Limit: limit}, closely: &conv{id: id, user: "user"}}
			return r.readTasks(ctx, r.closely)
		}
		out[fmt.Sprintf("artifacts, %d a page", limit)] = func(ctx context.Context, s *stores.Store) (any, error) {
			var all []artifact.Version
			for q := (artifact.Query{SessionID: id, UserID: "user", Limit: limit}); ; {
				page, err := s.Artifacts(ctx, q)
				if all = append(all, page.Versions...); err != nil || page.Next == "" {
					return all, err
				}
				q.After = page.Next
			}
		}
	}
	for _, name := range []string{"notes", "plan", "report"} {
		out["versions of "+name] = func(ctx context.Context, s *stores.Store) (any, error) {
			return s.ArtifactVersions(ctx, artifact.VersionQuery{SessionID: id, UserID: "user", Name: name, Limit: 100})
		}
		for _, version := range []int64{-1, 0} {
			out[fmt.Sprintf("version %d of %s", version, name)] = func(ctx context.Context, s *stores.Store) (any, error) {
				r := artifact.Ref{SessionID: id, UserID: "user", Name: name}
				if version >= 0 {
					r.Version = &version
				}
				_, body, err := s.Artifact(ctx, r)
				return string(body), err
			}
		}
	}
	return out
}

// TestDeletionWhileAppending deletes a session, wholly or cut off somewhere,
// before each request of an append, right after another append to it. A
// position that was given to the one is never given to the other.
func TestDeletionWhileAppending(t *testing.T) {
	t.Parallel()
	stage := stages(t)
	var runs []run
	for _, states := range [][]string{{""}, {"", `{"k":5}`}, {`{"user:u":5}`}} {
		for _, between := range []int{0, 1, 2} {
			for cut := range 6 {
				runs = append(runs, requests(2, func(at int) bool {
					l := late{t: t, st: stage(crashCase{setup: "story"}), states: states, between: between, cut: cut, at: at}
					return l.run()
				})...)
			}
		}
	}
	spend(t, 10*time.Second, runs)
}

// late is an append, and a rival's, in whose midst others append and delete.
type late struct {
	t                *testing.T
	st               *stage
	states           []string
	between, cut, at int
}

// run is false where the append needs fewer requests.
func (l late) run() bool {
	l.t.Helper()
	what := fmt.Sprintf("deletion up to batch %d after %d appends before request %d", l.cut, l.between, l.at)
	s := crashCase{setup: "story"}.model(l.t, func(*scene) {})
	given := map[int64]bool{}
	last := int64(len(s.world.live["s"].log))
	add := func(store *stores.Store, invocation string, states ...string) {
		stored, _, err := store.Append(l.t.Context(), copied(s.events("s", invocation, states...)))
		switch {
		case err == nil && (given[stored[0].Seq] || stored[0].Seq <= last):
			l.t.Errorf("%s: position %d was given twice", what, stored[0].Seq)
		case err == nil:
			given[stored[0].Seq] = true
		case !errors.Is(err, fault.Of(fault.NotFound)):
			l.t.Errorf("%s: %v", what, err)
		}
	}
	deletion := &interruption{at: l.at, run: func() {
		for n := range l.between {
			add(l.st.store, fmt.Sprint("between ", n), "")
		}
		deleter := l.st.store
		if l.cut > 0 {
			deleter = (&halfway{at: int64(l.cut)}).store(l.st)
		}
		s.must(deleter.Delete(l.t.Context(), "user", "s"))
	}}
	rival := &interruption{at: l.at, run: func() { add(deletion.store(l.st), "rival", l.states...) }}
	add(rival.store(l.st), "five", l.states...)
	return rival.reached()
}
