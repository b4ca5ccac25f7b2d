package runs

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/quota"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/usage"
)

// Usage implements quota.Store.
func (s *Store) Usage(ctx context.Context, userID string) (quota.Usage, error) {
	limits := s.slots.usage
	q, err := limits.QuotaItem(ctx, userID)
	if err != nil {
		return quota.Usage{}, err
	}
	sessions, runs, err := s.sessions.CountSessions(ctx, userID)
	if err != nil {
		return quota.Usage{}, err
	}
	if limits.Quotas.Sessions > 0 && q.Sessions != nil {
		sessions = *q.Sessions
	}
	if limits.Quotas.Runs > 0 {
		live, _, err := s.slots.liveRuns(ctx, q.Runs)
		if err != nil {
			return quota.Usage{}, err
		}
		runs = int64(len(live))
	}
	streams, err := limits.OpenStreams(ctx, userID)
	if err != nil {
		return quota.Usage{}, err
	}
	return quota.Usage{
		Sessions: quota.NewUse(sessions, limits.Quotas.Sessions),
		Runs:     quota.NewUse(runs, limits.Quotas.Runs),
		Bytes:    quota.NewUse(q.Stored(), limits.Quotas.Bytes),
		Streams:  quota.NewUse(streams, limits.Quotas.Streams),
	}, nil
}

// slotsAtOnce limits how many slots one write frees.
const slotsAtOnce = 50

// liveRun is an active run as reported to a user who has reached the limit.
type liveRun struct {
	SessionID string `json:"session_id"`
	RunID     string `json:"run_id"`
}

func slotOf(log, run string) string { return log + "/" + run }

// takeSlot takes one of the user's slots for a run that is about to start;
// fault.Busy if active runs have them all. It finds and frees the slots of runs
// that ended without freeing them. A run that replaces another always gets a
// slot, since afterwards there are no more than before.
func (s *slots) takeSlot(ctx context.Context, h *sessions.Header, runID string, instead bool) error {
	most := s.usage.Quotas.Runs
	if instead {
		most = math.MaxInt32
	}
	return records.Settled(ctx, func() error {
		was, failed := s.claimSlot(ctx, h.User, slotOf(h.Log, runID), most)
		if !errors.Is(failed, table.ErrConditionFailed) {
			return failed
		}
		if was.Runs == nil {
			return s.firstSlot(ctx, h.User, slotOf(h.Log, runID))
		}
		if err := s.reclaimSlots(ctx, h.User, was.Runs); err != nil {
			return err
		}
		return failed
	})
}

// firstSlot takes the first slot of a user who never had one;
// table.ErrConditionFailed if another request was first.
func (s *slots) firstSlot(ctx context.Context, user, slot string) error {
	return s.DB.Update(ctx, keys.QuotaKey(user),
		[]table.Change{table.Set(table.Path{usage.QuotaRuns}, map[string]int64{slot: s.Millis()})}, table.NotExists(table.Path{usage.QuotaRuns}))
}

// claimSlot takes a slot if fewer than most are taken or the run already has it.
// Otherwise it returns table.ErrConditionFailed and the stored usage.
func (s *slots) claimSlot(ctx context.Context, user, slot string, most int64) (was usage.QuotaItem, err error) {
	own := table.Path{usage.QuotaRuns, slot}
	failed := s.DB.Update(ctx, keys.QuotaKey(user), []table.Change{table.Set(own, s.Millis())},
		table.Or(table.SizeLess(table.Path{usage.QuotaRuns}, int(most)), table.Exists(own)))
	if _, err := records.Found(failed, &was); err != nil {
		return was, err
	}
	return was, failed
}

// reclaimSlots frees the slots of runs that have ended. If there are none it
// returns fault.Busy with the active runs.
func (s *slots) reclaimSlots(ctx context.Context, user string, slots map[string]int64) error {
	live, over, err := s.liveRuns(ctx, slots)
	if err != nil {
		return err
	}
	if len(over) == 0 {
		return s.usage.Quotas.RunsExceeded(int64(len(slots)), live)
	}
	return s.freeSlots(ctx, user, over[:min(len(over), slotsAtOnce)], slots)
}

// freeSlots frees slots that were taken at the given times;
// table.ErrConditionFailed if one was freed or taken again concurrently.
func (s *slots) freeSlots(ctx context.Context, user string, slots []string, taken map[string]int64) error {
	var free []table.Change
	var same []table.Condition
	for _, slot := range slots {
		own := table.Path{usage.QuotaRuns, slot}
		free = append(free, table.Remove(own))
		same = append(same, table.Equal(own, taken[slot]))
	}
	return s.DB.Update(ctx, keys.QuotaKey(user), free, same...)
}

// liveRuns looks up the run of each slot. It returns the active ones, and the
// slots of those that have ended. Any other run may be starting.
func (s *slots) liveRuns(ctx context.Context, slots map[string]int64) (live []liveRun, over []string, err error) {
	var wanted []table.Key
	for slot := range slots {
		log, _, _ := strings.Cut(slot, "/")
		wanted = append(wanted, keys.RunKey(log))
	}
	items, err := s.DB.BatchGet(ctx, wanted, true)
	if err != nil {
		return nil, nil, fmt.Errorf("read the active runs: %w", err)
	}
	var unexpired []ActiveRun
	for _, item := range items {
		var a ActiveRun
		if err := table.Decode(item, &a); err != nil {
			s.Log.ErrorContext(ctx, "an unreadable run has no slot", "log", table.Text(item, table.PK), "error", err)
			continue // the run cannot be active
		}
		if _, ok := slots[a.slot()]; ok && !s.isLost(&a) {
			unexpired = append(unexpired, a)
		}
	}
	named, err := s.namedRuns(ctx, unexpired)
	if err != nil {
		return nil, nil, err
	}
	alive := map[string]bool{}
	for _, a := range unexpired {
		if slot := a.slot(); named[slot] {
			alive[slot] = true
			live = append(live, liveRun{SessionID: a.Session, RunID: a.ID})
		}
	}
	return live, quota.FreeSlots(slots, alive, s.Millis()), nil
}

func (a *ActiveRun) slot() string { return slotOf(strings.TrimPrefix(a.PK, keys.PrefixLog), a.ID) }

// namedRuns returns the slots of the runs that sessions name. The item of a run that has
// ended remains if the process stopped before it could delete it.
func (s *slots) namedRuns(ctx context.Context, runs []ActiveRun) (map[string]bool, error) {
	var wanted []table.Key
	for _, a := range runs {
		wanted = append(wanted, keys.SessionKey(a.Session))
	}
	items, err := s.DB.BatchGet(ctx, wanted, true)
	if err != nil {
		return nil, fmt.Errorf("read the sessions of active runs: %w", err)
	}
	named := map[string]bool{}
	for _, item := range items {
		var h sessions.Header
		if err := table.Decode(item, &h); err != nil {
			s.Log.ErrorContext(ctx, "the run of an unreadable session has no slot", "session", table.Text(item, table.PK), "error", err)
			continue
		}
		named[slotOf(h.Log, h.Run)] = true
	}
	return named, nil
}

// releaseSlot frees the slot of a run that has ended. If that fails, the slot is
// found when the user needs one.
func (s *slots) releaseSlot(ctx context.Context, user, log, runID string) {
	slot := table.Path{usage.QuotaRuns, slotOf(log, runID)}
	err := s.DB.Update(ctx, keys.QuotaKey(user), []table.Change{table.Remove(slot)}, table.Exists(slot))
	if err != nil && !errors.Is(err, table.ErrConditionFailed) {
		s.Log.WarnContext(ctx, "the slot of an ended run is freed when it is needed", "run_id", runID, "error", err)
	}
}

// releaseUnstarted frees the slot of a run that a request certainly did not start, unless
// another request has: the error is a fault for the caller, or another write was first,
// after which the caller reads again and may not start the run at all. After other errors
// it is unknown whether the run started.
func (s *slots) releaseUnstarted(ctx context.Context, h *sessions.Header, runID string, cause error) {
	var known *fault.Error
	if !errors.As(cause, &known) && !errors.Is(cause, table.ErrConditionFailed) {
		return
	}
	var a ActiveRun
	if found, err := s.DB.Get(ctx, keys.RunKey(h.Log), &a); err == nil && (!found || a.ID != runID) {
		s.releaseSlot(ctx, h.User, h.Log, runID)
	}
}
