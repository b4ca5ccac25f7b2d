package rest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
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
	if s.Input, err = body.input(); err != nil {
		return s, err
	}
	for i, e := range s.Input {
		if s.Input[i], err = c.permission.Admit(e, "/input/"+strconv.Itoa(i)); err != nil {
			return s, err
		}
	}
	if s.Agent, err = body.Text("agent"); err != nil {
		return s, err
	}
	mode, err := body.choice("mode", string(run.Managed), string(run.External))
	if err != nil {
		return s, err
	}
	active, err := body.choice("on_active", string(run.Reject), string(run.CancelAndMerge), string(run.Enqueue))
	if err != nil {
		return s, err
	}
	if s.OnFailed, err = body.onFailed(); err != nil {
		return s, err
	}
	s.Mode, s.OnActive = run.Mode(mode), run.OnActive(active)
	if s.ExpectedSeq, err = body.expectedSeq(); err != nil {
		return s, err
	}
	if s.ExpectedSeq != nil && s.OnActive == run.Enqueue {
		return s, fieldFault(fault.Invalid, "/expected_seq", "must be absent with on_active enqueue: the input gets its position later")
	}
	return s, s.Validate()
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
	items, err := o.items("input", run.MaxInput, "events")
	if err != nil {
		return nil, err
	}
	events := make([]session.Event, len(items))
	seen := map[string]bool{}
	for i, raw := range items {
		at := o.Pointer("input") + "/" + strconv.Itoa(i)
		if raw, err = withRun(raw, at, unnamed, "user"); err != nil {
			return nil, err
		}
		e, err := session.ParseEvent(raw, at)
		if err != nil {
			return nil, err
		}
		if err := e.CheckNew(at); err != nil {
			return nil, err
		}
		switch {
		case jsonx.IsNull(e.Fields["content"]):
			return nil, malformed(at+"/content", "is required")
		case e.Partial:
			return nil, fieldFault(fault.Invalid, at+"/partial", "must be false: input is whole")
		case e.ID != "" && seen[e.ID]:
			return nil, fieldFault(fault.Invalid, at+"/id", "is the id of another event of the input")
		}
		seen[e.ID] = true
		events[i] = e
	}
	return events, nil
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
