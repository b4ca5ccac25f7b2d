package sessions

import (
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/base/fault"
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
	return h.Origin == nil || !h.Origin.Direct || h.Tasks&kind != 0
}

// Stores is StoresTasks for a fork among the ancestors.
func (l Lineage) Stores(kind int64) bool { return !l.Direct || l.Tasks&kind != 0 }

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
	noted := []table.Change{table.Set(table.At(HeaderTasks), h.Tasks|kind)}
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
// created, and under which id. Forks of earlier versions derived it from the id that their
// source gave the task.

// createdIn returns the id that a fork, given by its log, gives to a task that was created
// in another log.
func createdIn(fork, log, id string) string {
	if out := id + "." + log + "." + fork; fault.CheckID("", out) == nil {
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

// forkedTaskID returns the id that a fork of an earlier version, given by its log, gives to
// a task of its source.
func forkedTaskID(log, of string) string {
	if id := of + "." + log; fault.CheckID("", id) == nil {
		return id
	}
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(log+"\x00"+of)).String()
}

// InheritedID returns the id that a task of a log in the lineage has in this session.
func (h *Header) InheritedID(log, id string) string {
	return inheritedID(h.Log, h.Origin.Direct, h.Origin.Ancestors(), log, id)
}

// inheritedID is InheritedID for a fork and its ancestors, the nearest first.
func inheritedID(fork string, direct bool, above []Lineage, log, id string) string {
	n := slices.IndexFunc(above, func(l Lineage) bool { return l.Log == log })
	between := above
	if n >= 0 {
		between = above[:n]
	}
	early := slices.IndexFunc(between, func(l Lineage) bool { return !l.Direct })
	switch {
	case !direct && len(between) == 0:
		return forkedTaskID(fork, id)
	case !direct:
		return forkedTaskID(fork, inheritedID(above[0].Log, above[0].Direct, above[1:], log, id))
	case early >= 0: // its ids are those of tasks created there
		l := above[early]
		return createdIn(fork, l.Log, inheritedID(l.Log, false, above[early+1:], log, id))
	case n >= 0 && above[n].Direct:
		if first, of, ok := cutCreatedIn(log, id); ok {
			return createdIn(fork, first, of)
		}
	}
	return createdIn(fork, log, id)
}

// MayInherit reports whether an id may be one that the session gives to an inherited task.
func (h *Header) MayInherit(id string) bool {
	if h.Origin == nil {
		return false
	}
	_, _, ok := cutCreatedIn(h.Log, id)
	if !h.Origin.Direct {
		ok = strings.HasSuffix(id, "."+h.Log)
	}
	digest, err := uuid.Parse(id)
	return ok || err == nil && digest.Version() == 5
}

// TaskOrigin returns in which log an inherited task was created, and under which id; false
// if its id does not say so.
func (h *Header) TaskOrigin(id string) (log, of string, ok bool) {
	if h.Origin.Direct {
		return cutCreatedIn(h.Log, id)
	}
	of, ok = strings.CutSuffix(id, "."+h.Log)
	return h.Origin.Log, of, ok && len(h.Origin.Ancestors()) == 0
}
