package sessions

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/store/table"
)

// Change is a record of the table's stream: an item before and after a write.
// Old is nil where the item is new, New where it was removed.
type Change struct {
	Old, New table.Item
}

// News is what a change tells watchers: nothing, for most items. The messages
// depend on the change alone, so a change told twice is told alike, and each
// item's changes can be told apart from the others'.
func (s *Store) News(ctx context.Context, c Change) (watch.News, error) {
	if c.New == nil {
		return newsOfRemoval(c.Old), nil
	}
	pk, sk := table.Text(c.New, attrPK), table.Text(c.New, attrSK)
	log, ok := strings.CutPrefix(pk, prefixLog)
	if !ok {
		return watch.News{}, nil
	}
	news := watch.News{Log: log}
	var err error
	switch {
	case sk == skGone:
		if c.Old == nil {
			news.Messages = []watch.Message{{Type: watch.Deleted}}
		}
	case strings.HasPrefix(sk, prefixEntry) && c.New[attrStub] == nil:
		news.Messages, err = s.newsOfEntry(ctx, c)
	case strings.HasPrefix(sk, prefixSegment):
		news.Messages, err = newsOfSegment(c)
	}
	if err != nil {
		return watch.News{}, fmt.Errorf("news of %s %s: %w", pk, sk, err)
	}
	return news, nil
}

// newsOfRemoval tells of shares that are gone, and of guests who have left one.
func newsOfRemoval(old table.Item) watch.News {
	log, ok := strings.CutPrefix(table.Text(old, attrPK), prefixShares)
	if !ok {
		return watch.News{}
	}
	sk := table.Text(old, attrSK)
	if id, ok := strings.CutPrefix(sk, prefixShare); ok {
		return watch.News{Log: log, Revoked: []watch.Grant{{Share: id}}}
	}
	if strings.HasPrefix(sk, prefixGrant) {
		return watch.News{Log: log, Revoked: []watch.Grant{{Share: table.Text(old, "sh"), UserID: table.Text(old, "u")}}}
	}
	return watch.News{}
}

func (s *Store) newsOfEntry(ctx context.Context, c Change) ([]watch.Message, error) {
	rec, err := s.decodeEntry(ctx, c.New)
	if err != nil {
		return nil, err
	}
	if c.Old != nil {
		return newsOfItem(rec), nil
	}
	prev := watch.Cursor{Epoch: rec.Epoch, Seq: rec.first - 1, Offset: rec.PrevDeltas}
	at := watch.Cursor{Epoch: rec.Epoch, Seq: rec.last()}
	switch {
	case rec.marks():
		return newsOfMarker(rec, at, prev), nil
	case rec.Ended != "":
		m, err := newsOfEnd(rec, at, prev)
		return []watch.Message{m}, err
	case rec.Hidden || rec.events[0].TaskID != "":
		return []watch.Message{{Type: watch.Status, Cursor: at, Prev: prev}}, nil
	}
	var out []watch.Message
	for _, e := range rec.events {
		if rec.inProgress() { // as the thread shows it
			e = withField(e, "content", run.NewContent(roleOf(e)).Snapshot(), 0)
		}
		m := watch.SnapshotOf(rec.Epoch, e)
		m.Prev, prev = prev, m.Cursor
		out = append(out, m)
	}
	if rec.Began != "" {
		out = append(out, watch.Message{
			Type: watch.Status, Cursor: prev, Prev: prev, Status: session.InProgress, RunID: rec.Began,
		})
	}
	return out, nil
}

// newsOfItem tells of an item that has its final form.
func newsOfItem(rec *record) []watch.Message {
	if rec.inProgress() {
		return nil
	}
	e := rec.events[0]
	prev := watch.Cursor{Epoch: rec.Epoch, Seq: e.Seq, Offset: rec.Deltas}
	at := prev
	at.Offset = rec.offset()
	m := watch.Message{Type: watch.ItemCompleted, Cursor: at, Prev: prev, Item: &e, ItemID: e.ID, Offset: &rec.Deltas}
	if e.Status == session.EventFailed {
		m.Type = watch.ItemFailed
	}
	return []watch.Message{m}
}

func newsOfMarker(rec *record, at, prev watch.Cursor) []watch.Message {
	prev.Epoch--
	if rec.Back {
		return []watch.Message{{Type: watch.Reload, Cursor: at, Prev: prev, Reason: watch.ReasonEpoch}}
	}
	return []watch.Message{
		{Type: watch.Rewound, Cursor: at, Prev: prev, ToSeq: &rec.ToSeq, Epoch: &rec.Epoch},
		{Type: watch.Status, Cursor: at, Prev: at, Status: session.Idle},
	}
}

func newsOfEnd(rec *record, at, prev watch.Cursor) (watch.Message, error) {
	r, err := rec.endedRun()
	if err != nil {
		return watch.Message{}, err
	}
	m := watch.Message{Type: watch.Status, Cursor: at, Prev: prev, Status: session.Idle, RunID: r.ID, Error: r.Error}
	if r.Status == run.Failed {
		m.Status = session.Failed
	}
	return m, nil
}

// endedRun is the run that the record ends.
func (r *record) endedRun() (run.Run, error) {
	var ended run.Run
	if err := json.Unmarshal(r.events[0].Fields["run"], &ended); err != nil {
		return run.Run{}, fmt.Errorf("decode run %s: %w", r.Ended, err)
	}
	return ended, nil
}

// newsOfSegment tells of the deltas that a segment has gained.
func newsOfSegment(c Change) ([]watch.Message, error) {
	var was, now segment
	if err := table.Decode(c.Old, &was); err != nil {
		return nil, fmt.Errorf("unmarshal a segment: %w", err)
	}
	if err := table.Decode(c.New, &now); err != nil {
		return nil, fmt.Errorf("unmarshal a segment: %w", err)
	}
	position, _, err := placeOfSegment(now.SK)
	if err != nil {
		return nil, err
	}
	deltas, err := now.deltas()
	if err != nil {
		return nil, err
	}
	var out []watch.Message
	for i := was.Count; i < now.Count; i++ {
		n := now.First + i
		out = append(out, watch.Message{
			Type:   watch.DeltaType,
			Cursor: watch.Cursor{Epoch: now.Epoch, Seq: position, Offset: n},
			Prev:   watch.Cursor{Epoch: now.Epoch, Seq: position, Offset: n - 1},
			ItemID: now.Item, Offset: &n, Delta: &deltas[i],
		})
	}
	return out, nil
}
