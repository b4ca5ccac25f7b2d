package modeltest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/hooks"
)

// estate is everything that can be read of a deleted session, and of a fork whose
// source is deleted too, so that its deletion clears both logs.
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

// put stores a version of an artifact and names it in the log. Neither is in the
// model.
func (s *scene) put(id, name string) {
	v, err := s.store.Artifacts.PutArtifact(s.t.Context(), artifact.Put{
		SessionID: id, UserID: "user", Name: name, MimeType: "text/plain", Body: []byte(randomText(s.t, 8<<10)),
	})
	s.must(err)
	e, err := session.ParseEvent(mustJSON(map[string]any{
		"invocation_id": "files", "author": "agent", "actions": map[string]any{"artifact_delta": map[string]int64{name: v.Version}},
	}), "")
	s.must(err)
	_, _, err = s.store.Sessions.Append(s.t.Context(), session.Append{SessionID: id, UserID: "user", Events: []session.Event{e}})
	s.must(err)
}

// taken returns the id that a fork gave a task.
func (s *scene) taken(id, of string) string {
	page, err := s.store.Tasks.Tasks(s.t.Context(), task.Query{SessionID: id, UserID: "user"})
	s.must(err)
	i := slices.IndexFunc(page.Tasks, func(t task.Task) bool { return strings.HasPrefix(t.ID, of+".") })
	return page.Tasks[i].ID
}

func randomText(t *testing.T, n int) string {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 1)) //nolint:gosec // any text that does not compress
	var b strings.Builder
	for b.Len() < n {
		fmt.Fprintf(&b, "%016x", random.Uint64())
	}
	return b.String()
}

// halfway executes half of one batch of writes and nothing after it. Batches are
// those that DynamoDB accepts at once.
type halfway struct {
	st     *stage
	at     int
	random *rand.Rand

	mu    sync.Mutex
	count int
}

const batchSize = 25

var errHalfway = errors.New("the deletion was interrupted")

func (h *halfway) store() *stores.Store {
	return open(hooks.New(uncut{h.st.engine}, hooks.Hooks{Before: h.before}))
}

func (h *halfway) before(ctx context.Context, c hooks.Call) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.count >= h.at {
		return errHalfway
	}
	if c.Op != hooks.BatchWrite {
		return nil
	}
	batches := (len(c.Writes) + batchSize - 1) / batchSize
	if h.count+batches < h.at {
		h.count += batches
		return nil
	}
	whole := (h.at - h.count - 1) * batchSize
	part := slices.Clone(c.Writes[whole:min(whole+batchSize, len(c.Writes))])
	h.random.Shuffle(len(part), func(i, j int) { part[i], part[j] = part[j], part[i] })
	h.count = h.at
	_, err := uncut{h.st.engine}.BatchWrite(ctx, slices.Concat(c.Writes[:whole], part[:(len(part)+1)/2]))
	return errors.Join(errHalfway, err)
}

// uncut executes the batches that were sent before the next case begins.
type uncut struct{ table.Engine }

func (u uncut) BatchWrite(ctx context.Context, writes []table.Write) (table.Units, error) {
	return u.Engine.BatchWrite(context.WithoutCancel(ctx), writes)
}

// TestDeletionWhileReading deletes a session, completely or interrupted, before each
// request of each read. The answer must be the complete content or that there is no
// session, never a part of it.
func TestDeletionWhileReading(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	estate(&scene{t: t, store: st.store, world: newWorld()})
	if err := st.store.Sessions.Delete(t.Context(), "user", "s"); err != nil { // its log stays for f
		t.Fatal(err)
	}
	st.keep()
	var sets []set
	for name, read := range reads("f") {
		before, err := read(t.Context(), st.store)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for cut := range 12 {
			sets = append(sets, set{of: name, first: 2, play: func(t *testing.T, at int) bool {
				t.Helper()
				st := st.fresh(t)
				what := fmt.Sprintf("deletion up to batch %d before request %d of %s", cut, at, name)
				i := &interruption{at: at, run: func() {
					deleter := st.store
					if cut > 0 {
						deleter = (&halfway{st: st, at: cut, random: property.Rand(t, at)}).store()
					}
					if err := deleter.Sessions.Delete(t.Context(), "user", "f"); err != nil {
						t.Errorf("%s: delete: %v", what, err)
					}
				}}
				got, err := read(t.Context(), open(i.on(st.engine)))
				if missing := errors.Is(err, fault.Of(fault.NotFound)); err != nil && !missing {
					t.Errorf("%s: %v", what, err)
				} else if d := cmp.Diff(before, got, cmpopts.EquateEmpty()); d != "" && !missing {
					t.Errorf("%s: neither all nor nothing\n%s", what, d)
				}
				return i.reached()
			}})
		}
	}
	slices.SortStableFunc(sets, func(a, b set) int { return strings.Compare(a.of, b.of) })
	number{all: 4000, few: 172, every: 20}.play(t, sets)
}

type read func(context.Context, *stores.Store) (any, error)

// reads are the ways to read a session.
func reads(id string) map[string]read {
	out := map[string]read{
		"session": func(ctx context.Context, s *stores.Store) (any, error) { return s.Sessions.Get(ctx, "user", id) },
		"state":   func(ctx context.Context, s *stores.Store) (any, error) { return s.Sessions.State(ctx, "user", id) },
		"forks": func(ctx context.Context, s *stores.Store) (any, error) {
			return s.History.Forks(ctx, session.TreeQuery{UserID: "user", SessionID: id})
		},
		"changed task": func(ctx context.Context, s *stores.Store) (any, error) {
			page, err := s.Tasks.Tasks(ctx, task.Query{SessionID: id, UserID: "user"})
			if err != nil {
				return nil, err
			}
			return s.Tasks.Task(ctx, "user", id, page.Tasks[len(page.Tasks)-1].ID)
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
				page, err := s.Artifacts.Artifacts(ctx, q)
				if all = append(all, page.Versions...); err != nil || page.Next == "" {
					return all, err
				}
				q.After = page.Next
			}
		}
	}
	for _, name := range []string{"notes", "plan", "report"} {
		out["versions of "+name] = func(ctx context.Context, s *stores.Store) (any, error) {
			return s.Artifacts.ArtifactVersions(ctx, artifact.VersionQuery{SessionID: id, UserID: "user", Name: name, Limit: 100})
		}
		for _, version := range []int64{-1, 0} {
			out[fmt.Sprintf("version %d of %s", version, name)] = func(ctx context.Context, s *stores.Store) (any, error) {
				r := artifact.Ref{SessionID: id, UserID: "user", Name: name}
				if version >= 0 {
					r.Version = &version
				}
				_, body, err := s.Artifacts.Artifact(ctx, r)
				return string(body), err
			}
		}
	}
	return out
}

// TestDeletionWhileAppending deletes a session, completely or interrupted, before
// each request of an append, right after another append to it. No position is given
// to both.
func TestDeletionWhileAppending(t *testing.T) {
	t.Parallel()
	begin := settings(t, []crashCase{{setup: "story"}})["story"]
	var sets []set
	for _, states := range [][]string{{""}, {"", `{"k":5}`}, {`{"user:u":5}`}} {
		for _, between := range []int{0, 1, 2} {
			for cut := range 6 {
				sets = append(sets, set{of: fmt.Sprint(states, between), first: 2, play: func(t *testing.T, at int) bool {
					t.Helper()
					l := late{t: t, st: begin.fresh(t), states: states, between: between, cut: cut, at: at}
					return l.run()
				}})
			}
		}
	}
	number{all: 432, few: 69, every: 5}.play(t, sets)
}

// late is an append, and a concurrent one, during which others append and delete.
type late struct {
	t                *testing.T
	st               *stage
	states           []string
	between, cut, at int
}

// run returns false if the append needs fewer requests.
func (l late) run() bool {
	l.t.Helper()
	what := fmt.Sprintf("deletion up to batch %d after %d appends before request %d", l.cut, l.between, l.at)
	s := crashCase{setup: "story"}.model(l.t, func(*scene) {})
	given := map[int64]bool{}
	last := int64(len(s.world.live["s"].log))
	add := func(store *stores.Store, invocation string, states ...string) {
		stored, _, err := store.Sessions.Append(l.t.Context(), copied(s.events("s", invocation, states...)))
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
			deleter = (&halfway{st: l.st, at: l.cut, random: property.Rand(l.t, l.at)}).store()
		}
		s.must(deleter.Sessions.Delete(l.t.Context(), "user", "s"))
	}}
	rival := &interruption{at: l.at, run: func() { add(open(deletion.on(l.st.engine)), "rival", l.states...) }}
	add(open(rival.on(l.st.engine)), "five", l.states...)
	return rival.reached()
}
