package delivery

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// turn is one at work.
type turn struct {
	*Scheduler
	lane Lane // as it is to be left
	kind Kind
	id   string // of the holder
}

// Turn brings what waits in a lane, in order, until one fails, nothing is left, or
// the turn has lasted long enough; the next one is due then. A wake that is out of
// date does nothing. After an error it must come again.
func (d *Scheduler) Turn(ctx context.Context, w Wake) error {
	t, err := d.take(ctx, w)
	if t == nil || err != nil {
		return err
	}
	for try := 0; ; try++ {
		wait, empty, err := t.drain(ctx)
		if err != nil {
			return err
		}
		if !empty {
			return t.rest(ctx, wait)
		}
		if err = t.leave(ctx); !errors.Is(err, ErrLaneChanged) {
			return err
		}
		if try == laneTries {
			return t.rest(ctx, 0)
		}
	}
}

// take takes a lane for a turn; nil where it is not, or not yet, to be.
func (d *Scheduler) take(ctx context.Context, w Wake) (*turn, error) {
	id := d.NewID()
	for try := 0; ; try++ {
		lane, err := d.Lanes.Lane(ctx, w.Group)
		if err != nil {
			return nil, fmt.Errorf("look at a lane: %w", err)
		}
		now := d.now()
		switch {
		case lane.Version == 0 || w.Turn < lane.Turn:
			return nil, nil // it is out of date
		case lane.Holder == id: // an earlier try, whose answer was lost
			return &turn{d, lane, w.Kind, id}, nil
		case now.Before(lane.Leased): // whoever is at work may have died
			lane.Due = lane.Leased
			return nil, d.wake(ctx, lane, w.Kind, w.Turn)
		case lane.Due.Sub(now) >= time.Second: // longer than the queue delays one
			return nil, d.wake(ctx, lane, w.Kind, w.Turn)
		}
		lane.Turn, lane.Holder, lane.Leased = w.Turn, id, now.Add(d.Lease)
		if deadline, ok := ctx.Deadline(); ok {
			lane.Leased = deadline
		}
		err = d.Lanes.SaveLane(ctx, lane)
		if err == nil {
			lane.Version++
			return &turn{d, lane, w.Kind, id}, nil
		}
		if !errors.Is(err, ErrLaneChanged) || try == laneTries {
			return nil, err
		}
	}
}

// leave ends a turn that has left nothing: the lane goes, unless the target is slow;
// ErrLaneChanged where something has come meanwhile.
func (t *turn) leave(ctx context.Context) error {
	next := t.lane
	next.Turn, next.Due, next.Holder, next.Leased, next.Head, next.HeadTries = t.lane.Turn+1, time.Time{}, "", time.Time{}, "", 0
	var err error
	if t.now().Before(next.Slow) {
		err = t.Lanes.SaveLane(ctx, next)
	} else {
		err = t.Lanes.CloseLane(ctx, next)
	}
	if !errors.Is(err, ErrLaneChanged) {
		return err
	}
	now, mine, err := t.again(ctx)
	if err != nil || !mine {
		return err
	}
	t.lane.Version = now.Version
	return ErrLaneChanged
}

// rest ends a turn before all is brought. The next one is called first, so that it
// comes whatever becomes of this one.
func (t *turn) rest(ctx context.Context, wait time.Duration) error {
	next := t.lane
	next.Turn, next.Due, next.Holder, next.Leased = t.lane.Turn+1, t.now().Add(wait), "", time.Time{}
	if err := t.wake(ctx, next, t.kind, next.Turn); err != nil {
		return err
	}
	for try := 0; ; try++ {
		err := t.Lanes.SaveLane(ctx, next)
		if !errors.Is(err, ErrLaneChanged) || try == laneTries {
			return err
		}
		now, mine, err := t.again(ctx)
		if err != nil || !mine {
			return err
		}
		next.Version = now.Version
	}
}

// again reads the lane anew, which others park in, and says whether it is held by
// this turn still.
func (t *turn) again(ctx context.Context) (lane Lane, mine bool, err error) {
	if lane, err = t.Lanes.Lane(ctx, t.lane.Group); err != nil {
		return lane, false, fmt.Errorf("look at a lane: %w", err)
	}
	return lane, lane.Holder == t.id, nil
}
