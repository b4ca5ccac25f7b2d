package archive

import (
	"encoding/json"
	"maps"
	"strconv"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

func (c *checker) events() error {
	for i, e := range c.part.Events {
		if err := c.event(e, i, "/events/"+strconv.Itoa(i)); err != nil {
			return err
		}
	}
	return c.After.Values.CheckSize(session.ScopeSession)
}

// event adds an event to an entry.
func (c *checker) event(e Event, i int, at string) error {
	log := &c.After.Log
	if e.Seq != log.Next {
		return fault.Field(fault.Invalid, at+"/seq", "must be %d: the log has no gaps", log.Next)
	}
	if e.Log.Initial && e.Seq != 1 {
		return fault.Field(fault.Invalid, at+"/_log/initial", "must be set on the first event alone")
	}
	if err := e.Log.Undo.Validate(at + "/_log/undo"); err != nil && !artifactKeys(e.Log.Undo) {
		return err
	}
	if err := c.rename(&e, at); err != nil {
		return err
	}
	entry, err := c.entryFor(e, i, at)
	if err != nil {
		return err
	}
	entry.Events = append(entry.Events, e)
	log.Next++
	if len(e.Log.Undo) > 0 {
		if first := entry.Events[0].Seq; entry.LastState != first {
			entry.PrevState, entry.LastState, log.State = log.State, first, first
		}
		c.After.Values.Apply(e.Change().In(session.ScopeSession))
	}
	return nil
}

// artifactKeys reports whether the invalid keys of a delta stand for artifacts. Callers
// cannot use these keys; any name is accepted, as events may name any.
func artifactKeys(d session.Delta) bool {
	for key := range d {
		if _, ok := session.ArtifactOf(key); !ok && (session.Delta{key: nil}).Validate("") != nil {
			return false
		}
	}
	return true
}

// entryFor returns the entry of an event: a new one, unless the event joins the
// previous one.
func (c *checker) entryFor(e Event, i int, at string) (*Entry, error) {
	if e.Log.Joins {
		if i == 0 {
			return nil, fault.Field(fault.Invalid, at+"/_log/joins", "must not be set where a part begins")
		}
		entry := &c.Entries[len(c.Entries)-1]
		if first := entry.Events[0]; first.CreatedTime != e.CreatedTime || first.Log.Marks() {
			return nil, fault.Field(fault.Invalid, at+"/created_time", "must be that of the event it joins")
		}
		return entry, nil
	}
	log := &c.After.Log
	entry := Entry{LastState: log.State, PrevDeltas: log.Deltas}
	if e.Log.Marks() {
		if err := checkTimeline(e.Log.Timeline, e.Seq+1, at+"/_log/timeline"); err != nil {
			return nil, err
		}
		entry.PrevMarker, log.Marker = log.Marker, e.Seq
		c.After.Timeline = e.Log.Timeline
		log.Epoch++
	}
	entry.LastMarker, entry.Epoch = log.Marker, log.Epoch
	log.Deltas = e.Log.offset()
	c.Entries = append(c.Entries, entry)
	return &c.Entries[len(c.Entries)-1], nil
}

// offset returns the offset of the cursor of a watcher that has the event.
func (l Log) offset() int64 {
	if l.Streamed {
		return l.Deltas + 1
	}
	return l.Deltas
}

// checkTimeline checks that a timeline has ordered ranges from a seq on, with gaps
// between them, of which only the last is open.
func checkTimeline(t Timeline, open int64, at string) error {
	next := int64(1)
	for i, r := range t {
		last := i == len(t)-1
		if r.From < next || r.From > open || last != (r.To == 0) || (!last && (r.To < r.From || r.To >= open)) {
			return fault.Field(fault.Invalid, at+"/"+strconv.Itoa(i), "must come after what precedes it, and the last be open")
		}
		next = r.To + 2 // without a gap they would be one
	}
	if len(t) == 0 || t[len(t)-1].From != open {
		return fault.Field(fault.Invalid, at, "must continue at %d", open)
	}
	return nil
}

// rename replaces the session's id in an event if the session gets another one.
func (c *checker) rename(e *Event, at string) error {
	if c.After.SessionID == c.After.Head.Session.ID {
		return nil
	}
	e.Fields = maps.Clone(e.Fields)
	for name, raw := range e.Fields {
		e.Fields[name] = c.After.Renamed(raw)
	}
	if e.Log.Ended == "" {
		return nil
	}
	var past run.Run
	if json.Unmarshal(e.Fields["run"], &past) != nil {
		return fault.Field(fault.Malformed, at+"/run", "must be a run")
	}
	past.SessionID = c.After.SessionID
	var err error
	e.Fields["run"], err = jsonx.Marshal(past)
	return err
}

// Renamed returns a value in whose A2A messages the session has its new id.
func (b Before) Renamed(raw json.RawMessage) json.RawMessage {
	if b.SessionID == b.Head.Session.ID {
		return raw
	}
	return session.RewriteForFork(raw, b.SessionID, func(id string) string { return id })
}
