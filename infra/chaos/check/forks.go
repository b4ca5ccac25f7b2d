package check

import (
	"slices"

	"github.com/rethread/rethread/infra/chaos/fold"
	"github.com/rethread/rethread/infra/chaos/users"
)

// fork checks that a fork contains what a copy would: what its source showed
// before the boundary at some moment, without an item in progress.
func (c *Checker) fork(t *users.Session) {
	s, of := c.logs[t.ID], c.logs[t.Fork.Of]
	if s == nil || of == nil {
		return // one of them was deleted
	}
	got := copies(s.log.Entries[:min(s.taken, len(s.log.Entries))])
	at := of.log.First(t.Fork.Boundary)
	if t.Fork.Found && t.Fork.Boundary != "" {
		c.expect(at >= 0 && fits(of.log, of.log.Snapshots[max(at, 0)], got), "forks", t.ID,
			"of %s before %s, at %d: %s", of.session.ID, t.Fork.Boundary, at, differs(of.log, at, got))
		return
	}
	whole := slices.ContainsFunc(of.log.Snapshots, func(then fold.Snapshot) bool { return fits(of.log, then, got) })
	c.expect(whole, "forks", t.ID, "of all of %s, which never showed these %d entries; compared with what it shows now: %s",
		of.session.ID, len(got), differs(of.log, len(of.log.Snapshots)-1, got))
}

func differs(log *fold.Log, at int, got []string) string {
	if at < 0 {
		return "the boundary does not exist"
	}
	return difference(copies(taken(log, log.Snapshots[at])), got)
}

// taken returns the entries of a snapshot that a fork takes over: all but markers.
func taken(log *fold.Log, then fold.Snapshot) []fold.Entry {
	var out []fold.Entry
	for _, i := range then.View {
		if log.Entries[i].Actions.Before == nil {
			out = append(out, log.Entries[i])
		}
	}
	return out
}

func copies(entries []fold.Entry) []string {
	out := make([]string, 0, len(entries))
	for _, e := range entries {
		if e.Type != "task" {
			out = append(out, e.Copied())
		}
	}
	return out
}

// fits reports whether a fork of a snapshot may contain these entries: all, or all
// except one that an agent was producing.
func fits(log *fold.Log, then fold.Snapshot, got []string) bool {
	entries := taken(log, then)
	entries = slices.DeleteFunc(entries, func(e fold.Entry) bool { return e.Type == "task" })
	if slices.Equal(copies(entries), got) {
		return true
	}
	if len(entries) != len(got)+1 {
		return false
	}
	for i, e := range entries {
		if i < len(got) && e.Copied() == got[i] {
			continue
		}
		return e.Author != "user" && e.Author != "system" && slices.Equal(copies(entries[i+1:]), got[i:])
	}
	return false
}
