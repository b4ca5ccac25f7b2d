package sessions

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/archive"
	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// importing is a part on its way into a log. It is checked as a whole before
// anything of it is written.
type importing struct {
	s   *Store
	rec *importItem
	u   archive.Upload

	doc     archive.Head
	head    logHead // behind the part
	records []*record
	values  session.Values // of the session, behind the part
	shared  int            // versions for the user's scope so far
	last    archive.Timeline
	bytes   int64 // that the part takes
}

// check holds the part to what came before it, and makes the entries of the log
// out of its events.
func (w *importing) check(ctx context.Context) error {
	if err := w.load(ctx); err != nil {
		return err
	}
	for i := range w.u.Part.Events {
		if err := w.event(i, "/events/"+strconv.Itoa(i)); err != nil {
			return err
		}
	}
	if err := w.values.CheckSize(session.ScopeSession); err != nil {
		return err
	}
	for i, t := range w.u.Part.Tasks {
		if err := w.checkPlaces(t, "/tasks/"+strconv.Itoa(i)); err != nil {
			return err
		}
	}
	w.shared = w.rec.Shared
	type version struct {
		name   string
		number int64
	}
	seen := map[version]bool{}
	for i, a := range w.u.Part.Artifacts {
		v := version{a.Name, a.Version}
		if seen[v] {
			return fault.Field(fault.Invalid, "/artifacts/"+strconv.Itoa(i)+"/version", "is there already, under the same name")
		}
		seen[v] = true
		if strings.HasPrefix(a.Name, artifact.UserPrefix) {
			w.shared++
		}
		if w.shared > archive.MaxShared {
			return fault.Field(fault.Invalid, "/artifacts/"+strconv.Itoa(i),
				"is one too many: a document may hold %d versions of user: artifacts", archive.MaxShared)
		}
		if err := w.checkArtifact(ctx, a, i); err != nil {
			return err
		}
	}
	if !w.u.Part.Complete {
		return nil
	}
	return w.checkWhole()
}

// load reads what the parts before left.
func (w *importing) load(ctx context.Context) error {
	w.head, w.values = w.rec.Head, session.Values{}
	if w.rec.Version == 0 {
		w.doc = *w.u.Part.Head
		return nil
	}
	if err := w.s.content.Unpack(ctx, logPK(w.rec.Log), w.rec.Body, &w.doc); err != nil {
		return fmt.Errorf("read the head of the document: %w", err)
	}
	if w.u.Number == 1 {
		return nil
	}
	var have checkpoint
	found, err := w.s.db.Get(ctx, stateKey(w.rec.Log), &have)
	if err != nil {
		return err
	}
	if found {
		err = w.s.content.Unpack(ctx, have.PK, have.Body, &w.values)
	}
	if err == nil && w.head.Marker > 0 {
		var m *record
		if m, err = w.s.entryCovering(ctx, w.rec.Log, w.head.Marker); err == nil {
			w.last, err = shownBy(m)
		}
	}
	return err
}

func shownBy(m *record) (archive.Timeline, error) {
	t, err := session.DecodeTimeline(m.Timeline)
	return inSeqs(t), err
}

// event makes an event part of an entry.
func (w *importing) event(i int, at string) error {
	e := w.u.Part.Events[i]
	if e.Seq != w.head.Next {
		return fault.Field(fault.Invalid, at+"/seq", "must be %d: the log has no gaps", w.head.Next)
	}
	if e.Log.Initial && e.Seq != 1 {
		return fault.Field(fault.Invalid, at+"/_log/initial", "must be set on the first event alone")
	}
	if err := e.Log.Undo.Validate(at + "/_log/undo"); err != nil && !artifactKeys(e.Log.Undo) {
		return err
	}
	if err := w.rename(&e, at); err != nil {
		return err
	}
	rec, err := w.entryFor(e, i, at)
	if err != nil {
		return err
	}
	rec.events = append(rec.events, e.Event)
	rec.undo = append(rec.undo, e.Log.Undo)
	w.head.Next++
	if len(e.Log.Undo) > 0 {
		if rec.LastState != rec.first {
			rec.PrevState, rec.LastState, w.head.State = w.head.State, rec.first, rec.first
		}
		w.values.Apply(e.Change().In(session.ScopeSession))
	}
	if n := int64(len(rec.events)); n > 1 {
		rec.Count = n
	}
	return nil
}

// artifactKeys reports whether a delta holds keys that stand for artifacts,
// which callers cannot name.
func artifactKeys(d session.Delta) bool {
	for key := range d {
		if name, ok := session.ArtifactOf(key); ok && artifact.CheckName("", name) != nil {
			return false
		} else if !ok && (session.Delta{key: nil}).Validate("") != nil {
			return false
		}
	}
	return true
}

// entryFor is the entry that an event belongs to: a new one, unless it joins
// the one before.
func (w *importing) entryFor(e archive.Event, i int, at string) (*record, error) {
	if e.Log.Joins {
		if i == 0 {
			return nil, fault.Field(fault.Invalid, at+"/_log/joins", "must not be set where a part begins")
		}
		rec := w.records[len(w.records)-1]
		if rec.time != e.CreatedTime || rec.marks() {
			return nil, fault.Field(fault.Invalid, at+"/created_time", "must be that of the event it joins")
		}
		return rec, nil
	}
	rec := &record{first: e.Seq, time: e.CreatedTime, initial: e.Log.Initial, conflicts: e.Log.Conflicts}
	rec.entry = entry{
		PK: logPK(w.rec.Log), SK: entrySK(e.Seq), LastState: w.head.State,
		runMarks: runMarks{
			Epoch: w.head.Epoch, Streamed: e.Log.Streamed, Deltas: e.Log.Deltas, PrevDeltas: w.head.Deltas,
			Began: e.Log.Began, Ended: e.Log.Ended, Hidden: e.Log.Hidden, ToSeq: e.Log.ToSeq, Back: e.Log.Back,
		},
	}
	if e.Status != session.EventCompleted {
		rec.Status = e.Status
	}
	if e.Log.Marks() {
		if err := w.mark(rec, e, at+"/_log/timeline"); err != nil {
			return nil, err
		}
	}
	rec.LastMarker = w.head.Marker
	w.head.Deltas = rec.offset()
	w.records = append(w.records, rec)
	return rec, nil
}

// mark makes a rewind's marker of an entry.
func (w *importing) mark(rec *record, e archive.Event, at string) error {
	if err := checkTimeline(e.Log.Timeline, e.Seq+1, at); err != nil {
		return err
	}
	rec.PrevMarker, rec.Timeline = w.head.Marker, w.timeline(e.Log.Timeline).Encode()
	w.head.Marker, w.last = e.Seq, e.Log.Timeline
	w.head.Epoch++
	rec.Epoch = w.head.Epoch
	return nil
}

// checkTimeline holds a timeline to its form: ranges in order, the last one open
// from a seq on.
func checkTimeline(t archive.Timeline, open int64, at string) error {
	next := int64(1)
	for i, r := range t {
		last := i == len(t)-1
		if r.From < next || r.From > open || last != (r.To == 0) || (!last && (r.To < r.From || r.To >= open)) {
			return fault.Field(fault.Invalid, at+"/"+strconv.Itoa(i), "must come after what precedes it, and the last be open")
		}
		next = r.To + 2 // else they were one
	}
	if len(t) == 0 || t[len(t)-1].From != open {
		return fault.Field(fault.Invalid, at, "must go on at %d", open)
	}
	return nil
}

// timeline is a timeline of the document as one of the log, whose positions are
// the session's seqs.
func (w *importing) timeline(t archive.Timeline) session.Timeline {
	out := make(session.Timeline, len(t))
	for i, r := range t {
		out[i] = session.Range{Log: w.rec.Log, From: r.From, To: r.To, Seq: r.From}
	}
	return out
}

func (w *importing) checkPlaces(t archive.Task, at string) error {
	if t.Place >= w.head.Next {
		return fault.Field(fault.Invalid, at+"/place", "must be the seq of an event before it")
	}
	for id, place := range t.Places {
		if place >= w.head.Next {
			return fault.Field(fault.Invalid, at+"/places/"+session.EscapePointer(id), "must be the seq of an event before it")
		}
	}
	for i, id := range t.Named {
		if _, ok := t.Places[id]; !ok {
			return fault.Field(fault.Invalid, at+"/named/"+strconv.Itoa(i), "must be one of places")
		}
	}
	return nil
}

// checkWhole holds the end of a document to its beginning, and the state to
// what the events make of it.
func (w *importing) checkWhole() error {
	want := w.doc.Session
	switch {
	case w.head.Next-1 != want.HeadSeq:
		return fault.Field(fault.Invalid, "/session/head_seq", "must be the number of events: %d", w.head.Next-1)
	case w.head.Epoch != want.Epoch:
		return fault.Field(fault.Invalid, "/session/epoch", "must be the number of rewinds: %d", w.head.Epoch)
	case w.head.Marker > 0 && !slices.Equal(w.last, w.doc.Timeline):
		return fault.Field(fault.Invalid, "/timeline", "must be that of the last rewind")
	case w.head.Marker == 0 && !slices.Equal(w.doc.Timeline, archive.Timeline{{From: 1}}):
		return fault.Field(fault.Invalid, "/timeline", "must be all, as there was no rewind")
	}
	given := session.Values{}
	for name, v := range w.u.Part.State.Session {
		given[name] = v
	}
	for name, version := range w.u.Part.State.Artifacts {
		if key := session.ArtifactKey(name); !strings.HasPrefix(key, session.ScopeUser.Prefix()) {
			given[key] = []byte(strconv.FormatInt(version, 10))
		}
	}
	if !w.doc.Branched && !sameValues(given, w.values) {
		return fault.Field(fault.Invalid, "/state/session", "must be what the events make of it")
	}
	w.values = given // a fork may have state that none of its own events changed
	return nil
}

func sameValues(a, b session.Values) bool {
	if len(a) != len(b) {
		return false
	}
	for key, v := range a {
		other, ok := b[key]
		if !ok || !reflect.DeepEqual(jsonx.Canonical(v), jsonx.Canonical(other)) {
			return false
		}
	}
	return true
}

// rename makes an event of a session that gets another id speak of that.
func (w *importing) rename(e *archive.Event, at string) error {
	if w.rec.Session == w.doc.Session.ID {
		return nil
	}
	for name, raw := range e.Fields {
		e.Fields[name] = w.rehomed(raw)
	}
	if e.Log.Ended == "" {
		return nil
	}
	var past run.Run
	if json.Unmarshal(e.Fields["run"], &past) != nil {
		return fault.Field(fault.Malformed, at+"/run", "must be a run")
	}
	past.SessionID = w.rec.Session
	var err error
	e.Fields["run"], err = jsonx.Marshal(past)
	return err
}

// rehomed is a value whose messages name the session by its new id.
func (w *importing) rehomed(raw []byte) []byte {
	return session.RewriteForFork(raw, w.rec.Session, func(id string) string { return id })
}
