package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rethread/rethread/infra/chaos/fold"
	"github.com/rethread/rethread/infra/chaos/ledger"
)

// entriesWith returns the session's own entries that contain a token.
func (s *subject) entriesWith(token string) []fold.Entry {
	var out []fold.Entry
	for _, e := range s.log.Entries[min(s.taken, len(s.log.Entries)):] {
		if strings.Contains(e.Text(), token) && (e.Author == "user" || strings.HasPrefix(e.Text(), token)) {
			out = append(out, e)
		}
	}
	return out
}

// written checks that acknowledged events are in the log once, that refused ones
// are not, and that events of one request are consecutive.
func (c *Checker) written(s *subject) {
	for _, op := range s.ops {
		if op.Kind != "append" && op.Kind != "complete" {
			continue
		}
		var places []int64
		for _, token := range op.Tokens {
			found := s.entriesWith(token)
			c.expect(len(found) < 2, "once", s.session.ID, "%s is in the log %d times: %v", token, len(found), &op)
			if len(found) > 0 {
				places = append(places, found[0].Seq)
			}
		}
		whole := len(places) == len(op.Tokens)
		switch op.Outcome {
		case ledger.Acked:
			c.expect(whole, "acknowledged", s.session.ID, "%d of %d are in the log: %v", len(places), len(op.Tokens), &op)
			c.undiscarded(s, places)
		case ledger.Refused:
			c.expect(len(places) == 0 || op.Kind == "complete", "refused", s.session.ID, "%d of %d are in the log: %v", len(places), len(op.Tokens), &op)
		case ledger.Unknown:
			c.expect(whole || len(places) == 0, "once", s.session.ID, "%d of %d are in the log: %v", len(places), len(op.Tokens), &op)
		}
		for i := 1; i < len(places); i++ {
			c.expect(places[i] == places[i-1]+1, "once", s.session.ID, "they are at %v: %v", places, &op)
		}
	}
}

// undiscarded checks that no run that began after entries was discarded with them.
func (c *Checker) undiscarded(s *subject, places []int64) {
	for _, seq := range places {
		at := int(seq) - 1
		for i, marker := range s.log.Entries[at+1:] {
			run, discard := strings.CutPrefix(marker.Invocation, "discard-")
			shown := func(then int) bool { return slices.Contains(s.log.Snapshots[then].View, at) }
			if discard && marker.Actions.Before != nil && shown(at+1+i) && !shown(at+2+i) {
				why := s.begunAfter(run, at)
				c.expect(why == "", "acknowledged", s.session.ID, "the entry at %d was lost: %s", seq, why)
			}
		}
	}
}

// inputs checks that a run's input is in the log, and in the thread once until it
// is rewound or discarded with its run.
func (c *Checker) inputs(s *subject) {
	view := s.log.Now().View
	for _, op := range s.ops {
		if !op.Starts() {
			continue
		}
		token := op.Tokens[0]
		found := s.entriesWith(token)
		found = slices.DeleteFunc(found, func(e fold.Entry) bool { return e.Author != "user" })
		shown := 0
		for _, e := range found {
			if slices.Contains(view, int(e.Seq)-1) {
				shown++
			}
		}
		waits := s.waiting(token)
		c.expect(shown+waits < 2, "once", s.session.ID, "%s is in the thread %d times and in the queue %d times: %v", token, shown, waits, &op)
		switch op.Outcome {
		case ledger.Acked:
			c.expect(len(found)+waits > 0 || s.dequeued(&op), "acknowledged", s.session.ID, "the input is not in the log: %v", &op)
			if len(found) > 0 && shown == 0 {
				why := s.hidden(int(found[len(found)-1].Seq) - 1)
				c.expect(why == "", "acknowledged", s.session.ID, "the input was lost: %s: %v", why, &op)
			}
		case ledger.Refused:
			c.expect(len(found)+waits == 0, "refused", s.session.ID, "the input is in the log or in the queue: %v", &op)
		case ledger.Unknown:
		}
	}
}

// kept checks that a run that is kept although it failed or was cancelled is marked, and
// that no start discards it.
func (c *Checker) kept(s *subject) {
	for at, end := range s.log.Entries {
		if at < s.taken || !end.Keeps() {
			continue
		}
		run := end.Run.ID
		c.expect(end.Run.Status == "failed" || end.Run.Status == "cancelled", "kept", s.session.ID, "the run %s is kept, and %s", run, end.Run.Status)
		marked, discarded := false, false
		for i, e := range s.log.Entries {
			marked = marked || i <= at && e.Invocation == run && e.Listed() && e.Status == "failed"
			discarded = discarded || e.Invocation == "discard-"+run
		}
		c.expect(marked, "kept", s.session.ID, "nothing marks the run %s, which is kept and %s", run, end.Run.Status)
		c.expect(!discarded, "kept", s.session.ID, "the run %s, which is kept, was discarded", run)
	}
}

// hidden returns why an entry must not be hidden; "" if a user asked for it.
func (s *subject) hidden(at int) string {
	for i := at + 1; i < len(s.log.Entries); i++ {
		marker := s.log.Entries[i]
		if marker.Actions.Before == nil || slices.Contains(s.log.Snapshots[i+1].View, at) {
			continue
		}
		run := *marker.Actions.Before
		if !strings.HasPrefix(marker.Invocation, "discard-") {
			return s.asked("rewind", run, "a rewind marker without a request")
		}
		if why := s.begunAfter(run, at); why != "" {
			return why
		}
		for _, e := range s.log.Entries {
			if e.Run != nil && e.Run.ID == run && e.Run.Status == "cancelled" {
				return s.asked("cancel", run, "it was discarded with the run "+run+", which no user cancelled")
			}
		}
		return "" // the run failed, and its remains are discarded
	}
	return "no marker hides it"
}

// begunAfter returns why a discard of a run must not hide an entry: the run began after it.
// Users may have appended to the run's invocation before. "" if it may hide the entry.
func (s *subject) begunAfter(run string, at int) string {
	start := slices.IndexFunc(s.log.Entries, func(e fold.Entry) bool {
		return e.Invocation == run && e.Author == "user" && s.isInput(e)
	})
	if at >= start {
		return ""
	}
	return fmt.Sprintf("it was discarded with the run %s, which began after it, at %d", run, s.log.Entries[start].Seq)
}

// asked returns "" if a user asked for an operation on a run or an invocation.
func (s *subject) asked(kind, id, otherwise string) string {
	for _, op := range s.ops {
		if op.Kind == kind && op.Outcome != ledger.Refused && strings.HasPrefix(op.Detail, id) {
			return ""
		}
		if kind == "cancel" && op.Kind == "rewind" && op.Outcome != ledger.Refused && strings.HasSuffix(op.Detail, " true") {
			return ""
		}
	}
	return otherwise
}

// streamed checks that acknowledged deltas are stored.
func (c *Checker) streamed(s *subject) {
	said := map[string]string{}
	for _, op := range s.ops {
		if op.Kind == "delta" && op.Outcome == ledger.Acked {
			item, text, _ := strings.Cut(op.Detail, " ")
			said[item] += text
		}
	}
	for item, text := range said {
		at := slices.IndexFunc(s.log.Entries, func(e fold.Entry) bool { return e.ID == item })
		c.expect(at >= 0 && strings.HasPrefix(s.log.Entries[at].Text(), text), "acknowledged", s.session.ID,
			"of the item %s at %d, %q was acknowledged", item, at, text)
	}
}

// answers checks that an agent receives its run's input, which the demo agent
// repeats.
func (c *Checker) answers(s *subject) {
	asked := map[string]string{} // the last input by run
	for _, e := range s.log.Entries[min(s.taken, len(s.log.Entries)):] {
		if e.Author == "user" && s.isInput(e) {
			asked[e.Invocation] = e.Text()
		}
	}
	for _, e := range s.log.Entries[min(s.taken, len(s.log.Entries)):] {
		input, ok := asked[e.Invocation]
		said, plain := strings.CutPrefix(e.Text(), `You said: "`)
		if !ok || !plain || e.Author == "user" || e.Status != "completed" {
			continue
		}
		c.expect(strings.HasPrefix(said, input+`"`), "answers", s.session.ID, "input %q, but the agent's answer at %d is %.120q", input, e.Seq, e.Text())
	}
}

func (s *subject) isInput(e fold.Entry) bool {
	for _, op := range s.ops {
		if op.Starts() && strings.Contains(e.Text(), op.Tokens[0]) {
			return true
		}
	}
	return false
}
