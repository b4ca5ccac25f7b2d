package archives

import (
	"context"
	"fmt"

	"github.com/rethread/rethread/shared/domain/archive"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/artifacts"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/table"
)

// importing is the import of one part. The whole part is checked before anything
// is written.
type importing struct {
	s   *Store
	rec *ImportItem
	u   archive.Upload
	// outlines knows those of the part's markers.
	outlines *outlines

	checked archive.Checked
	records []*eventlog.Record
	bytes   int64 // size of the part as stored
}

// check checks the part against the parts before it, and makes log entries of its
// events.
func (w *importing) check(ctx context.Context) error {
	before, err := w.before(ctx)
	if err != nil {
		return err
	}
	w.checked, err = w.u.Part.Check(before, func(name string, version int64) (*archive.Artifact, error) {
		return w.storedVersion(ctx, before.Head, name, version)
	})
	if err != nil {
		return err
	}
	w.records = nil
	for _, e := range w.checked.Entries {
		rec, err := w.record(e)
		if err != nil {
			return err
		}
		w.records = append(w.records, rec)
	}
	return nil
}

// before reads the result of the earlier parts.
func (w *importing) before(ctx context.Context) (archive.Before, error) {
	b := archive.Before{
		SessionID: w.rec.Session, Log: archive.LogHead(w.rec.Head), Shared: w.rec.Shared, Values: session.Values{},
	}
	if w.rec.Version == 0 {
		b.Head = *w.u.Part.Head
		return b, nil
	}
	if err := w.s.content.Unpack(ctx, keys.LogPK(w.rec.Log), w.rec.Body, &b.Head); err != nil {
		return b, fmt.Errorf("read the head of the document: %w", err)
	}
	if w.u.Number == 1 {
		return b, nil
	}
	var have eventlog.Checkpoint
	found, err := w.s.DB.Get(ctx, keys.StateKey(w.rec.Log), &have)
	if err != nil {
		return b, err
	}
	if found {
		err = w.s.content.Unpack(ctx, have.PK, have.Body, &b.Values)
	}
	if err == nil && b.Log.Marker > 0 {
		b.Timeline, err = w.timelineAt(b.Log.Marker)
	}
	return b, err
}

// timelineAt reads the timeline of a marker from an earlier part.
func (w *importing) timelineAt(marker int64) (archive.Timeline, error) {
	o, err := w.outlines.at(eventlog.MarkerAt{Log: w.rec.Log, Position: marker})
	if err != nil {
		return nil, err
	}
	t, err := o.Ranges(w.outlines.read)
	return inSeqs(t), err
}

// storedVersion finds a version of an artifact from an earlier part; nil for
// none.
func (w *importing) storedVersion(
	ctx context.Context, doc archive.Head, name string, number int64,
) (*archive.Artifact, error) {
	on, rest := w.scopeOf(doc, name)
	var item artifacts.ArtifactItem
	found := false
	var err error
	if on.Log != "" {
		found, err = w.s.DB.Get(ctx, table.NewKey(on.PK, artifacts.VersionSK(rest, number)), &item)
	} else {
		var staged stagedItem
		found, err = w.s.DB.Get(ctx, keys.StagedKey(w.rec.Log, artifacts.VersionSK(rest, number)), &staged)
		item = staged.Item
	}
	if err != nil || !found {
		return nil, err
	}
	return &archive.Artifact{Gone: item.Gone, Missing: item.TargetSK == missingTarget, Restored: item.Restored}, nil
}

// record converts an entry of the document to one of the log.
func (w *importing) record(e archive.Entry) (*eventlog.Record, error) {
	first := e.Events[0]
	log := first.Log
	rec := &eventlog.Record{First: first.Seq, When: first.CreatedTime, Initial: log.Initial, Conflicts: log.Conflicts}
	rec.Entry = eventlog.Entry{
		PK: keys.LogPK(w.rec.Log), SK: keys.EntrySK(first.Seq), LastState: e.LastState, PrevState: e.PrevState,
		LastMarker: e.LastMarker, PrevMarker: e.PrevMarker,
		RunMarks: eventlog.RunMarks{
			Epoch: e.Epoch, Streamed: log.Streamed, Deltas: log.Deltas, PrevDeltas: e.PrevDeltas,
			Began: log.Began, Ended: log.Ended, Hidden: log.Hidden, ToSeq: log.ToSeq, Back: log.Back,
		},
	}
	if first.Status != session.EventCompleted {
		rec.Status = first.Status
	}
	if log.Marks() {
		o, err := w.outlines.fold(w.rec.Log, w.timeline(log.Timeline), w.s.sessions.Parts)
		if err != nil {
			return nil, err
		}
		w.outlines.known[eventlog.MarkerAt{Log: w.rec.Log, Position: rec.First}] = o
		rec.Timeline = o.Encode()
	}
	for _, event := range e.Events {
		rec.Events, rec.Undo = append(rec.Events, event.Event), append(rec.Undo, event.Log.Undo)
	}
	if n := int64(len(e.Events)); n > 1 {
		rec.Count = n
	}
	return rec, nil
}

// Shown converts a timeline of the document to one of the log, whose positions
// are the session's seqs.
func (w *importing) timeline(t archive.Timeline) session.Timeline {
	out := make(session.Timeline, len(t))
	for i, r := range t {
		out[i] = session.Range{Log: w.rec.Log, From: r.From, To: r.To, Seq: r.From}
	}
	return out
}
