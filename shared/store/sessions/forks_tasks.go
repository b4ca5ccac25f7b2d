package sessions

import (
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/domain/ids"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// The kinds of tasks that the log of a fork may store.
const (
	TasksOwn    int64 = 1 << iota // at positions of the log itself
	TasksCovers                   // in place of tasks that the fork took over
)

// StoresTasks reports whether a session's own log may store tasks of a kind. Forks note
// that before they do, so that forks of forks need not look.
func (h *Header) StoresTasks(kind int64) bool {
	return h.Origin == nil || h.Tasks&kind != 0
}

// Stores is StoresTasks for a fork among the ancestors.
func (l Lineage) Stores(kind int64) bool { return l.Tasks&kind != 0 }

// NoteTask notes that a session's own log is about to store a task at a position. It returns
// table.ErrConditionFailed if the session was forked since it was read: those forks must
// not show this task.
func (s *Store) NoteTask(ctx context.Context, h *Header, position int64) error {
	kind := TasksOwn
	if position <= h.Base() {
		kind = TasksCovers
	}
	if h.StoresTasks(kind) {
		return nil
	}
	noted := []table.Change{table.Set(table.Path{HeaderTasks}, h.Tasks|kind)}
	err := s.DB.Update(ctx, keys.SessionKey(h.ID()), noted, h.Unforked(), records.Unchanged(HeaderTasks, h.Tasks))
	if err == nil {
		h.Tasks |= kind
	}
	return err
}

// Root returns the log that the oldest of a fork's ancestors writes.
func (h *Header) Root() string {
	return h.Origin.Root()
}

// A task that a fork takes over has an id of the fork's own, which says in which log it was
// created, and under which id.

// createdIn returns the id that a fork, given by its log, gives to a task that was created
// in another log.
func createdIn(fork, log, id string) string {
	if out := id + "." + log + "." + fork; ids.Check("", out) == nil {
		return out
	}
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(fork+"\x00"+log+"\x00"+id)).String()
}

// cutCreatedIn is the inverse of createdIn; false for an id that it cannot have made, or
// only by a digest.
func cutCreatedIn(fork, id string) (log, of string, ok bool) {
	rest, ok := strings.CutSuffix(id, "."+fork)
	at := strings.LastIndexByte(rest, '.')
	if !ok || at <= 0 || at == len(rest)-1 {
		return "", "", false
	}
	return rest[at+1:], rest[:at], true
}

// InheritedID returns the id that a task of a log in the lineage has in this session.
func (h *Header) InheritedID(log, id string) string {
	if slices.ContainsFunc(h.Origin.Ancestors(), func(l Lineage) bool { return l.Log == log }) {
		if first, of, ok := cutCreatedIn(log, id); ok {
			return createdIn(h.Log, first, of)
		}
	}
	return createdIn(h.Log, log, id)
}

// MayInherit reports whether an id may be one that the session gives to an inherited task.
func (h *Header) MayInherit(id string) bool {
	if h.Origin == nil {
		return false
	}
	_, _, ok := cutCreatedIn(h.Log, id)
	digest, err := uuid.Parse(id)
	return ok || err == nil && digest.Version() == 5
}

// TaskOrigin returns in which log an inherited task was created, and under which id; false
// if its id does not say so.
func (h *Header) TaskOrigin(id string) (log, of string, ok bool) { return cutCreatedIn(h.Log, id) }
