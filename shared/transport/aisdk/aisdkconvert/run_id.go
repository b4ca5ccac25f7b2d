package aisdkconvert

import (
	"slices"
	"strconv"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

// begun returns the run of the session that the same request began; "" without one. A
// request to answer again does not say which run it began: it is the one in progress,
// or, if the request names the message that it replaced, the last one. One that is
// unfinished is tried again, unless it is the run of a new message.
func (r Request) begun(of session.Session, turns []*conversation.Turn, unfinished bool) string {
	for _, id := range r.runIDs(of.Epoch) {
		for _, t := range turns {
			if t.Invocation != id {
				continue
			}
			active := of.ActiveRunID != nil && *of.ActiveRunID == id
			over := !unfinished && (!r.Regenerate || r.MessageID != "" && !r.names(turns))
			if active || over || !r.Regenerate && r.MessageID == "" {
				return id
			}
		}
	}
	return ""
}

// next returns the id of the run to begin. The session may still have an unfinished
// one, which this run's start removes.
func (r Request) next(epoch int64, turns []*conversation.Turn) string {
	id := r.runID(epoch, 0)
	if slices.ContainsFunc(turns, func(t *conversation.Turn) bool { return t.Invocation == id }) {
		return r.runID(epoch, 1)
	}
	return id
}

// runIDs returns the ids that the request's run may have: it began before or after the
// last rewind.
func (r Request) runIDs(epoch int64) []string {
	return []string{r.runID(epoch, 0), r.runID(epoch, 1), r.runID(epoch-1, 0), r.runID(epoch-1, 1)}
}

// names reports whether the session still has the message that the request names.
func (r Request) names(turns []*conversation.Turn) bool {
	return slices.ContainsFunc(turns, func(t *conversation.Turn) bool {
		return t.Answer == r.MessageID ||
			slices.ContainsFunc(t.Inputs, func(e session.Event) bool { return conversation.GivenID(e) == r.MessageID })
	})
}

// runID derives the id of a run from the last message with what answers calls in it, the
// number of the session's rewinds, and the number of the try since then.
func (r Request) runID(epoch, try int64) string {
	of := []string{r.ID, strconv.FormatBool(r.Regenerate), r.MessageID, strconv.FormatInt(epoch, 10), strconv.FormatInt(try, 10)}
	if n := len(r.Messages); n > 0 {
		m := r.Messages[n-1]
		of = append(of, m.ID, m.Role)
		for _, p := range m.Parts {
			of = append(of, p.Type, p.ToolCallID, p.State)
			if m.Role == user {
				of = append(of, p.Text, p.URL)
			}
		}
	}
	return "ai-" + conversation.Digest(of...)
}
