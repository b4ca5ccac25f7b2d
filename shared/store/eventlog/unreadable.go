package eventlog

import (
	"context"
	"errors"

	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// decodeShown is DecodeEntry for readers that skip an unreadable entry: the entry
// keeps its positions, so that the log has no gaps, and has no events.
func (s *reader) decodeShown(ctx context.Context, item table.Item) (*Record, error) {
	r, err := s.DecodeEntry(ctx, item)
	if err == nil {
		return r, nil
	}
	if errors.Is(err, records.ErrChunksGone) {
		// Unless the log is being deleted, they are lost.
		gone, readErr := s.DB.Get(ctx, keys.DeletedKey(table.Text(item, table.PK)[len(keys.PrefixLog):]), &struct{}{})
		if readErr != nil || gone {
			return nil, errors.Join(readErr, MissingSession())
		}
	} else if !errors.Is(err, table.ErrUnreadable) {
		return nil, err
	}
	s.LeftOut(ctx, records.KeyOf(item), err)
	out := &Record{Unreadable: err}
	if table.Decode(item, &out.Entry) != nil {
		out.unlinked = true
		out.Entry = Entry{PK: table.Text(item, table.PK), SK: table.Text(item, table.SK), Count: countOf(item)}
	}
	var placeErr error
	if out.First, placeErr = out.Entry.First(); placeErr != nil {
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
func (r *Record) blank() bool { return r.Unreadable != nil }

// ShownEntryCovering is EntryCovering for readers that skip an unreadable entry.
func (s *Store) ShownEntryCovering(ctx context.Context, log string, position int64) (*Record, error) {
	r, err := s.EntryAt(ctx, log, position)
	if err != nil {
		return nil, err
	}
	if r != nil && r.unlinked && r.Last() < position { // its length is unknown
		r.Count = position - r.First + 1
	}
	if r == nil || r.Last() < position {
		return nil, missingEntry(log, position)
	}
	return r, nil
}
