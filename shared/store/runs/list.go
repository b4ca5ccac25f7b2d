package runs

import (
	"context"
	"fmt"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/records"
)

// mostListed is how many entries of the log a page of runs reads: so many it may have
// between two runs whose session is mainly written by others.
const mostListed = 1000

// entriesOfRun is how many entries most runs have at least: input, answer, and end.
const entriesOfRun = 3

// ListRuns implements run.Store. Each run that is over has the entry that ended it, and one
// may be active, which is newer than they. So the log is read backwards, rewound entries
// included, at the price of its events. Positions of the log do not change, so that a page
// continues where the one before it ended, whatever happened meanwhile.
func (s *settler) ListRuns(ctx context.Context, q run.ListQuery) (run.ListPage, error) {
	return records.SettledValue(ctx, func() (run.ListPage, error) { return s.listRuns(ctx, q) })
}

func (s *settler) listRuns(ctx context.Context, q run.ListQuery) (run.ListPage, error) {
	h, head, active, err := s.ReadSettled(ctx, q.UserID, q.SessionID)
	if err != nil {
		return run.ListPage{}, err
	}
	out := run.ListPage{Runs: []run.Run{}}
	last := head.Last()
	if q.Before > 0 {
		last = min(last, q.Before-1)
	} else if active != nil {
		out.Runs = append(out.Runs, active.Run())
	}
	read := 0
	err = s.logs.ScanDown(ctx, h.Log, h.Base()+1, last, min(entriesOfRun*q.Limit+1, mostListed), func(r *eventlog.Record) (bool, error) {
		if len(out.Runs) == q.Limit || read == mostListed {
			out.Next = r.Last() + 1
			return false, nil
		}
		read++
		if r.Ended == "" || len(r.Events) == 0 { // no run has ended, or its end is unreadable
			return true, nil
		}
		ended, err := run.EndedBy(r.Events[0])
		if err != nil {
			return false, fmt.Errorf("entry %d: %w", r.First, err)
		}
		ended.SessionID = h.ID()
		out.Runs = append(out.Runs, ended)
		return true, nil
	})
	return out, s.sessions.NotFoundIfDeleted(ctx, h, err)
}
