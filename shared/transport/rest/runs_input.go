package rest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// unnamed is a placeholder for the id of a run that has none yet.
const unnamed = "-"

// newRun reads the body of a start. The run's id is set later.
func (c *call) newRun() (s run.Start, err error) {
	s.UserID = c.user
	if s.SessionID, err = c.sessionID(); err != nil {
		return s, err
	}
	body, err := c.object()
	if err != nil {
		return s, err
	}
	var broken fault.Broken
	s.Input, err = body.input()
	broken.Add(err)
	for i, e := range s.Input {
		s.Input[i], err = c.permission.Admit(e, "/input/"+strconv.Itoa(i))
		broken.Add(err)
	}
	s.Agent, err = body.Text("agent")
	broken.Add(err)
	mode, err := body.choice("mode", string(run.Managed), string(run.External))
	broken.Add(err)
	active, err := body.choice("on_active", string(run.Reject), string(run.CancelAndMerge), string(run.Enqueue))
	broken.Add(err)
	s.OnFailed, err = body.onFailed()
	broken.Add(err)
	s.Mode, s.OnActive = run.Mode(mode), run.OnActive(active)
	s.ExpectedSeq, err = body.expectedSeq()
	broken.Add(err)
	if s.ExpectedSeq != nil && s.OnActive == run.Enqueue {
		broken.Add(fieldFault(fault.Invalid, "/expected_seq", "must be absent with on_active enqueue: the input gets its position later"))
	}
	broken.Add(s.Validate())
	return s, broken.Err()
}

// onFailed reads what becomes of a run that fails or is cancelled; "" if that is not
// said.
func (o object) onFailed() (run.OnFailed, error) {
	if !o.Has("on_failed") {
		return "", nil
	}
	on, err := o.choice("on_failed", string(run.Discard), string(run.Block), string(run.Keep))
	return run.OnFailed(on), err
}

// input reads the events with which a run begins: complete events with content.
func (o object) input() ([]session.Event, error) {
	items, err := o.inputItems()
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
			broken.Add(fieldFault(fault.Invalid, at+"/id", "is the id of another event of the input"))
		}
		seen[e.ID] = true
		events[i] = e
	}
	return events, broken.Err()
}

// inputItems reads the events of the input, or a text, which is one event of the user.
func (o object) inputItems() ([]json.RawMessage, error) {
	const name = "input"
	var text *string
	if json.Unmarshal(o.Members[name], &text) != nil || text == nil {
		return o.items(name, run.MaxInput, "events, or be a text")
	}
	if *text == "" {
		return nil, fieldFault(fault.Invalid, o.Pointer(name), "must not be empty")
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
		broken.Add(malformed(at+"/content", "is required"))
	}
	if e.Partial {
		broken.Add(fieldFault(fault.Invalid, at+"/partial", "must be false: input is whole"))
	}
	return e, broken.Err()
}

// withRun returns an event with the run's id as its invocation and, if author
// is not "", a default author.
func withRun(raw json.RawMessage, at, runID, author string) (json.RawMessage, error) {
	event, err := parseObject(raw, at)
	if err != nil {
		return nil, err
	}
	if event.Has("invocation_id") {
		return nil, fieldFault(fault.Invalid, event.Pointer("invocation_id"), "must be absent: it is the run's id")
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

// items reads a required array of 1 to most elements.
func (o object) items(name string, most int, what string) ([]json.RawMessage, error) {
	if !o.Has(name) {
		return nil, malformed(o.Pointer(name), "is required")
	}
	items, err := o.Array(name)
	if err != nil {
		return nil, err
	}
	if n := len(items); n == 0 || n > most {
		return nil, fieldFault(fault.Invalid, o.Pointer(name), "must hold 1 to %d %s", most, what)
	}
	return items, nil
}

// choice reads an optional member with one of a few values; the first is the
// default.
func (o object) choice(name string, words ...string) (string, error) {
	word, err := o.Text(name)
	switch {
	case err != nil:
		return "", err
	case !o.Has(name):
		return words[0], nil
	case !slices.Contains(words, word):
		return "", fieldFault(fault.Invalid, o.Pointer(name), "must be %s", strings.Join(words, " or "))
	}
	return word, nil
}
