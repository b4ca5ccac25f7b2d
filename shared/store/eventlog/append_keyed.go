package eventlog

import (
	"context"

	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/table"
)

// A request with an idempotency key gives its events ids of their positions and the
// key, so that one trace of the request leads to all of them: in the lower bound of the
// invocation that it begins, which is written anyway, or else a lower bound of its own
// (docs/adr/0047-appends-by-idempotency-key.md).

// takeKey makes the ids of the events without one depend on the request's key.
func (w *batch) takeKey() {
	if len(w.chosen) == len(w.events) {
		w.Keyed = nil
	}
	if w.Keyed == nil {
		return
	}
	w.tails = map[string]int{}
	for i, e := range w.events {
		if id, err := uuid.Parse(w.Keyed.IDs[i]); err == nil && e.ID == "" {
			w.random[i] = id
			w.tails[session.WithoutPosition(session.PositionalID(1, id))] = i
		}
	}
}

// withoutID returns the events that the key's ids are for.
func (w *batch) withoutID() []int {
	var out []int
	for i := range w.events {
		if w.random[i] != uuid.Nil {
			out = append(out, i)
		}
	}
	return out
}

// findKeyed leaves a trace of the request. If there is one, it searches for the events
// from there.
func (w *batch) findKeyed(ctx context.Context) error {
	if w.Keyed == nil {
		return nil
	}
	events := w.withoutID()
	id := w.events[events[0]].InvocationID
	held, err := w.boundWith(ctx, id, w.Keyed.Name)
	if err != nil {
		return err
	}
	from := held.Position
	if of := w.invocations[id]; of.phase == unknown && from >= w.head.Next {
		of.phase, of.bound = absent, from
	}
	if held.Keyed != w.Keyed.Name {
		if from, err = w.s.WriteLowerBound(ctx, keys.ChosenKey(w.log.Name, w.Keyed.Name), w.head.Next); err != nil {
			return err
		}
	}
	if from >= w.head.Next {
		return nil
	}
	return w.search(ctx, from, events)
}

// boundWith returns the lower bound of an invocation. If there is none, it writes one
// with the trace of the request.
func (w *batch) boundWith(ctx context.Context, id, name string) (LowerBound, error) {
	k := keys.InvocationKey(w.log.Name, id)
	if id == w.head.invocation {
		var held LowerBound
		if found, err := w.s.DB.Get(ctx, k, &held); found || err != nil {
			return held, err
		}
	}
	w.bounded[id] = true
	return w.s.putLowerBound(ctx, LowerBound{PK: k.PK, SK: k.SK, Position: w.head.Next, Keyed: name})
}

// FindAppended finds the events of a request with an idempotency key that are all in the
// log; session.ErrNotAppended otherwise.
func (s *Store) FindAppended(ctx context.Context, l Log, events []session.Event, with Along) (Appended, error) {
	w := s.newWriter(l, events, with)
	err := w.findOnly(ctx)
	return Appended{Events: w.events, Head: w.head}, err
}

func (w *batch) findOnly(ctx context.Context) error {
	if w.Keyed == nil || len(w.chosen) > 0 {
		return session.ErrNotAppended
	}
	head, err := w.s.ReadHead(ctx, w.log)
	if err != nil {
		return err
	}
	w.start(head)
	for _, k := range []table.Key{
		keys.InvocationKey(w.log.Name, w.events[0].InvocationID), keys.ChosenKey(w.log.Name, w.Keyed.Name),
	} {
		var held LowerBound
		found, err := w.s.DB.Get(ctx, k, &held)
		if err != nil {
			return err
		}
		if found && (held.Keyed == w.Keyed.Name || k.SK[:len(keys.PrefixChosen)] == keys.PrefixChosen) {
			if err := w.search(ctx, held.Position, w.withoutID()); err != nil {
				return err
			}
		}
		if len(w.fresh()) == 0 {
			return nil
		}
	}
	return session.ErrNotAppended
}
