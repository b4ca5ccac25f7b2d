package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// ending is how a run ends.
type ending struct {
	status  run.Status
	problem *run.Problem
	expired bool // only if the lease is out
}

// cancellation is how a run ends that somebody cancels.
func cancellation() ending {
	return ending{status: run.Cancelled, problem: run.NewProblem(run.CodeCancelled, "the run was cancelled")}
}

// Cancel implements run.Store.
func (s *Store) Cancel(ctx context.Context, ref run.Ref) (run.Run, error) {
	r, err := s.end(ctx, ref, cancellation())
	if r.ID != "" && r.Status.Over() {
		return r, nil // it was over before
	}
	return r, err
}

// End implements run.Store.
func (s *Store) End(ctx context.Context, ref run.Ref, status run.Status, problem *run.Problem) (run.Run, error) {
	r, err := s.end(ctx, ref, ending{status: status, problem: problem})
	if r.ID != "" && r.Status == status {
		return r, nil // an earlier try, whose answer was lost
	}
	return r, err
}

// end ends a run in one transaction: the session is free, the item in progress
// has its final form and takes no deltas, and the log has an entry more, at the
// very position that the run's worker would write to next. Where the run is
// over it returns how it ended, with a fault.
func (s *Store) end(ctx context.Context, ref run.Ref, how ending) (run.Run, error) {
	for try := 0; ; try++ {
		h, at, err := s.headerAndHead(ctx, ref.UserID, ref.SessionID)
		if err != nil {
			return run.Run{}, err
		}
		if h.Run != ref.RunID {
			return s.endedBefore(ctx, h, ref)
		}
		a, err := s.active(ctx, h)
		if err != nil {
			return run.Run{}, err
		}
		if a != nil {
			if how.expired && s.millis() < a.Lease {
				return run.Run{}, fault.New(fault.Conflict, "the run lives")
			}
			r, err := s.tryEnd(ctx, h, at, a, how)
			if !errors.Is(err, errTaken) {
				if err != nil {
					return r, fmt.Errorf("end run %s: %w", ref.RunID, s.unlessGone(ctx, h, err))
				}
				if a.Slot {
					s.giveSlot(ctx, a.User, h.Log, a.ID)
				}
				return r, nil
			}
		}
		if err := backoffUpTo(ctx, try, contentionWait); err != nil {
			return run.Run{}, err
		}
	}
}

func (s *Store) endedBefore(ctx context.Context, h *header, ref run.Ref) (run.Run, error) {
	past, err := s.pastRun(ctx, h, ref.RunID)
	if err != nil {
		return run.Run{}, err
	}
	if past == nil {
		return run.Run{}, fault.Missing("Run")
	}
	return *past, overFault(*past)
}

func (s *Store) tryEnd(ctx context.Context, h *header, at head, a *activeRun, how ending) (run.Run, error) {
	writes, problem, err := s.endItem(ctx, h, at, a, how)
	if err != nil {
		return run.Run{}, err
	}
	if problem != nil && how.status == run.Completed {
		how.status, how.problem = run.Failed, problem
	}
	now := max(s.millis(), at.time)
	r := a.run()
	r.Status, r.Error, r.EndedTime = how.status, how.problem, &now
	if how.status == run.Cancelled {
		r.Error = nil
	}
	last, err := s.endEntry(ctx, h, at, r, a.tells())
	if err != nil {
		return run.Run{}, err
	}
	put, err := s.transactPut(last.entry, condition{expression: ifAbsent})
	if err != nil {
		return run.Run{}, err
	}
	writes = append(writes, put, s.transactDelete(runKey(h.Log), isRun(a)), s.freeSession(h, a, how))
	if err := s.transact(ctx, writes...); err != nil {
		return r, err
	}
	s.countEntry(ctx, h, last)
	return r, nil
}

// endItem are the writes that end the run's item in progress, if there is one.
// The problem is why its content is not whole.
func (s *Store) endItem(
	ctx context.Context, h *header, at head, a *activeRun, how ending,
) ([]types.TransactWriteItem, *run.Problem, error) {
	it, err := s.openItem(ctx, h, at, a)
	if err != nil || it == nil {
		return nil, nil, err
	}
	problem := how.problem
	e, status := it.snapshot(), session.EventStatus("")
	if how.status == run.Completed {
		content, err := it.content.Finish()
		if err == nil {
			e = withField(e, "content", content, it.offset)
		} else {
			problem = run.NewProblem(run.CodeContent, err.Error())
		}
	}
	if problem != nil {
		status = session.EventFailed
		if e, err = it.failed(problem); err != nil {
			return nil, nil, err
		}
	}
	final, err := it.final(ctx, e, status)
	if err != nil {
		return nil, nil, err
	}
	writes, err := it.ending(final)
	return writes, problem, err
}

// openItem is the run's item in progress, with its content; nil where it has
// none.
func (s *Store) openItem(ctx context.Context, h *header, at head, a *activeRun) (*item, error) {
	if at.open == 0 {
		return nil, nil
	}
	rec, err := s.covering(ctx, h.Log, at.open)
	if err != nil || !rec.inProgress() || rec.events[0].InvocationID != a.ID {
		return nil, err
	}
	it := s.newItem(h, a.ref(), rec, a.Mode == run.External)
	return it, it.load(ctx)
}

// endEntry is the hidden entry that ends a run.
func (s *Store) endEntry(ctx context.Context, h *header, at head, r run.Run, of told) (*record, error) {
	e, err := s.runEvent(r, at.next, *r.EndedTime)
	if err != nil {
		return nil, fmt.Errorf("encode run %s: %w", r.ID, err)
	}
	last := &record{entry: entry{
		PK: logPK(h.Log), SK: entrySK(at.next), LastState: at.lastState, LastMarker: at.lastMarker,
		runMarks: at.marks(), told: of,
	}, first: at.next, time: *r.EndedTime}
	last.Ended, last.Hidden = r.ID, true
	last.body, err = s.pack(ctx, last.PK, entryBody{Time: *r.EndedTime, Events: []json.RawMessage{e.Own()}}, 0)
	s.owing(&last.entry, at, last.size())
	return last, err
}

// owes tells whether the next run takes over again what this one did: nobody
// has seen it, so what failed was this start, and no answer to what others had
// been told is accepted.
func (a *activeRun) owes(how ending) bool {
	notStarted := a.Worker == "" || how.problem != nil && how.problem.Code == run.CodeStart
	return a.Taken > 0 && how.status == run.Failed && notStarted
}

// freeSession is the change of the header when its run ends.
func (s *Store) freeSession(h *header, a *activeRun, how ending) types.TransactWriteItem {
	status := session.Idle
	if how.status == run.Failed {
		status = session.Failed
	}
	c := condition{
		expression: "#rn = :rn",
		names:      map[string]string{"#rn": "rn", "#status": "status", "#ca": "ca"},
		values:     attributes{":rn": str(a.ID), ":status": str(string(status))},
	}
	set := "SET #status = :status"
	if how.status != run.Completed {
		c.names["#rx"] = "rx"
		set += ", #rx = :rn"
	}
	if a.owes(how) {
		c.names["#ma"], c.names["#mo"] = "ma", "mo"
		c.values[":ma"], c.values[":mo"] = num(a.At), num(a.Taken)
		set += ", #ma = :ma, #mo = :mo"
	}
	return s.transactUpdate(sessionKey(h.id()), set+" REMOVE #rn, #ca", c)
}

// expireShard ends the runs of one index partition whose leases are out. Those
// of a page are read together, since most of them may live.
func (s *Store) expireShard(ctx context.Context, shard string) (int, error) {
	due := s.millis() - s.lease.Milliseconds()
	return s.sweepPages(ctx, shard, due, func(ctx context.Context, keys []key) sweepVisit {
		items, err := s.readBatch(ctx, keys, true)
		found := make(map[key]attributes, len(items))
		for _, item := range items {
			found[key{stringOf(item[attrPK]), stringOf(item[attrSK])}] = item
		}
		return func(ctx context.Context, k key) (bool, error) {
			item := found[k]
			if err != nil || item == nil {
				return false, err
			}
			var a activeRun
			if err := attributevalue.UnmarshalMap(item, &a); err != nil {
				return false, fmt.Errorf("unmarshal a run: %w", err)
			}
			if a.Lease > s.millis() {
				return false, nil
			}
			return true, s.expireOrForget(ctx, &a)
		}
	})
}

// expireOrForget ends a run, or removes what is left of one whose session is
// gone while forks keep its log.
func (s *Store) expireOrForget(ctx context.Context, a *activeRun) error {
	err := s.expire(ctx, a)
	if !errors.Is(err, fault.Of(fault.NotFound)) && !errors.Is(err, fault.Of(fault.Forbidden)) {
		return err
	}
	return s.deleteItems(ctx, []attributes{key{a.PK, a.SK}.attributes()})
}
