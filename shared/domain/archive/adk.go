package archive

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/ids"
	"github.com/rethread/rethread/shared/domain/session"
)

// FromADK converts a session dumped by Google's ADK: the JSON of its Session, in
// Python's or the wire's spelling (app_name or appName). State that no event sets
// becomes the session's initial state; the event of a rewind becomes a rewind. id
// replaces the dump's unless it is "".
func FromADK(raw json.RawMessage, id string, now int64) (*Part, error) {
	var members map[string]json.RawMessage
	if err := decode(raw, &members, ""); err != nil {
		return nil, err
	}
	dump := make(map[string]json.RawMessage, len(members))
	for name, m := range members {
		dump[jsonx.SnakeCase(name)] = m
	}
	of := session.Session{Metadata: json.RawMessage("{}")}
	for name, into := range map[string]*string{"id": &of.ID, "app_name": &of.AppName} {
		if m := dump[name]; !jsonx.IsNull(m) {
			if err := decode(m, into, "/"+name); err != nil {
				return nil, err
			}
		}
	}
	if id != "" {
		of.ID = id
	}
	if of.AppName == "" {
		of.AppName = session.DefaultApp
	}
	if err := ids.CheckSegment("/id", of.ID); err != nil {
		return nil, err
	}
	if err := ids.Check("/app_name", of.AppName); err != nil {
		return nil, err
	}
	events, err := parseList(dump, "events", adkEvent)
	if err != nil {
		return nil, err
	}
	if len(events) > 0 {
		of.CreatedTime = events[0].CreatedTime
	}
	b := newBuilder(of, now)
	if err := b.initial(dump["state"], events); err != nil {
		return nil, err
	}
	for _, e := range events {
		if e.Partial {
			continue
		}
		var actions struct {
			Before string `json:"rewind_before_invocation_id"`
		}
		l := Log{}
		if raw := e.Fields["actions"]; !jsonx.IsNull(raw) && json.Unmarshal(raw, &actions) == nil && actions.Before != "" {
			l, _ = b.rewound(actions.Before)
		}
		if e.CreatedTime == 0 {
			e.CreatedTime = now
		}
		b.add(e, l)
	}
	return b.done(), nil
}

// initial adds the event of the initial state: the keys that no event sets.
func (b *builder) initial(raw json.RawMessage, events []session.Event) error {
	state := session.Delta{}
	if jsonx.IsNull(raw) {
		return nil
	}
	if err := decode(raw, &state, "/state"); err != nil {
		return err
	}
	state = state.Stored().Values()
	if err := state.Validate("/state"); err != nil {
		return err
	}
	for _, e := range events {
		for key := range e.StateDelta {
			delete(state, key)
		}
	}
	if len(state) == 0 {
		return nil
	}
	actions, err := jsonx.Marshal(session.Actions{StateDelta: state, ArtifactDelta: map[string]int64{}})
	if err != nil {
		return err
	}
	b.add(session.Event{
		InvocationID: "initial", Author: "system", StateDelta: state, CreatedTime: b.part.Head.Session.CreatedTime,
		Fields: map[string]json.RawMessage{"actions": actions},
	}, Log{Initial: true})
	return nil
}

// adkEvent parses an event of a dump.
func adkEvent(raw json.RawMessage, pointer string) (session.Event, error) {
	var members map[string]json.RawMessage
	if err := decode(content.SnakeCase(raw), &members, pointer); err != nil {
		return session.Event{}, err
	}
	at := 0.0
	if t := members["timestamp"]; !jsonx.IsNull(t) {
		if err := decode(t, &at, pointer+"/timestamp"); err != nil {
			return session.Event{}, err
		}
	}
	var invocation string
	if m := members["invocation_id"]; jsonx.IsNull(m) || json.Unmarshal(m, &invocation) == nil && invocation == "" {
		members["invocation_id"] = members["id"] // ADK allows an event without one
	}
	whole, err := jsonx.Marshal(members)
	if err != nil {
		return session.Event{}, err
	}
	e, err := session.ParseEvent(whole, pointer)
	e.CreatedTime = int64(math.Round(at * 1000))
	if err != nil {
		return e, err
	}
	if err := checkIDs(&e, pointer); err != nil {
		return e, err
	}
	return e, checkTime(pointer+"/timestamp", e.CreatedTime)
}

// TaskTimes parses the times that a list of tasks may contain.
func TaskTimes(raw json.RawMessage, i int) (created, updated int64, err error) {
	var times struct {
		Created int64 `json:"created_time"`
		Updated int64 `json:"updated_time"`
	}
	at := "/tasks/" + strconv.Itoa(i)
	if err := decode(raw, &times, at); err != nil {
		return 0, 0, err
	}
	if err := checkTime(at+"/created_time", times.Created); err != nil {
		return 0, 0, err
	}
	return times.Created, times.Updated, checkTime(at+"/updated_time", times.Updated)
}
