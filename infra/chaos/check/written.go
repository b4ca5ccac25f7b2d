package check

import (
	"slices"
	"strings"

	"github.com/rethread/rethread/infra/chaos/fold"
	"github.com/rethread/rethread/infra/chaos/ledger"
)

// with are the own entries that say a token.
func (s *subject) with(token string) []fold.Entry {
	var out []fold.Entry
	for _, e := range s.log.Entries[min(s.taken, len(s.log.Entries)):] {
		if strings.Contains(e.Text(), token) && (e.Author == "user" || strings.HasPrefix(e.Text(), token)) {
			out = append(out, e)
		}
	}
	return out
}

// written: what was acknowledged is in the log once, what was refused is not, and
// what was sent together stands together.
func (c *Checker) written(s *subject) {
	for _, op := range s.ops {
		if op.Kind != "append" && op.Kind != "complete" {
			continue
		}
		var places []int64
		for _, token := range op.Tokens {
			found := s.with(token)
			c.hold(len(found) < 2, "once", s.talk.ID, "%s is in the log %d times: %v", token, len(found), &op)
			if len(found) > 0 {
				places = append(places, found[0].Seq)
			}
		}
		whole := len(places) == len(op.Tokens)
		switch op.Outcome {
		case ledger.Acked:
			c.hold(whole, "acknowledged", s.talk.ID, "%d of %d are in the log: %v", len(places), len(op.Tokens), &op)
		case ledger.Refused:
			c.hold(len(places) == 0 || op.Kind == "complete", "refused", s.talk.ID, "%d of %d are in the log: %v", len(places), len(op.Tokens), &op)
		case ledger.Unknown:
			c.hold(whole || len(places) == 0, "once", s.talk.ID, "%d of %d are in the log: %v", len(places), len(op.Tokens), &op)
		}
		for i := 1; i < len(places); i++ {
			c.hold(places[i] == places[i-1]+1, "once", s.talk.ID, "they stand at %v: %v", places, &op)
		}
	}
}

// inputs: what a run was given is in the log, and in the thread once until it is
// rewound or its run's remains are discarded.
func (c *Checker) inputs(s *subject) {
	view := s.log.Now().View
	for _, op := range s.ops {
		if op.Kind != "ask" && op.Kind != "merge" {
			continue
		}
		token := op.Tokens[0]
		found := s.with(token)
		found = slices.DeleteFunc(found, func(e fold.Entry) bool { return e.Author != "user" })
		shown := 0
		for _, e := range found {
			if slices.Contains(view, int(e.Seq)-1) {
				shown++
			}
		}
		c.hold(shown < 2, "once", s.talk.ID, "%s is in the thread %d times: %v", token, shown, &op)
		switch op.Outcome {
		case ledger.Acked:
			c.hold(len(found) > 0, "acknowledged", s.talk.ID, "the input is not in the log: %v", &op)
			if len(found) > 0 && shown == 0 {
				why := s.hidden(int(found[len(found)-1].Seq) - 1)
				c.hold(why == "", "acknowledged", s.talk.ID, "the input was lost: %s: %v", why, &op)
			}
		case ledger.Refused:
			c.hold(len(found) == 0, "refused", s.talk.ID, "the input is in the log: %v", &op)
		case ledger.Unknown:
		}
	}
}

// hidden says why an entry may not be hidden; "" where somebody asked for it.
func (s *subject) hidden(at int) string {
	for i := at + 1; i < len(s.log.Entries); i++ {
		marker := s.log.Entries[i]
		if marker.Actions.Before == nil || slices.Contains(s.log.Snapshots[i+1].View, at) {
			continue
		}
		run := *marker.Actions.Before
		if !strings.HasPrefix(marker.Invocation, "discard-") {
			return s.asked("rewind", run, "a marker that nobody asked for")
		}
		for _, e := range s.log.Entries {
			if e.Run != nil && e.Run.ID == run && e.Run.Status == "cancelled" {
				return s.asked("cancel", run, "it went with the run "+run+", which nobody cancelled")
			}
		}
		return "" // its run failed, and what that left is discarded
	}
	return "nothing hides it"
}

// asked is "" where somebody asked for what names a run or an invocation.
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

// streamed: what a streaming agent was told is stored, is.
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
		c.hold(at >= 0 && strings.HasPrefix(s.log.Entries[at].Text(), text), "acknowledged", s.talk.ID,
			"of the item %s at %d, %q was acknowledged", item, at, text)
	}
}

// answers: an agent is asked its own input, which the demo agent repeats.
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
		c.hold(strings.HasPrefix(said, input+`"`), "answers", s.talk.ID, "asked %q, at %d the agent answers %.120q", input, e.Seq, e.Text())
	}
}

func (s *subject) isInput(e fold.Entry) bool {
	for _, op := range s.ops {
		if (op.Kind == "ask" || op.Kind == "merge") && strings.Contains(e.Text(), op.Tokens[0]) {
			return true
		}
	}
	return false
}
