package deliveries

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/automation"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// startedItem lists the runs that an automation started recently, and its last ones.
type startedItem struct {
	PK      string          `dynamodbav:"PK"`
	SK      string          `dynamodbav:"SK"`
	Runs    automation.Runs `dynamodbav:"r"`
	Last    []lastRun       `dynamodbav:"l,omitempty"` // newest first
	Version int64           `dynamodbav:"v"`
	Expires int64           `dynamodbav:"expires"` // epoch seconds
}

// lastRun is an automation.LastRun. Session is absent if it is named like the run.
type lastRun struct {
	Run     string `dynamodbav:"r"`
	Session string `dynamodbav:"s,omitempty"`
	Event   string `dynamodbav:"e"`
	Time    int64  `dynamodbav:"t"`
}

const startedVersion = "v"

// CountRun implements automation.Counter.
func (s *Automations) CountRun(ctx context.Context, a automation.Automation, r automation.LastRun) (bool, error) {
	counted, err := records.ContendedValue(ctx, func() (bool, error) { return s.countRun(ctx, a, r) })
	if err != nil {
		return false, fmt.Errorf("count a run of automation %s: %w", a.ID, err)
	}
	return counted, nil
}

// countRun is one attempt; it returns table.ErrConditionFailed if another run was
// counted concurrently.
func (s *Automations) countRun(ctx context.Context, a automation.Automation, r automation.LastRun) (bool, error) {
	k := startedKey(a.UserID, a.ID)
	var item startedItem
	found, err := s.base.DB.Get(ctx, k, &item)
	if err != nil {
		return false, err
	}
	if _, counted := item.Runs[r.RunID]; counted {
		return true, nil
	}
	now := s.base.Now()
	runs, ok := item.Runs.Add(r.RunID, now.UnixMilli())
	if !ok {
		return false, s.stopRunaway(ctx, a)
	}
	c := table.ItemNotExists()
	if found {
		c = table.Equal(table.Path{startedVersion}, item.Version)
	}
	last := append([]lastRun{lastOf(r, now.UnixMilli())}, item.Last...)
	next := startedItem{
		PK: k.PK, SK: k.SK, Runs: runs, Last: last[:min(len(last), automation.KeptRuns)], Version: item.Version + 1,
		Expires: now.Add(automation.KeepRuns).Unix(),
	}
	return true, s.base.DB.Put(ctx, next, c)
}

func lastOf(r automation.LastRun, now int64) lastRun {
	out := lastRun{Run: r.RunID, Session: r.SessionID, Event: r.EventType, Time: now}
	if out.Session == out.Run {
		out.Session = ""
	}
	return out
}

// LastRuns implements automation.Store. It takes one read unit.
func (s *Automations) LastRuns(ctx context.Context, userID, id string) ([]automation.LastRun, error) {
	var item startedItem
	if _, err := s.base.DB.Get(ctx, startedKey(userID, id), &item); err != nil {
		return nil, fmt.Errorf("read the runs of automation %s: %w", id, err)
	}
	since := s.base.Now().Add(-automation.KeepRuns).UnixMilli()
	var out []automation.LastRun
	for _, r := range item.Last {
		if r.Time >= since {
			out = append(out, automation.LastRun{
				RunID: r.Run, SessionID: cmp.Or(r.Session, r.Run), EventType: r.Event, Time: r.Time,
			})
		}
	}
	return out, nil
}

// stopRunaway disables an automation that starts too many runs.
func (s *Automations) stopRunaway(ctx context.Context, a automation.Automation) error {
	_, err := s.changeAutomation(ctx, a.UserID, a.ID, func(a automation.Automation) (automation.Automation, error) {
		a.Status, a.DisabledReason, a.UpdatedTime = automation.Disabled, automation.Runaway, s.base.Millis()
		a.Version++
		return a, nil
	})
	if errors.Is(err, fault.Of(fault.NotFound)) {
		return nil
	}
	return err
}
