package modeltest_test

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
)

// scene is the state of a story: a model and, while it is set up, a store.
type scene struct {
	t     *testing.T
	store *stores.Store
	world *world
}

// The helpers of a scene change the model and, if it has one, the store.

func (s *scene) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) new(id, state string) session.New {
	n := session.New{
		ID: id, UserID: "user", AppName: "app", Name: "Session " + id, Nonce: "nonce " + id,
	}
	if state != "" {
		s.must(json.Unmarshal([]byte(state), &n.State))
	}
	s.must(n.Validate())
	return n
}

func (s *scene) create(id, state string) {
	if n := s.new(id, state); s.store != nil {
		_, err := s.store.Sessions.Create(s.t.Context(), n)
		s.must(err)
	}
	s.world.create(s.new(id, state))
}

// events returns events of one invocation, each changing state.
func (s *scene) events(id, invocation string, states ...string) session.Append {
	a := session.Append{SessionID: id, UserID: "user"}
	for i, state := range states {
		raw := map[string]any{
			"id": id + " " + invocation + " " + strconv.Itoa(i), "invocation_id": invocation, "author": "agent",
			"content": map[string]any{"role": "model"},
		}
		if state != "" {
			raw["actions"] = map[string]any{"state_delta": json.RawMessage(state)}
		}
		e, err := session.ParseEvent(mustJSON(raw), "")
		s.must(err)
		a.Events = append(a.Events, e)
	}
	return a
}

func (s *scene) append(a session.Append) {
	if s.store != nil {
		_, _, err := s.store.Sessions.Append(s.t.Context(), copied(a))
		s.must(err)
	}
	for _, e := range a.Events {
		s.world.add(s.world.live[a.SessionID], e)
	}
}

// copied keeps the store's changes away from the model.
func copied(a session.Append) session.Append {
	a.Events = append([]session.Event{}, a.Events...)
	return a
}

func (s *scene) saving(text string, bubbles ...bubble) *record {
	return &record{id: "task", text: text, bubbles: bubbles}
}

func (s *scene) save(id string, r *record) {
	c := s.world.live[id]
	given, err := r.saving(c)
	s.must(err)
	if s.store != nil {
		_, _, err := s.store.Tasks.Save(s.t.Context(), given)
		s.must(err)
	}
	s.world.save(c, r.id, r.text, r.bubbles, given.Invocations)
}

func (s *scene) rewinding(before string) session.Rewind {
	return session.Rewind{SessionID: "s", UserID: "user", Before: before, Nonce: "rewind " + before}
}

// rewind applies the answer of the store or, without one, assumes that it restores
// only what it must.
func (s *scene) rewind(r session.Rewind) {
	s.t.Helper()
	c := s.world.live[r.SessionID]
	x, known := s.world.expect(c, r)
	if !known {
		s.t.Fatalf("no invocation %q in %s", r.Before, c.id)
	}
	got := session.Rewound{State: session.Delta{}}
	for key, value := range x.must {
		got.State[key] = json.RawMessage("null")
		if value != "" {
			got.State[key] = json.RawMessage(value)
		}
	}
	if s.store != nil {
		var err error
		got, err = s.store.History.Rewind(s.t.Context(), r)
		s.must(err)
		if d := x.check(got); d != "" {
			s.t.Fatalf("rewind %s before %s: %s", c.id, r.Before, d)
		}
	}
	s.world.rewind(c, x, r, got)
}

func (s *scene) forking(of, id, before string) session.ForkOf {
	f := session.ForkOf{SessionID: of, UserID: "user", ID: id, Nonce: "nonce " + id}
	if before != "" {
		f.Before = &before
	}
	return f
}

func (s *scene) fork(f session.ForkOf) {
	if s.store != nil {
		_, err := s.store.History.Fork(s.t.Context(), f)
		s.must(err)
	}
	s.world.fork(s.world.live[f.SessionID], f)
}
