package deliveries

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/retry"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// forgetTime is how long a request removes the deliveries of a deleted target. The
// next pass of the lane finds that the target is gone and removes the rest.
const forgetTime = 15 * time.Second

// Forget removes the lane of a deleted target, by its group, or all lanes of a
// family, with the deliveries parked in them.
func (s *Lanes) Forget(ctx context.Context, group string) error {
	limited, cancel := context.WithTimeout(ctx, forgetTime)
	defer cancel()
	err := s.emptyLanes(limited, group)
	late := limited.Err() != nil || errors.Is(err, fault.Of(fault.Busy))
	if err != nil && (!late || ctx.Err() != nil) {
		return fmt.Errorf("remove the deliveries parked for a target: %w", err)
	}
	return nil
}

// emptyLanes removes parked deliveries and then their lanes, unless a lane changed:
// a delivery parked concurrently would otherwise be in no lane, and no pass would
// find it.
func (s *Lanes) emptyLanes(ctx context.Context, group string) error {
	family, _ := delivery.SplitGroup(group)
	return records.Contended(ctx, func() error {
		err := s.tryEmptyLanes(ctx, family)
		if errors.Is(err, delivery.ErrLaneChanged) {
			return fmt.Errorf("%w: %w", retry.ErrAgain, err)
		}
		return err
	})
}

// tryEmptyLanes is one attempt; it returns table.ErrConditionFailed or
// delivery.ErrLaneChanged if a lane changed.
func (s *Lanes) tryEmptyLanes(ctx context.Context, family string) error {
	lanes, err := s.lanesOf(ctx, family)
	if err != nil {
		return err
	}
	err = s.base.DB.Pages(ctx, records.KeysOnly(records.Partition(lanePK(family))), func(page []table.Item) (bool, error) {
		var waiting []table.Item
		for _, item := range page {
			if !strings.HasPrefix(table.Text(item, table.SK), skLane) {
				waiting = append(waiting, item)
			}
		}
		return true, s.base.DB.DeleteItems(ctx, waiting)
	})
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(records.Parallel)
	for _, lane := range lanes {
		group.Go(func() error { return s.CloseLane(ctx, lane) })
	}
	return group.Wait()
}

// lanesOf reads the lanes of a family. None of them counts as slow any more: a pass
// would otherwise keep a slow lane if its removal were interrupted.
func (s *Lanes) lanesOf(ctx context.Context, family string) ([]delivery.Lane, error) {
	var lanes []delivery.Lane
	err := s.base.DB.Pages(ctx, records.Prefix(lanePK(family), skLane, true), func(page []table.Item) (bool, error) {
		for _, item := range page {
			lane, err := s.laneOf(ctx, laneGroup(records.KeyOf(item)), item)
			if err == nil && !lane.Slow.IsZero() {
				lane.Slow = time.Time{}
				err = s.SaveLane(ctx, lane)
				lane.Version++
			}
			if err != nil {
				return false, err
			}
			lanes = append(lanes, lane)
		}
		return true, nil
	})
	return lanes, err
}

// RemoveTarget removes a target by the given writes in one transaction, together
// with its lane if the lane is idle, since no pass would reach it any more. It then
// removes the deliveries parked for the target. Each attempt first calls exists,
// whose error ends RemoveTarget.
func (s *Lanes) RemoveTarget(
	ctx context.Context, t delivery.Target, exists func() error, writes ...table.Write,
) error {
	err := records.Contended(ctx, func() error {
		if err := exists(); err != nil {
			return err
		}
		idle, err := s.deleteIdleLane(ctx, t)
		if err != nil {
			return err
		}
		return s.base.DB.Transact(ctx, append(idle, writes...)...)
	})
	if err != nil {
		return err
	}
	return s.Forget(ctx, t.Group())
}

// deleteIdleLane returns the writes that remove the lane of a target if the lane
// exists and nothing is parked in it.
func (s *Lanes) deleteIdleLane(ctx context.Context, t delivery.Target) ([]table.Write, error) {
	lane, err := s.Lane(ctx, t.Group())
	if err != nil || lane.Version == 0 || !lane.Due.IsZero() {
		return nil, err
	}
	return []table.Write{table.Delete(laneKey(lane.Group), unchangedLane(lane))}, nil
}
