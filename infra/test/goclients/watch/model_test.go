package watch_test

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
)

const (
	sessionID = "s"
	ownLog    = "own"
	sourceLog = "source" // of a fork
)

// model is a session as stored: a log of entries and a header. Each change appends
// to the stream the records that the store's table would.
type model struct {
	id      string
	head    headerCopy
	entries []*entry         // by position
	base    int64            // last position inherited by a fork
	whole   session.Timeline // before the first rewind
	open    *entry           // item in progress
	failed  *run.Run         // the run of head.spent
	stream  []record
	made    int // number of names so far

	invocations []string // that a rewind can go back to, in order
}

// headerCopy is the session's header, which readers copy.
type headerCopy struct {
	epoch, marker int64
	status        session.Status
	run, spent    string
	timeline      session.Timeline
	queue         queueCopy
	deleted       bool
}

// entry is one entry of the log.
type entry struct {
	log                    string
	first                  int64
	epoch                  int64
	events                 []session.Event
	deltas                 int64 // of a complete item
	openAt, prevDeltas     int64
	began, ended           string
	hidden, task           bool
	timeline               session.Timeline // of a marker
	lastMarker, prevMarker int64
	toSeq                  int64
	back                   bool
	run                    run.Run

	content  *content.Draft  // of an item in progress
	grown    []content.Delta // its deltas
	kinds    []content.Delta // of its parts, by what opened them
	offset   int64
	segment  int // number of the last one
	inTail   int // deltas in it
	newAfter int // deltas that fill a segment
}

// record is one change of one item of the table, with its messages.
type record struct {
	key      string
	messages []watch.Message
}

func newModel(base int64) *model {
	m := &model{id: sessionID, base: base, head: headerCopy{status: session.Idle}}
	for i := range base {
		e := &entry{log: sourceLog, first: i + 1}
		e.events = []session.Event{m.event(e.first, "inherited", m.name("i"), "from the source")}
		m.entries = append(m.entries, e)
		m.noteInvocations(e)
	}
	if base > 0 {
		m.head.timeline = session.Timeline{{Log: sourceLog, From: 1, To: base, Seq: 1}}
	}
	m.head.timeline = reopened(m.head.timeline, base+1)
	m.whole = m.head.timeline
	return m
}

func (m *model) name(prefix string) string {
	m.made++
	return fmt.Sprint(prefix, m.made)
}

func (m *model) event(seq int64, author, invocation, text string) session.Event {
	return session.Event{
		ID: m.name("e"), Seq: seq, SessionID: m.id, Status: session.EventCompleted, CreatedTime: 1_700_000_000_000 + seq,
		InvocationID: invocation, Author: author, Fields: map[string]json.RawMessage{
			"content": json.RawMessage(`{"role":"user","parts":[{"text":"` + text + `"}]}`),
			"extra":   json.RawMessage(`{"n": 1.50, "kept": "as it <came>"}`),
		},
	}
}

func mustJSON(v any) json.RawMessage {
	raw, err := jsonx.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

func (e *entry) last() int64 { return e.first + int64(len(e.events)) - 1 }

func (e *entry) inProgress() bool { return e.events[0].Status == session.EventInProgress }

// end returns the cursor offset of the entry's final form.
func (e *entry) end() int64 {
	if e.content == nil {
		return 0
	}
	return e.deltas + 1
}

// headOfLog is the head of the log as the store reads it.
type headOfLog struct {
	last, epoch, deltas, open, lastMarker int64
}

func (m *model) headOfLog() headOfLog {
	n := len(m.entries)
	if n == 0 || m.entries[n-1].log != ownLog {
		return headOfLog{last: m.base}
	}
	e := m.entries[n-1]
	at := headOfLog{last: e.last(), epoch: e.epoch, open: e.openAt, lastMarker: e.lastMarker}
	if !e.inProgress() {
		at.deltas = e.end()
	}
	switch {
	case e.inProgress():
		at.open = e.first
	case e.ended != "":
		at.open = 0
	}
	return at
}

// put appends an entry, whose events already have positions, and returns it.
func (m *model) put(e *entry) *entry {
	at := m.headOfLog()
	e.log, e.openAt, e.prevDeltas = ownLog, at.open, at.deltas
	e.lastMarker = at.lastMarker
	if e.timeline != nil {
		e.prevMarker, e.lastMarker = at.lastMarker, e.first
	} else {
		e.epoch = at.epoch
	}
	m.entries = append(m.entries, e)
	m.noteInvocations(e)
	m.publish(e, true)
	return e
}

func (m *model) next() int64 { return m.headOfLog().last + 1 }

// append adds whole events as one entry.
func (m *model) append(invocation string, texts ...string) *entry {
	e := &entry{first: m.next()}
	for i, text := range texts {
		e.events = append(e.events, m.event(e.first+int64(i), "somebody", invocation, text))
	}
	return e
}

// place appends the position of a task to the log.
func (m *model) place() {
	e := m.append(m.name("task"), "")
	e.task = true
	m.put(e)
}

// start starts a run, the first queued one if there is any, and first discards one
// that failed or was cancelled.
func (m *model) start() {
	if m.head.spent != "" {
		m.rewind(m.head.spent)
	}
	id := m.name("run")
	if len(m.head.queue.inputs) > 0 {
		id = m.dequeue(0).RunID
	}
	e := m.append(id, "input of "+id)
	e.began = id
	m.head.run, m.head.status = id, session.InProgress
	m.put(e)
}

// begin opens an item of the run.
func (m *model) begin(said json.RawMessage, big bool, segment int) {
	e := m.append(m.head.run, "")
	e.newAfter = segment
	item := &e.events[0]
	item.Status, item.Author = session.EventInProgress, "agent"
	item.Fields = map[string]json.RawMessage{"content": said}
	if said == nil {
		delete(item.Fields, "content")
	}
	if big {
		item.ID += bigSuffix
	}
	e.content = content.NewDraft(content.RoleOf(said))
	m.open = m.put(e)
}

// flush stores deltas, in one request as many as fit in a segment.
func (m *model) flush(deltas []content.Delta) {
	e := m.open
	for len(deltas) > 0 {
		if e.inTail == e.newAfter {
			e.segment, e.inTail = e.segment+1, 0
		}
		n := min(len(deltas), e.newAfter-e.inTail)
		m.grow(e, deltas[:n])
		deltas = deltas[n:]
	}
}

func (m *model) grow(e *entry, deltas []content.Delta) {
	r := record{key: fmt.Sprintf("segment %d.%d", e.first, e.segment)}
	for _, d := range deltas {
		if err := e.content.Append(d, ""); err != nil {
			panic(err)
		}
		e.grown = append(e.grown, d)
		e.offset++
		e.inTail++
		r.messages = append(r.messages, deltaMessage(e, d))
	}
	m.stream = append(m.stream, r)
}

// complete replaces the item in progress by a complete event; change gives it a
// state delta.
func (m *model) complete(change bool) {
	content, err := m.open.content.Finish()
	if err != nil {
		content = json.RawMessage(`{"role":"model","parts":[{"text":"something else"}]}`)
	}
	if change {
		e := m.append(m.head.run, "")
		e.hidden = true
		m.put(e)
	}
	m.finish(session.EventCompleted, content, nil)
}

func (m *model) finish(status session.EventStatus, content json.RawMessage, problem *run.Problem) {
	e := m.open
	m.open = nil
	item := &e.events[0]
	fields := map[string]json.RawMessage{"content": content}
	if problem != nil {
		fields["error"] = mustJSON(problem)
	}
	item.Status, item.Fields, item.Deltas, e.deltas = status, fields, e.offset, e.offset
	m.publish(e, false)
}

// end ends the run and its item in progress. A run that fails with one may be kept.
func (m *model) end(status run.Status, keep bool) {
	r := run.Run{ID: m.head.run, SessionID: sessionID, Status: status, StartedTime: 1}
	if status == run.Failed {
		r.Error = run.NewProblem("boom", "it broke")
	}
	switch {
	case m.open == nil:
	case status == run.Completed:
		if content, err := m.open.content.Finish(); err == nil {
			m.finish(session.EventCompleted, content, nil)
			break
		}
		r.Status, r.Error = run.Failed, run.NewProblem(run.CodeContent, "no object")
		m.finish(session.EventFailed, m.open.content.Snapshot(), r.Error)
	default:
		if keep {
			r.OnFailed = run.Keep
		}
		m.finish(session.EventFailed, m.open.content.Snapshot(), run.NewProblem(string(status), "so it is"))
	}
	e := m.append(r.ID, "")
	e.hidden, e.ended, e.run = true, r.ID, r
	m.head.run, m.head.status = "", session.Idle
	if r.Status == run.Failed {
		m.head.status, m.failed = session.Failed, &r
	}
	if r.Status != run.Completed && r.OnFailed != run.Keep {
		m.head.spent = r.ID
	}
	m.put(e)
}

// rewind rewinds to before the first entry of an invocation.
func (m *model) rewind(invocation string) {
	target, seq := m.first(invocation)
	e := &entry{first: m.next(), epoch: m.head.epoch + 1}
	e.events = []session.Event{m.event(e.first, "system", m.name("marker"), "Session rewound")}
	timeline := m.timelineAt(target).Before(seq)
	toSeq, all, err := session.OutlineOf(m.head.timeline).Common(session.OutlineOf(timeline), nil)
	if err != nil {
		panic(err) // all ranges are known
	}
	e.toSeq, e.back = toSeq, !all
	e.timeline = reopened(timeline, e.first+1)
	m.head.timeline, m.head.marker, m.head.epoch = e.timeline, e.first, e.epoch
	if m.head.run == "" {
		m.head.spent, m.head.status, m.failed = "", session.Idle, nil
	}
	m.put(e)
}

// first returns the first entry of an invocation and the position of its event.
func (m *model) first(invocation string) (*entry, int64) {
	for _, e := range m.entries {
		for _, ev := range e.events {
			if ev.InvocationID == invocation {
				return e, ev.Seq
			}
		}
	}
	panic("no invocation " + invocation)
}

// reopened returns a timeline continued from a position of the own log.
func reopened(t session.Timeline, position int64) session.Timeline {
	return append(slices.Clone(t), session.Range{Log: ownLog, From: position, Seq: position})
}

// timelineAt returns the timeline in force just before an entry.
func (m *model) timelineAt(target *entry) session.Timeline {
	whole := m.whole
	if target.log != ownLog {
		return whole
	}
	marker := target.lastMarker
	if target.timeline != nil {
		marker = target.prevMarker
	}
	if marker == 0 {
		return whole
	}
	return m.covering(marker).timeline
}

func (m *model) covering(position int64) *entry {
	i, found := slices.BinarySearchFunc(m.entries, position, func(e *entry, p int64) int { return int(e.first - p) })
	if !found {
		i--
	}
	return m.entries[i]
}

func (m *model) noteInvocations(e *entry) {
	for _, ev := range e.events {
		if n := len(m.invocations); n == 0 || m.invocations[n-1] != ev.InvocationID {
			m.invocations = append(m.invocations, ev.InvocationID)
		}
	}
}

func (m *model) delete() {
	m.head.deleted = true
	m.stream = append(m.stream, record{key: "gone", messages: []watch.Message{{Type: watch.Deleted}}})
}
