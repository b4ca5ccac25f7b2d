package sessions

import (
	"context"
	"slices"

	"github.com/rethread/rethread/shared/store/keys"
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
const newTasksMost = 4

// placement is a new task, by the position of the entry that placed it.
type placement struct {
	Position int64 `dynamodbav:"p"`
	Time     int64 `dynamodbav:"t"` // of the entry, in epoch milliseconds
}

// unfinished returns the placements whose saves may not have ended at a time.
func unfinished(all []placement, millis int64) []placement {
	return slices.DeleteFunc(slices.Clone(all), func(p placement) bool { return p.Time < millis-savingTime.Milliseconds() })
}

// makeRoom removes the tasks that are stored from the placements that the next entry of a
// log would name, if these are too many.
func (s *Store) makeRoom(ctx context.Context, log string, all []placement) ([]placement, error) {
	all = unfinished(all, s.millis())
	if len(all) < newTasksMost {
		return all, nil
	}
	var left []placement
	err := s.eachNotStored(ctx, log, all, func(p placement, _ table.Key) { left = append(left, p) })
	return left, err
}

// eachNotStored calls visit with each task that is not stored, and its key. It leaves out
// those whose entries cannot be read, as they have no key.
func (s *Store) eachNotStored(ctx context.Context, log string, all []placement, visit func(placement, table.Key)) error {
	for _, p := range all {
		rec, err := s.shownEntryCovering(ctx, log, p.Position)
		if err != nil {
			return err
		}
		if len(rec.events) == 0 || rec.events[0].TaskID == "" {
			continue
		}
		k := keys.TaskKey(log, p.Position, rec.events[0].TaskID)
		item, err := s.db.GetItem(ctx, k)
		if err != nil {
			return err
		}
		if item == nil {
			visit(p, k)
		}
	}
	return nil
}

// coverNewTasks returns tombstones for the tasks that are placed in what a fork takes over
// and not stored yet.
func (s *Store) coverNewTasks(ctx context.Context, source *header, at head, fork *header) ([]table.Write, error) {
	taken, err := fork.inherited()
	if err != nil {
		return nil, err
	}
	placed := slices.DeleteFunc(unfinished(at.newTasks, s.millis()), func(p placement) bool { return !taken.Shows(source.Log, p.Position) })
	var writes []table.Write
	err = s.eachNotStored(ctx, source.Log, placed, func(_ placement, k table.Key) {
		writes = append(writes, s.tombstone(k, source.ForkCount+1))
	})
	return writes, err
}

// tombstone keeps a save that has begun from creating a task.
func (s *Store) tombstone(k table.Key, gen int64) table.Write {
	now := s.millis()
	return table.Put(taskItem{
		PK: k.PK, SK: k.SK, Version: 1, Created: now, Updated: now, Gen: gen, Gone: true, Expires: s.tombstoneEnd(),
	}, table.ItemNotExists())
}

func (s *Store) tombstoneEnd() int64 { return s.now().Add(sweep.Grace).Unix() }

// isNew reports whether a save that has begun before the task's pointer was written may
// still be about to store the task.
func (s *Store) isNew(p *taskPointer) bool { return p.Created > s.millis()-sweep.Grace.Milliseconds() }

// movePointer moves a task that is not stored yet.
func (s *Store) movePointer(ctx context.Context, h *header, was, now *taskPointer) error {
	if !s.isNew(was) {
		return s.db.Put(ctx, now, was.unmoved())
	}
	return s.db.Transact(ctx, table.Put(now, was.unmoved()), s.tombstone(was.taskKey(), h.ForkCount))
}
