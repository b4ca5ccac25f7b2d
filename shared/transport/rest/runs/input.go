package runs

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/rest"
)

// unnamed is a placeholder for the id of a run that has none yet.
const unnamed = "-"

// newRun reads the body of a start. The run's id is set later.
func newRun(c *rest.Call) (s run.Start, err error) {
	s.UserID = c.User
	if s.SessionID, err = c.SessionID(); err != nil {
		return s, err
	}
	body, err := c.Object()
	if err != nil {
		return s, err
	}
	var broken fault.Broken
	s.Input, err = inputOf(body)
	broken.Add(err)
	for i, e := range s.Input {
		s.Input[i], err = c.Permission.Admit(e, "/input/"+strconv.Itoa(i))
		broken.Add(err)
	}
	s.Agent, err = body.Text("agent")
	broken.Add(err)
	mode, err := body.Choice("mode", string(run.Managed), string(run.External))
	broken.Add(err)
	active, err := body.Choice("on_active", string(run.Reject), string(run.CancelAndMerge), string(run.Enqueue))
	broken.Add(err)
	s.OnFailed, err = onFailed(body)
	broken.Add(err)
	s.Mode, s.OnActive = run.Mode(mode), run.OnActive(active)
	s.ExpectedSeq, err = body.ExpectedSeq()
	broken.Add(err)
	if s.ExpectedSeq != nil && s.OnActive == run.Enqueue {
		broken.Add(rest.FieldFault(fault.Invalid, "/expected_seq", "must be absent with on_active enqueue: the input gets its position later"))
	}
	broken.Add(s.Validate())
	return s, broken.Err()
}

// onFailed reads what becomes of a run that fails or is cancelled; "" if that is not
// said.
func onFailed(o rest.Object) (run.OnFailed, error) {
	if !o.Has("on_failed") {
		return "", nil
	}
	on, err := o.Choice("on_failed", string(run.Discard), string(run.Block), string(run.Keep))
	return run.OnFailed(on), err
}

// inputOf reads the events with which a run begins: complete events with content.
func inputOf(o rest.Object) ([]session.Event, error) {
	items, err := inputItems(o)
	if err != nil {
		return nil, err
	}
	var broken fault.Broken
	events := make([]session.Event, len(items))
	seen := map[string]bool{}
	for i, raw := range items {
		at := o.Pointer("input") + "/" + strconv.Itoa(i)
		e, err := inputEvent(raw, at)
		broken.Add(err)
		if e.ID != "" && seen[e.ID] {
			broken.Add(rest.FieldFault(fault.Invalid, at+"/id", "is the id of another event of the input"))
		}
		seen[e.ID] = true
		events[i] = e
	}
	return events, broken.Err()
}

// inputItems reads the events of the input, or a text, which is one event of the user.
func inputItems(o rest.Object) ([]json.RawMessage, error) {
	const name = "input"
	var text *string
	if json.Unmarshal(o.Members[name], &text) != nil || text == nil {
		return itemsOf(o, name, run.MaxInput, "events, or be a text")
	}
	if *text == "" {
		return nil, rest.FieldFault(fault.Invalid, o.Pointer(name), "must not be empty")
	}
	raw, err := jsonx.Marshal(map[string]any{
		"content": content.Content{Role: "user", Parts: []content.Part{content.Text(*text)}},
	})
	return []json.RawMessage{raw}, err
}

// inputEvent reads an event of the input.
func inputEvent(raw json.RawMessage, at string) (session.Event, error) {
	raw, err := withRun(raw, at, unnamed, "user")
	if err != nil {
		return session.Event{}, err
	}
	e, err := session.ParseEvent(raw, at)
	if err != nil {
		return e, err
	}
	var broken fault.Broken
	broken.Add(e.CheckNew(at))
	if jsonx.IsNull(e.Fields["content"]) {
		broken.Add(rest.Malformed(at+"/content", "is required"))
	}
	if e.Partial {
		broken.Add(rest.FieldFault(fault.Invalid, at+"/partial", "must be false: input is whole"))
	}
	return e, broken.Err()
}

// withRun returns an event with the run's id as its invocation and, if author
// is not "", a default author.
func withRun(raw json.RawMessage, at, runID, author string) (json.RawMessage, error) {
	event, err := rest.ParseObject(raw, at)
	if err != nil {
		return nil, err
	}
	if event.Has("invocation_id") {
		return nil, rest.FieldFault(fault.Invalid, event.Pointer("invocation_id"), "must be absent: it is the run's id")
	}
	preset := map[string]string{"invocation_id": runID}
	if author != "" && !event.Has("author") {
		preset["author"] = author
	}
	for name, value := range preset {
		if event.Members[name], err = jsonx.Marshal(value); err != nil {
			return nil, fmt.Errorf("preset %s: %w", event.Pointer(name), err)
		}
	}
	return jsonx.Marshal(event.Members)
}

// itemsOf reads a required array of 1 to most elements.
func itemsOf(o rest.Object, name string, most int, what string) ([]json.RawMessage, error) {
	if !o.Has(name) {
		return nil, rest.Malformed(o.Pointer(name), "is required")
	}
	items, err := o.Array(name)
	if err != nil {
		return nil, err
	}
	if n := len(items); n == 0 || n > most {
		return nil, rest.FieldFault(fault.Invalid, o.Pointer(name), "must hold 1 to %d %s", most, what)
	}
	return items, nil
}
