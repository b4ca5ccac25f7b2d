package aisdkconvert

import (
	"slices"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

// Page is the newest messages of a session, or of what it was before a position.
type Page struct {
	Messages []Message
	// Before is the position before which the next older page ends; 0 without one.
	Before int64
}

// MessagesPage returns the newest messages of a history, as Messages does, in pages that
// begin with a user's message: as many as have no more than that many messages and bytes
// of events, but at least one such part. It returns conversation.ErrOlder if older events
// may belong to the page; limit 0 is no limit and takes a partial history for the page.
func MessagesPage(h conversation.History, inProgress string, limit, bytes int) (Page, error) {
	starts := startsOf(h)
	if len(starts) == 0 && h.Partial || h.Partial && slices.ContainsFunc(h.Events, uncertain) {
		return Page{}, conversation.ErrOlder
	}
	from, until, messages, size := len(h.Events), len(h.Events), 0, 0
	full := false
	for _, start := range slices.Backward(starts) {
		part := h.Events[start:until]
		until = start
		more := len(Messages(part, inProgress))
		for _, e := range part {
			size += e.Size()
		}
		if full = from < len(h.Events) && (limit > 0 && messages+more > limit || size > bytes); full {
			break
		}
		from, messages = start, messages+more
	}
	if h.Partial && !full && limit > 0 && messages < limit && size < bytes {
		return Page{}, conversation.ErrOlder
	}
	// The ids of calls depend on what is older.
	all := Messages(h.Events, inProgress)
	out := Page{Messages: all[len(all)-messages:]}
	if h.Partial || from > 0 {
		out.Before = h.Events[from].Seq
	}
	return out, nil
}

// startsOf returns the indexes of the events with which a page may begin: those of a
// user's message that neither continues nor completes a message before it, if no
// invocation has events on both sides.
func startsOf(h conversation.History) []int {
	first, last := map[string]int{}, map[string]int{}
	for i, e := range h.Events {
		if _, known := first[e.InvocationID]; !known {
			first[e.InvocationID] = i
		}
		last[e.InvocationID] = i
	}
	var starts []int
	open := 0 // the index of the last event of an invocation so far
	for i, e := range h.Events {
		whole := i == 0 && !h.Partial
		if whole || first[e.InvocationID] == i && (i == 0 || open < i) && begins(h.Events[i:last[e.InvocationID]+1], e.InvocationID) {
			starts = append(starts, i)
		}
		open = max(open, last[e.InvocationID])
	}
	return starts
}

// begins reports whether an invocation's input has a user's message and no response.
func begins(events []session.Event, invocation string) bool {
	said := false
	for _, e := range events {
		if e.InvocationID != invocation || !conversation.IsInput(e) {
			continue
		}
		for _, p := range conversation.NewView().Pieces(e) {
			if p.Kind == conversation.PieceResponse {
				return false
			}
			said = true
		}
	}
	return said
}
