package sessions

import (
	"context"
	"errors"

	"github.com/rethread/rethread/shared/store/keys"

	"github.com/rethread/rethread/shared/store/content"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// decodeShown is decodeEntry for readers that skip an unreadable entry: the entry
// keeps its positions, so that the log has no gaps, and has no events.
func (s *Store) decodeShown(ctx context.Context, item table.Item) (*record, error) {
	r, err := s.decodeEntry(ctx, item)
	if err == nil {
		return r, nil
	}
	if errors.Is(err, content.ErrChunksGone) {
		// Unless the log is being deleted, they are lost.
		gone, readErr := s.db.Get(ctx, keys.DeletedKey(table.Text(item, table.PK)[len(keys.PrefixLog):]), &struct{}{})
		if readErr != nil || gone {
			return nil, errors.Join(readErr, missingSession())
		}
	} else if !errors.Is(err, table.ErrUnreadable) {
		return nil, err
	}
	s.Base().LeftOut(ctx, records.KeyOf(item), err)
	out := &record{unreadable: err}
	if table.Decode(item, &out.entry) != nil {
		out.unlinked = true
		out.entry = entry{PK: table.Text(item, table.PK), SK: table.Text(item, table.SK), Count: countOf(item)}
	}
	var placeErr error
	if out.first, placeErr = out.entry.first(); placeErr != nil {
		return nil, errors.Join(err, placeErr)
	}
	return out, nil
}

// countOf returns an entry's Count; 0 if that is unreadable too.
func countOf(item table.Item) int64 {
	var e struct {
		Count int64 `dynamodbav:"n"`
	}
	if table.Decode(item, &e) != nil {
		return 0
	}
	return e.Count
}

// blank reports whether the record's events are unknown.
func (r *record) blank() bool { return r.unreadable != nil }

// shownEntryCovering is entryCovering for readers that skip an unreadable entry.
func (s *Store) shownEntryCovering(ctx context.Context, log string, position int64) (*record, error) {
	r, err := s.entryAt(ctx, log, position)
	if err != nil {
		return nil, err
	}
	if r != nil && r.unlinked && r.last() < position { // its length is unknown
		r.Count = position - r.first + 1
	}
	if r == nil || r.last() < position {
		return nil, missingEntry(log, position)
	}
	return r, nil
}
