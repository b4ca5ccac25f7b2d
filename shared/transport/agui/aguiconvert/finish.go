package aguiconvert

import (
	"encoding/json"
	"slices"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

// Codes of errors that are not those of a run.
const (
	// CodeReconnect ends a stream whose run continues: send the request again.
	CodeReconnect = "connect_again"
	// CodeBusy says that another run of the thread is in progress.
	CodeBusy = "run_in_progress"
)

// Close ends the parts in progress, for a stream whose run ends without completing
// them.
func (s *Stream) Close() []Event {
	var out []Event
	for _, it := range s.Items {
		w := &itemWriter{stream: s, it: it}
		w.closePart()
		out = append(out, w.out...)
	}
	return out
}

// Finish returns the events that end the stream of a run: what is open is closed, and
// the run's outcome follows. It returns conversation.ErrOlder, and changes nothing, if that
// depends on older events.
func (s *Stream) Finish(r run.Run) ([]Event, error) {
	t := s.Thread()
	if !t.Ended() {
		return nil, conversation.ErrOlder
	}
	return append(s.Close(), Outcome(t, r)), nil
}

// Outcome returns the event for the end of a run: what a person has to answer is an
// interrupt, except calls of the front end's own tools, which its next input answers
// with a tool's message.
func Outcome(t *conversation.Thread, r run.Run) Event {
	switch r.Status {
	case run.Cancelled:
		return runFinished(r.SessionID, r.ID, map[string]any{"type": "cancelled"})
	case run.Failed:
		return RunError(r.Failure().Code, r.Failure().Message, nil)
	case run.Waiting, run.InProgress, run.Completed:
	}
	return Finished(t, r.SessionID, r.ID, true)
}

// Discarded returns the event that ends a run whose events were taken away before any was
// read. A run that was cancelled ends as it does if some were.
func Discarded(r run.Run) Event {
	if r.Status == run.Cancelled {
		return Outcome(nil, r)
	}
	return RunError(string(fault.RunRewound), "The run was rewound.", map[string]any{"run_id": r.ID})
}

// Finished returns the end of a run that did not fail, with what is still open. over
// reports that the thread's last run is complete.
func Finished(t *conversation.Thread, threadID, runID string, over bool) Event {
	tools := t.Offered()
	var pending []string
	var interrupts []map[string]any
	for _, c := range t.Open(over) {
		if slices.Contains(tools, c.Name) {
			pending = append(pending, c.ID)
			continue
		}
		interrupts = append(interrupts, interruptOf(c))
	}
	if len(interrupts) > 0 {
		return runFinished(threadID, runID, map[string]any{"type": "interrupt", "interrupts": interrupts})
	}
	outcome := map[string]any{"type": "success"}
	if len(pending) > 0 {
		outcome["pendingToolCallIds"] = pending
	}
	e := runFinished(threadID, runID, outcome)
	for _, ev := range t.Events() {
		if ev.InvocationID != runID {
			continue
		}
		if r := conversation.RecordOf(ev); r.Result != nil {
			e["result"] = r.Result
		}
	}
	return e
}

// interruptOf returns the interrupt for a call that a person has to answer. The
// arguments of a call by which an agent interrupts are the interrupt itself.
func interruptOf(c *conversation.Call) map[string]any {
	out := map[string]any{"id": c.ID, "reason": "tool_call", "toolCallId": c.ID, "message": "The tool " + c.Name + " waits for an answer."}
	if c.Name != conversation.InterruptCall {
		return out
	}
	out = map[string]any{"id": c.ID, "reason": "input_required"}
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(c.Args), &members) != nil {
		return out
	}
	for _, name := range []string{"reason", "message", "toolCallId", "expiresAt"} {
		var text string
		if raw := members[name]; !jsonx.IsNull(raw) && json.Unmarshal(raw, &text) == nil {
			out[name] = text
		}
	}
	for _, name := range []string{"responseSchema", "metadata"} {
		if raw := members[name]; jsonx.IsObject(raw) {
			out[name] = raw
		}
	}
	return out
}
