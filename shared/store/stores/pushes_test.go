package stores_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/infra/test/storetest/fixture"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/hooks"
)

// pushing is an external run with an item of one delta, which a process has kept.
type pushing struct {
	engine table.Engine
	store  *stores.Store // of the process
	other  *stores.Store // of another one
	ref    run.Ref
	reads  int // of the process
	writes int
}

func newPushing(t *testing.T) *pushing {
	t.Helper()
	p := &pushing{engine: storetest.Engine(t), ref: run.Ref{UserID: fixture.Alice, SessionID: "s", RunID: "r"}}
	counted := hooks.New(p.engine, hooks.Hooks{Before: func(_ context.Context, c hooks.Call) error {
		if c.Writing() {
			p.writes++
		} else {
			p.reads++
		}
		return nil
	}})
	codec := stores.WithCodec(storetest.Codec())
	p.store, p.other = stores.New(counted, codec), stores.New(p.engine, codec)
	fixture.Session(t, p.other, fixture.Alice, "s", nil)
	start := run.Start{Ref: p.ref, Mode: run.External, Input: []session.Event{fixture.Event(t, "", "r", "question")}}
	if _, err := p.other.Runs.Start(t.Context(), start); err != nil {
		t.Fatal(err)
	}
	if err := pushDelta(t.Context(), p.store, p.ref, 0); err != nil {
		t.Fatal(err)
	}
	p.reads, p.writes = 0, 0
	return p
}

// pushDelta pushes a delta as the API does.
func pushDelta(ctx context.Context, s *stores.Store, ref run.Ref, offset int64) error {
	_, it, err := s.Runs.OpenPush(ctx, ref, "item", &offset)
	if err != nil {
		return err
	}
	return flushDelta(ctx, s, ref, it, func(it run.Item, deltas []content.Delta) error { return it.FlushAt(ctx, offset, deltas) })
}

// pushAnywhere pushes a delta as the API does without an offset.
func pushAnywhere(ctx context.Context, s *stores.Store, ref run.Ref) error {
	_, it, err := s.Runs.OpenPush(ctx, ref, "item", nil)
	if err != nil {
		return err
	}
	return flushDelta(ctx, s, ref, it, func(it run.Item, deltas []content.Delta) error {
		_, err := it.Flush(ctx, deltas)
		return err
	})
}

func flushDelta(ctx context.Context, s *stores.Store, ref run.Ref, it run.Item, flush func(run.Item, []content.Delta) error) (err error) {
	if it == nil {
		begun := session.Event{ID: "item", Author: "agent", InvocationID: ref.RunID}
		if it, err = s.Runs.BeginItem(ctx, ref, begun.With("content", []byte(`{"role":"model"}`))); err != nil {
			return err
		}
	}
	if err := flush(it, []content.Delta{{Text: "word "}}); err != nil {
		return err
	}
	s.Runs.KeepPush(it)
	return nil
}

func TestOpenPush(t *testing.T) {
	t.Parallel()
	t.Run("a push at the right offset reads the session only", func(t *testing.T) {
		t.Parallel()
		p := newPushing(t)
		for offset := range int64(4) {
			if err := pushDelta(t.Context(), p.store, p.ref, offset+1); err != nil {
				t.Fatal(err)
			}
		}
		if p.reads != 4 || p.writes != 4 {
			t.Errorf("4 pushes took %d reads and %d writes", p.reads, p.writes)
		}
	})
	t.Run("a push without an offset reads the session only", func(t *testing.T) {
		t.Parallel()
		p := newPushing(t)
		for range 4 {
			if err := pushAnywhere(t.Context(), p.store, p.ref); err != nil {
				t.Fatal(err)
			}
		}
		if p.reads != 4 || p.writes != 4 {
			t.Errorf("4 pushes took %d reads and %d writes", p.reads, p.writes)
		}
	})
	t.Run("pushes of several processes without an offset are all stored", func(t *testing.T) {
		t.Parallel()
		p := newPushing(t)
		for i := range 40 { // more than a segment holds
			for _, s := range []*stores.Store{p.store, p.other, p.other}[i%2:] {
				if err := pushAnywhere(t.Context(), s, p.ref); err != nil {
					t.Fatal(err)
				}
			}
		}
		_, it, err := p.other.Runs.OpenPush(t.Context(), p.ref, "item", new(int64(101)))
		if err != nil || it.Offset() != 101 || strings.Count(string(it.Content().Snapshot()), "word") != 101 {
			t.Errorf("the item has %d deltas: %s, %v", it.Offset(), it.Content().Snapshot(), err)
		}
	})
	t.Run("the end of the run refuses a push without an offset", func(t *testing.T) {
		t.Parallel()
		p := newPushing(t)
		_, it, err := p.store.Runs.OpenPush(t.Context(), p.ref, "item", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.other.Runs.Cancel(t.Context(), p.ref); err != nil {
			t.Fatal(err)
		}
		_, err = it.Flush(t.Context(), []content.Delta{{Text: "late"}})
		fixture.WantKind(t, err, fault.Conflict)
	})
	t.Run("a repeated push and one that leaves a gap are refused with the offset", func(t *testing.T) {
		t.Parallel()
		p := newPushing(t)
		for _, offset := range []int64{0, 2} {
			wantOffset(t, pushDelta(t.Context(), p.store, p.ref, offset), 1)
		}
	})
	t.Run("another process's push is noticed", func(t *testing.T) {
		t.Parallel()
		p := newPushing(t)
		if err := pushDelta(t.Context(), p.other, p.ref, 1); err != nil {
			t.Fatal(err)
		}
		wantOffset(t, pushDelta(t.Context(), p.store, p.ref, 1), 2)
		if err := pushDelta(t.Context(), p.store, p.ref, 2); err != nil {
			t.Error(err)
		}
	})
	t.Run("the end of the run is noticed", func(t *testing.T) {
		t.Parallel()
		p := newPushing(t)
		if _, err := p.other.Runs.Cancel(t.Context(), p.ref); err != nil {
			t.Fatal(err)
		}
		r, it, err := p.store.Runs.OpenPush(t.Context(), p.ref, "item", new(int64(1)))
		if err != nil || it != nil || r.Status != run.Cancelled {
			t.Errorf("got %+v, %v, %v", r, it, err)
		}
	})
	t.Run("the end of the run between the read and the write is noticed", func(t *testing.T) {
		t.Parallel()
		p := newPushing(t)
		_, it, err := p.store.Runs.OpenPush(t.Context(), p.ref, "item", new(int64(1)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.other.Runs.Cancel(t.Context(), p.ref); err != nil {
			t.Fatal(err)
		}
		fixture.WantKind(t, it.FlushAt(t.Context(), 1, []content.Delta{{Text: "late"}}), fault.Conflict)
	})
	t.Run("another user's session is refused", func(t *testing.T) {
		t.Parallel()
		p := newPushing(t)
		ref := p.ref
		ref.UserID = fixture.Bob
		fixture.WantKind(t, pushDelta(t.Context(), p.store, ref, 1), fault.Forbidden)
	})
	t.Run("a deleted session is missing", func(t *testing.T) {
		t.Parallel()
		p := newPushing(t)
		if err := p.other.Sessions.Delete(t.Context(), fixture.Alice, "s"); err != nil {
			t.Fatal(err)
		}
		fixture.WantKind(t, pushDelta(t.Context(), p.store, p.ref, 1), fault.NotFound)
	})
}

func wantOffset(t *testing.T, err error, offset int64) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Conflict || f.Extra["offset"] != offset {
		t.Errorf("got %v, want a conflict with the offset %d", err, offset)
	}
}
