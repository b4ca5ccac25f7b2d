package conversation

import (
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/content"
)

// Repeats returns an error if the request differs from the one that began a run of the
// session. Like Plan it may return ErrOlder.
func (in Input) Repeats(h History, runID string) error {
	if h.Partial && !h.Begins(runID) {
		return ErrOlder
	}
	differs := fault.New(fault.OtherInput, "the run has begun with other input").With("run_id", runID)
	t := h.Thread()
	c, err := in.compare(t)
	if err != nil {
		return err
	}
	fresh, err := in.fresh(t, c.fresh)
	if err != nil {
		return err
	}
	if len(fresh) > 0 {
		return differs
	}
	for _, m := range in.Messages {
		at := t.find(m.ID)
		if at < 0 || t.eventOf(at).InvocationID != runID || !IsInput(t.eventOf(at)) || m.Role != User {
			continue
		}
		if m.Err != nil {
			return m.Err
		}
		raw, err := content.Content{Role: User, Parts: m.Parts}.JSON()
		if err != nil {
			return err
		}
		if originOf(t.eventOf(at)).MessageID != "" && !Equal(raw, t.eventOf(at).Fields["content"]) {
			return differs
		}
	}
	return nil
}
