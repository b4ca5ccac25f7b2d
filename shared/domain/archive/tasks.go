package archive

import (
	"strconv"

	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
)

// FromTasks returns the document of a session that consists of tasks alone, in the
// given order. A task's position is the one that it would have if the tasks were
// saved one by one: that of its first invocation. now is the time of tasks without
// one.
func FromTasks(of session.Session, tasks []task.Save, now int64) (*Part, error) {
	b := newBuilder(of, now)
	seen := map[string]bool{}
	for i, save := range tasks {
		t := save.Task
		if seen[t.ID] {
			return nil, fault.Field(fault.Invalid, "/tasks/"+strconv.Itoa(i)+"/task_id", "must not come twice")
		}
		seen[t.ID] = true
		if t.CreatedTime == 0 {
			t.CreatedTime = now
		}
		t.UpdatedTime = max(t.UpdatedTime, t.CreatedTime)
		invocations := save.Invocations
		if len(invocations) == 0 {
			invocations = []string{t.ID}
		}
		out := Task{
			ID: t.ID, UserMessage: t.UserMessage, Bubbles: t.Bubbles, Metadata: t.Metadata,
			CreatedTime: t.CreatedTime, UpdatedTime: t.UpdatedTime,
			First: invocations[0], Places: map[string]int64{}, Named: save.Invocations,
		}
		joins := false
		for _, id := range invocations {
			if _, known := b.first[id]; !known {
				b.add(session.Event{
					InvocationID: id, Author: "system", CreatedTime: t.CreatedTime, TaskID: t.ID,
				}, Log{Task: t.ID, Joins: joins})
				joins = true
			}
			out.Places[id] = b.first[id]
		}
		out.Place = out.Places[out.First]
		b.touch(t.UpdatedTime)
		b.part.Tasks = append(b.part.Tasks, out)
	}
	return b.done(), nil
}

// builder builds the document of a session whose log is written from its beginning.
type builder struct {
	part  *Part
	first map[string]int64 // seq by invocation
	// timelines are the timelines after rewinds, by the seqs of their markers.
	timelines map[int64]Timeline
	values    session.Values // by prefixed key
}

func newBuilder(of session.Session, now int64) *builder {
	if of.CreatedTime == 0 {
		of.CreatedTime = now
	}
	of.Status = session.Idle
	of.UpdatedTime = max(of.UpdatedTime, of.CreatedTime)
	return &builder{
		part:  &Part{Head: &Head{Session: of, Timeline: Timeline{{From: 1}}}, Complete: true},
		first: map[string]int64{}, timelines: map[int64]Timeline{}, values: session.Values{},
	}
}

func (b *builder) touch(millis int64) {
	s := &b.part.Head.Session
	s.UpdatedTime = max(s.UpdatedTime, millis)
}

// add appends an event; an event without an id gets the same one each time.
func (b *builder) add(e session.Event, l Log) {
	head := b.part.Head
	e.Seq, e.Status = int64(len(b.part.Events))+1, session.EventCompleted
	if e.ID == "" {
		e.ID = session.PositionalID(e.Seq, uuid.NewSHA1(uuid.NameSpaceOID, []byte(head.Session.ID+"\x00"+e.InvocationID)))
	}
	if change := e.Change(); len(change) > 0 {
		l.Undo = b.values.Apply(change)
	}
	if _, known := b.first[e.InvocationID]; !known {
		b.first[e.InvocationID] = e.Seq
		if l.Initial {
			b.first[e.InvocationID]++ // no rewind can go to before it
		}
	}
	b.touch(e.CreatedTime)
	b.part.Events = append(b.part.Events, Event{Event: e, Log: l})
	head.Session.HeadSeq = e.Seq
}

// rewound makes the next event a marker: from there on the session shows what it
// showed before the first entry of an invocation.
func (b *builder) rewound(before string) (Log, bool) {
	target, ok := b.first[before]
	if !ok {
		return Log{}, false
	}
	marker := int64(len(b.part.Events)) + 1
	then, newest := Timeline{{From: 1}}, int64(0)
	for at, t := range b.timelines {
		if at < target && at > newest {
			then, newest = t, at
		}
	}
	after := then.before(target).append(Range{From: marker + 1})
	b.timelines[marker], b.part.Head.Timeline = after, after
	b.part.Head.Session.Epoch++
	return Log{Timeline: after, ToSeq: target - 1}, true
}

// before returns the part of a timeline with seqs less than n.
func (t Timeline) before(n int64) Timeline {
	out := Timeline{}
	for _, r := range t {
		if r.From >= n {
			break
		}
		if r.To == 0 || r.To >= n {
			r.To = n - 1
		}
		out = append(out, r)
	}
	return out
}

func (t Timeline) append(r Range) Timeline { return append(t, r) }

func (b *builder) done() *Part {
	s := &State{State: session.State{Session: session.Values{}, User: session.Values{}, App: session.Values{}}}
	s.Artifacts = map[string]int64{}
	for key, v := range b.values {
		if name, ok := session.ArtifactOf(key); ok {
			if n, ok := jsonx.Integer(v); ok {
				s.Artifacts[name] = n
			}
			continue
		}
		switch scope, name := session.ScopeOf(key); scope {
		case session.ScopeSession:
			s.Session[name] = v
		case session.ScopeUser:
			s.User[name] = v
		case session.ScopeApp:
			s.App[name] = v
		case session.ScopeTemp:
		}
	}
	b.part.State = s
	return b.part
}
