package delivery

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// pass is a pass over a lane.
type pass struct {
	*Scheduler
	lane Lane // as the pass will leave it
	kind Kind
	id   string // of the holder
}

// RunPass delivers what waits in a lane, in order, until a delivery fails, the lane
// is empty or the pass has lasted long enough; it then schedules the next pass. An
// outdated wake has no effect. After an error the wake must be handled again.
func (s *Scheduler) RunPass(ctx context.Context, w Wake) error {
	p, err := s.acquire(ctx, w)
	if p == nil || err != nil {
		return err
	}
	var wait time.Duration
	empty := false
	err = retryChange(ctx, func() (err error) {
		if wait, empty, err = p.drain(ctx); err != nil || !empty {
			return err
		}
		return p.release(ctx)
	})
	if err == nil && !empty || errors.Is(err, ErrLaneChanged) {
		return p.reschedule(ctx, wait)
	}
	return err
}

// acquire acquires a lane for a pass; nil if the wake is outdated or the pass is
// not due yet.
func (s *Scheduler) acquire(ctx context.Context, w Wake) (p *pass, err error) {
	id := s.NewID()
	err = retryChange(ctx, func() (err error) {
		p, err = s.tryAcquire(ctx, w, id)
		return err
	})
	return p, err
}

// tryAcquire is one attempt; it returns ErrLaneChanged if the lane changed.
func (s *Scheduler) tryAcquire(ctx context.Context, w Wake, id string) (*pass, error) {
	lane, err := s.Lanes.Lane(ctx, w.Group)
	if err != nil {
		return nil, fmt.Errorf("look at a lane: %w", err)
	}
	now := s.now()
	switch {
	case lane.Version == 0 || w.Pass < lane.Pass:
		return nil, nil // the wake is outdated
	case lane.Holder == id: // an earlier attempt whose answer was lost
		return &pass{s, lane, w.Kind, id}, nil
	case now.Before(lane.Leased): // the holder may have died
		lane.Due = lane.Leased
		return nil, s.wake(ctx, lane, w.Kind, w.Pass)
	case lane.Due.Sub(now) >= time.Second: // longer than the queue's shortest delay
		return nil, s.wake(ctx, lane, w.Kind, w.Pass)
	}
	lane.Pass, lane.Holder, lane.Leased = w.Pass, id, now.Add(s.Lease)
	if deadline, ok := ctx.Deadline(); ok {
		lane.Leased = deadline
	}
	if err := s.Lanes.SaveLane(ctx, lane); err != nil {
		return nil, err
	}
	lane.Version++
	return &pass{s, lane, w.Kind, id}, nil
}

// release ends a pass that emptied the lane: it removes the lane, unless the target
// is slow. It returns ErrLaneChanged if a delivery was parked concurrently.
func (p *pass) release(ctx context.Context) error {
	next := p.lane
	next.Pass, next.Due, next.Holder, next.Leased, next.Head, next.HeadTries = p.lane.Pass+1, time.Time{}, "", time.Time{}, "", 0
	var err error
	if p.now().Before(next.Slow) {
		err = p.Lanes.SaveLane(ctx, next)
	} else {
		err = p.Lanes.CloseLane(ctx, next)
	}
	if !errors.Is(err, ErrLaneChanged) {
		return err
	}
	now, mine, err := p.reread(ctx)
	if err != nil || !mine {
		return err
	}
	p.lane.Version = now.Version
	return ErrLaneChanged
}

// reschedule ends a pass before the lane is empty. It schedules the next pass
// first, so that the next one runs whatever happens to this one.
func (p *pass) reschedule(ctx context.Context, wait time.Duration) error {
	next := p.lane
	next.Pass, next.Due, next.Holder, next.Leased = p.lane.Pass+1, p.now().Add(wait), "", time.Time{}
	if err := p.wake(ctx, next, p.kind, next.Pass); err != nil {
		return err
	}
	return retryChange(ctx, func() error {
		err := p.Lanes.SaveLane(ctx, next)
		if !errors.Is(err, ErrLaneChanged) {
			return err
		}
		now, mine, readErr := p.reread(ctx)
		if readErr != nil || !mine {
			return readErr
		}
		next.Version = now.Version
		return err
	})
}

// reread reads the lane again, since others park in it, and reports whether this
// pass still holds it.
func (p *pass) reread(ctx context.Context) (lane Lane, mine bool, err error) {
	if lane, err = p.Lanes.Lane(ctx, p.lane.Group); err != nil {
		return lane, false, fmt.Errorf("look at a lane: %w", err)
	}
	return lane, lane.Holder == p.id, nil
}
