package tasks

import (
	"context"
	"slices"

	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/sweep"
	"github.com/rethread/rethread/shared/store/table"
)

// A new task is stored after the entry that places it, without a transaction. In between
// a fork may be made, which shows no task there and must not show one later; or others
// may create, move and delete a task with the same id. Each of them leaves a tombstone
// where the save would put the task: the put then fails, and the save starts again.
//
// A fork finds such saves by the log's head, which names the newest tasks.

// newTasksMost is how many new tasks an entry names at most.
const maxNewTasks = 4

// makeRoom removes the tasks that are stored from the placements that the next entry of a
// log would name, if these are too many.
func (s *Store) makeRoom(ctx context.Context, log string, all []eventlog.Placement) ([]eventlog.Placement, error) {
	all = eventlog.Unfinished(all, s.Millis())
	if len(all) < maxNewTasks {
		return all, nil
	}
	var left []eventlog.Placement
	err := s.eachNotStored(ctx, log, all, func(p eventlog.Placement, _ table.Key) { left = append(left, p) })
	return left, err
}

// eachNotStored calls visit with each task that is not stored, and its key. It leaves out
// those whose entries cannot be read, as they have no key.
func (s *Store) eachNotStored(ctx context.Context, log string, all []eventlog.Placement, visit func(eventlog.Placement, table.Key)) error {
	for _, p := range all {
		rec, err := s.logs.ShownEntryCovering(ctx, log, p.Position)
		if err != nil {
			return err
		}
		if len(rec.Events) == 0 || rec.Events[0].TaskID == "" {
			continue
		}
		k := keys.TaskKey(log, p.Position, rec.Events[0].TaskID)
		item, err := s.DB.GetItem(ctx, k)
		if err != nil {
			return err
		}
		if item == nil {
			visit(p, k)
		}
	}
	return nil
}

// CoverNewTasks returns tombstones for the tasks that are placed in what a fork takes over
// and not stored yet.
func (s *Store) CoverNewTasks(ctx context.Context, source *sessions.Header, head eventlog.Head, fork *sessions.Header) ([]table.Write, error) {
	unfinished := eventlog.Unfinished(head.NewTasks, s.Millis())
	if len(unfinished) == 0 {
		return nil, nil
	}
	taken, err := s.sessions.Timeline(ctx, fork.Inherited)
	if err != nil {
		return nil, err
	}
	placed := slices.DeleteFunc(unfinished, func(p eventlog.Placement) bool { return !taken.Shows(source.Log, p.Position) })
	var writes []table.Write
	err = s.eachNotStored(ctx, source.Log, placed, func(_ eventlog.Placement, k table.Key) {
		writes = append(writes, s.tombstone(k, source.ForkCount+1))
	})
	return writes, err
}

// tombstone keeps a save that has begun from creating a task.
func (s *Store) tombstone(k table.Key, gen int64) table.Write {
	now := s.Millis()
	return table.Put(TaskItem{
		PK: k.PK, SK: k.SK, Version: 1, Created: now, Updated: now, Gen: gen, Gone: true, Expires: s.tombstoneEnd(),
	}, table.ItemNotExists())
}

func (s *Store) tombstoneEnd() int64 { return s.Now().Add(sweep.Grace).Unix() }

// isNew reports whether a save that has begun before the task's pointer was written may
// still be about to store the task.
func (s *Store) isNew(p *TaskPointer) bool { return p.Created > s.Millis()-sweep.Grace.Milliseconds() }

// movePointer moves a task that is not stored yet.
func (s *Store) movePointer(ctx context.Context, h *sessions.Header, was, now *TaskPointer) error {
	if !s.isNew(was) {
		return s.DB.Put(ctx, now, was.unmoved())
	}
	return s.DB.Transact(ctx, table.Put(now, was.unmoved()), s.tombstone(was.TaskKey(), h.ForkCount))
}
