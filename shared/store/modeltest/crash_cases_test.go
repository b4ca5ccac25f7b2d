package modeltest_test

import (
	"context"
	"errors"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
)

// story is a session with three invocations, state in all scopes, a task and a
// rewind, and another session.
func story(s *scene) {
	s.create("other", "")
	s.create("s", `{"k":0,"user:k":0}`)
	s.append(s.events("s", "one", `{"k":1,"user:u":1,"app:a":1}`, ""))
	s.save("s", s.saving("first", bubble{text: "b1", invocation: "one"}))
	s.append(s.events("s", "two", `{"k":2,"l":2}`))
	s.append(s.events("s", "three", `{"k":3,"user:u":3,"app:b":3}`))
	s.rewind(s.rewinding("three"))
	s.append(s.events("s", "four", `{"k":4,"user:k":null,"app:a":4}`))
	s.append(s.events("other", "one", ""))
}

// family is a story with a fork of its session, and a fork of that fork.
func family(s *scene) {
	story(s)
	s.fork(s.forking("s", "f", "four"))
	s.append(s.events("f", "five", `{"k":5}`))
	s.fork(s.forking("f", "g", "none"))
	s.append(s.events("s", "six", `{"k":6}`))
}

// setUp plays the beginning of a case.
func (c crashCase) setUp(s *scene) {
	switch c.setup {
	case "beginning":
		s.create("other", `{"user:k":1}`)
	case "story":
		story(s)
	case "family":
		family(s)
	case "crowd":
		crowd(s)
	}
}

// crashCases are the operations that crash.
func crashCases() []crashCase {
	cases := []crashCase{
		createCase("create", ""),
		createCase("create with state", `{"k":1,"user:k":2,"app:k":3}`),
		appendCase("append", "five", "", "", ""),
		appendCase("append with state", "five", `{"k":5,"l":null}`, "", `{"k":6}`),
		appendCase("append with shared state", "five", `{"k":5,"user:u":null}`, "", `{"app:a":6}`),
		forkCase("fork", "f", "two"), forkCase("fork at a hidden invocation", "f", "three"), forkCase("fork all", "f", ""),
		rewindCase("rewind", "four"),
		rewindCase("rewind of a rewind", "one"),
	}
	return append(append(cases, taskCases()...),
		deleteCase("delete", "story", "s"), deleteCase("delete a parent", "family", "s"),
		deleteCase("delete the fork between", "family", "f"), deleteCase("delete the last fork", "family", "g"))
}

func createCase(name, state string) crashCase {
	return crashCase{
		name: name, setup: "beginning",
		do: func(ctx context.Context, s *scene, store *stores.Store) error {
			_, err := store.Sessions.Create(ctx, s.new("s", state))
			return err
		},
		apply: func(s *scene) { s.create("s", state) },
	}
}

func appendCase(name, invocation string, states ...string) crashCase {
	return crashCase{
		name: name, setup: "story",
		do: func(ctx context.Context, s *scene, store *stores.Store) error {
			_, _, err := store.Sessions.Append(ctx, copied(s.events("s", invocation, states...)))
			return err
		},
		apply: func(s *scene) { s.append(s.events("s", invocation, states...)) },
	}
}

func forkCase(name, id, before string) crashCase {
	return crashCase{
		name: name, setup: "story", snapshot: true,
		do: func(ctx context.Context, s *scene, store *stores.Store) error {
			_, err := store.History.Fork(ctx, s.forking("s", id, before))
			return err
		},
		apply: func(s *scene) { s.fork(s.forking("s", id, before)) },
	}
}

func rewindCase(name, before string) crashCase {
	return crashCase{
		name: name, setup: "story",
		do: func(ctx context.Context, s *scene, store *stores.Store) error {
			_, err := store.History.Rewind(ctx, s.rewinding(before))
			return err
		},
		apply: func(s *scene) { s.rewind(s.rewinding(before)) },
	}
}

func taskCases() []crashCase {
	unplaced := taskCase("save a task without a position", "new", []bubble{{text: "b2", invocation: "fresh"}, {text: "b3"}})
	unplaced.half = func(s *scene) { s.place("new", "fresh") }
	moving := taskCase("save a task that moves", "task",
		[]bubble{{text: "b2", invocation: "fresh"}, {text: "b1", invocation: "one"}})
	moving.half = func(s *scene) { s.place("task", "fresh") }
	own := taskCase("save a task that is its own invocation", "new", []bubble{{text: "b2"}})
	own.half = func(s *scene) { s.place("new", "new") }
	return []crashCase{
		own,
		taskCase("save a task", "new", []bubble{{text: "b2", invocation: "two"}}),
		taskCase("save a task again", "task", []bubble{{text: "b1", invocation: "one"}, {text: "b2", invocation: "two"}}),
		unplaced, moving,
	}
}

func taskCase(name, id string, bubbles []bubble) crashCase {
	given := &record{id: id, text: name, bubbles: bubbles}
	return crashCase{
		name: name, setup: "story",
		do: func(ctx context.Context, s *scene, store *stores.Store) error {
			save, err := given.saving(s.world.live["s"])
			s.must(err)
			_, _, err = store.Tasks.Save(ctx, save)
			return err
		},
		apply: func(s *scene) { s.save("s", given) },
	}
}

// place adds the entry of a task that was not saved in the end. It is shown only
// with the whole log.
func (s *scene) place(id, invocation string) {
	s.world.add(s.world.live["s"], session.Event{InvocationID: invocation, Author: "system", TaskID: id})
}

// deleteCase deletes a session. Once the others are deleted too, the sweeper leaves
// nothing.
func deleteCase(name string, setup, id string) crashCase {
	return crashCase{
		name: name, setup: setup, deletes: true,
		do: func(ctx context.Context, _ *scene, store *stores.Store) error {
			err := store.Sessions.Delete(ctx, "user", id)
			if errors.Is(err, fault.Of(fault.NotFound)) {
				return nil // it was deleted before
			}
			return err
		},
		apply: func(s *scene) { s.world.delete(s.world.live[id]) },
		last: func(s *scene, st *stage) {
			for other := range s.world.live {
				s.must(st.store.Sessions.Delete(s.t.Context(), "user", other))
			}
			if left := swept(s.t.Context(), s.t, st.engine); len(left) > 0 {
				s.t.Errorf("left after all sessions were deleted: %v", left)
			}
		},
	}
}
