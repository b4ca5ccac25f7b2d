package responses

import (
	"fmt"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/client/agent/provider"
	"github.com/rethread/rethread/shared/domain/run"
)

// end handles the end of a response. A server that does not stream, or that leaves
// out events, has the items only here.
func (r *reader) end(whole *response) error {
	if whole == nil {
		return r.out.Malformed("an event", fault.New(fault.Malformed, "response is required"))
	}
	if !jsonx.IsNull(whole.Error) || whole.Status == "failed" {
		return provider.Error(whole.Error, r.redact)
	}
	for i, item := range whole.Output {
		if i < len(r.record.Items) {
			continue
		}
		if err := r.itemDone(i, item); err != nil {
			return err
		}
	}
	r.done = whole
	return nil
}

// finish completes the item, with what the server reported about the response.
func (r *reader) finish() error {
	if !r.out.Busy() { // the model may have nothing to say
		if err := r.out.Begin(run.ItemStart{}); err != nil {
			return err
		}
	}
	members := map[string]any{"finish_reason": "stop"}
	if reason := r.done.IncompleteDetails.Reason; reason != "" {
		members["finish_reason"] = reason
	}
	if !jsonx.IsNull(r.done.Usage) {
		members["usage_metadata"] = r.done.Usage
	}
	if r.refused {
		members["refusal"] = true
	}
	if r.record.isNeeded() {
		members[recordMember] = r.record
	}
	raw, err := jsonx.Marshal(members)
	if err != nil {
		return fmt.Errorf("encode the members of the response: %w", err)
	}
	if err := r.out.Event(raw); err != nil {
		return err
	}
	return r.out.Finish()
}
