package eventlog

import (
	"context"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// ReadHead reads the latest entry of a log, without a body that is stored
// beside it.
func (s *reader) ReadHead(ctx context.Context, l Log) (Head, error) {
	item, err := s.EntryItemAt(ctx, l.Name, 0)
	if err != nil || item == nil {
		return Head{Next: l.Base + 1}, err
	}
	r, err := s.decodeHead(ctx, item)
	if err != nil {
		return Head{}, err
	}
	if r.unlinked {
		return Head{}, r.Unreadable
	}
	return Head{}.After(r), nil // its events may be unreadable
}

// decodeHead decodes the latest entry of a log. What is unreadable in it, or lacks the
// members that stand for its body, is left to decodeShown.
func (s *reader) decodeHead(ctx context.Context, item table.Item) (*Record, error) {
	var e Entry
	if table.Decode(item, &e) != nil || e.Blob == "" || e.Time == 0 || e.Invocation == "" {
		return s.decodeShown(ctx, item)
	}
	first, err := e.First()
	return &Record{Entry: e, First: first, When: e.Time, WithoutBody: true}, err
}

// EntryAtOrBefore reads the entry that covers a position, or the latest one for
// position 0; nil if the log has none.
func (s *reader) EntryAtOrBefore(ctx context.Context, log string, position int64) (*Record, error) {
	r, err := s.EntryAt(ctx, log, position)
	if err == nil && r != nil && r.Unreadable != nil {
		return nil, r.Unreadable
	}
	return r, err
}

// EntryAt is EntryAtOrBefore for readers that skip an unreadable entry.
func (s *reader) EntryAt(ctx context.Context, log string, position int64) (*Record, error) {
	item, err := s.EntryItemAt(ctx, log, position)
	if err != nil || item == nil {
		return nil, err
	}
	return s.decodeShown(ctx, item)
}

// EntryItemAt is EntryAt as stored.
func (s *reader) EntryItemAt(ctx context.Context, log string, position int64) (table.Item, error) {
	q := records.Prefix(keys.LogPK(log), keys.PrefixEntry, true)
	if position > 0 {
		q.To = keys.EntrySK(position)
	}
	q.Descending, q.Limit = true, 1
	page, err := s.DB.Query(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("read the head of log %s: %w", log, err)
	}
	if len(page.Items) == 0 {
		return nil, nil
	}
	return page.Items[0], nil
}

// EntryCovering reads the entry that covers a position before the head.
func (s *Store) EntryCovering(ctx context.Context, log string, position int64) (*Record, error) {
	rec, err := s.EntryAtOrBefore(ctx, log, position)
	if err != nil {
		return nil, err
	}
	if rec == nil || rec.Last() < position {
		return nil, missingEntry(log, position)
	}
	return rec, nil
}

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

// ErrMissingEntry says that a log lacks an entry that it must contain.
var ErrMissingEntry = errors.New("an entry is missing")

func missingEntry(log string, position int64) error {
	return fmt.Errorf("%w: log %s at position %d", ErrMissingEntry, log, position)
}

// DecodeEntry decodes an entry and its body; fault.NotFound for a tombstone.
func (s *reader) DecodeEntry(ctx context.Context, item table.Item) (*Record, error) {
	var e Entry
	if err := table.Decode(item, &e); err != nil {
		return nil, fmt.Errorf("unmarshal a log entry: %w", err)
	}
	if e.Tombstone || e.SK == keys.SkDeleted {
		return nil, MissingSession()
	}
	first, err := e.First()
	if err != nil {
		return nil, err
	}
	var content EntryBody
	if err := s.content.Unpack(ctx, e.PK, e.Body, &content); err != nil {
		return nil, fmt.Errorf("log entry %s %s: %w", e.PK, e.SK, err)
	}
	return e.record(first, content)
}

// record returns an entry with its content.
func (e Entry) record(first int64, content EntryBody) (*Record, error) {
	r := &Record{
		Entry: e, First: first, When: content.Time, Undo: content.Undo,
		Initial: content.Initial, Conflicts: content.Conflicts,
	}
	for i, raw := range content.Events {
		ev, err := session.ParseStored(raw)
		if err != nil {
			return nil, fmt.Errorf("stored event at %d: %w", first+int64(i), errors.Join(table.ErrUnreadable, err))
		}
		ev.Seq = first + int64(i)
		ev.Status, ev.Deltas = session.EventCompleted, e.Deltas
		if e.Status != "" {
			ev.Status = e.Status
		}
		ev.CreatedTime = content.Time
		ev.TaskID = content.Task
		r.Events = append(r.Events, ev)
	}
	return r, nil
}

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

// EntryQuery selects the entries that begin at the positions from to to, in order;
// to 0 is the end of the log, where a tombstone shows whether the log was deleted.
func EntryQuery(log string, from, to int64, consistent bool) table.Query {
	end := keys.SkDeleted
	if to > 0 {
		end = keys.EntrySK(to)
	}
	return records.Range(keys.LogPK(log), keys.EntrySK(from), end, consistent)
}

// Scan visits the records that begin at the positions from to to, strongly
// consistent, until they end or visit returns false; to 0 is the head.
func (s *reader) Scan(
	ctx context.Context, log string, from, to int64, visit func(*Record) (more bool, err error),
) error {
	return s.queryRecords(ctx, EntryQuery(log, from, to, true), growing(), visit)
}

// ScanDown is Scan from the position to back to from, latest first; each request reads so
// many entries as a page has.
func (s *reader) ScanDown(
	ctx context.Context, log string, from, to int64, page int, visit func(*Record) (more bool, err error),
) error {
	if to < from {
		return nil
	}
	q := EntryQuery(log, from, to, true)
	q.Descending = true
	return s.queryRecords(ctx, q, func() int { return page }, visit)
}

// firstRead is how many entries a scan reads at first: most scans find their entry
// at once, and a request costs what it reads.
const firstRead = 2

// growing returns the limits of the requests of a search.
func growing() func() int {
	limit := firstRead
	return func() int {
		now := limit
		limit = min(4*limit, 1000)
		return now
	}
}

// queryRecords visits the records that a query finds; before each request limit
// returns how many it may read, 0 for as many as fit into a page.
func (s *reader) queryRecords(
	ctx context.Context, q table.Query, limit func() int, visit func(*Record) (more bool, err error),
) error {
	for {
		q.Limit = limit()
		page, err := s.DB.Query(ctx, q)
		if err != nil {
			return fmt.Errorf("query entries: %w", err)
		}
		for _, item := range page.Items {
			r, err := s.decodeShown(ctx, item)
			if err != nil {
				return err
			}
			if more, err := visit(r); err != nil || !more {
				return err
			}
		}
		if q.After = page.Next; q.After == nil {
			return nil
		}
	}
}

const (
	// Entries that lead back from one to another are read by pages if they are at most
	// nearBy positions apart: the first page has one entry, each further one pageGrowth
	// times as many, up to pageMost.
	nearBy     = 32
	pageGrowth = 4
	pageMost   = 1000
)

// backwards reads entries of a log whose links lead from the latest to the first.
type backwards struct {
	s     *reader
	log   string
	until int64        // what is before it is seldom needed
	page  []table.Item // latest first
	from  int64        // the position that the page was read for; 0 before the first
	limit int
}

// covering returns the entry that covers a position, which is before that of the last call.
func (b *backwards) covering(ctx context.Context, position int64) (*Record, error) {
	item, err := b.find(position)
	if err == nil && item == nil {
		if err = b.read(ctx, position); err == nil {
			item, err = b.find(position)
		}
	}
	if err != nil {
		return nil, err
	}
	if item == nil {
		return nil, missingEntry(b.log, position)
	}
	r, err := b.s.decodeShown(ctx, item)
	switch {
	case err != nil:
		return nil, err
	case r.Unreadable != nil:
		return nil, r.Unreadable
	case r.Last() < position:
		return nil, missingEntry(b.log, position)
	}
	return r, nil
}

// find drops the items after a position, and returns the next one, nil for none.
func (b *backwards) find(position int64) (table.Item, error) {
	for ; len(b.page) > 0; b.page = b.page[1:] {
		first, err := keys.PositionOf(table.Text(b.page[0], table.SK))
		if err != nil {
			return nil, err
		}
		if first <= position {
			return b.page[0], nil
		}
	}
	return nil, nil
}

func (b *backwards) read(ctx context.Context, position int64) error {
	switch near := b.from-position <= int64(max(nearBy, pageGrowth*b.limit)); {
	case b.from > 0 && near:
		b.limit = min(pageGrowth*b.limit, pageMost)
	default:
		b.limit = 1
	}
	b.from = position
	q := records.Prefix(keys.LogPK(b.log), keys.PrefixEntry, true)
	q.To, q.Descending = keys.EntrySK(position), true
	q.Limit = min(b.limit, int(max(0, position-b.until))+2) // the last may begin before until
	page, err := b.s.DB.Query(ctx, q)
	if err != nil {
		return fmt.Errorf("read log %s before %d: %w", b.log, position, err)
	}
	b.page = page.Items
	return nil
}

// MarkerAt is the position of a rewind marker in a log.
type MarkerAt struct {
	Log      string
	Position int64
}

// Timelines reads what markers store of the timelines that apply from them on.
func (s *reader) Timelines(ctx context.Context, markers []MarkerAt) (map[MarkerAt][]byte, error) {
	at := make([]table.Key, len(markers))
	for i, m := range markers {
		at[i] = table.NewKey(keys.LogPK(m.Log), keys.EntrySK(m.Position))
	}
	items, err := s.DB.BatchGetFixed(ctx, at)
	if err != nil {
		return nil, fmt.Errorf("read the timelines of markers: %w", err)
	}
	out := make(map[MarkerAt][]byte, len(markers))
	for i, m := range markers {
		var e Entry
		if err := table.Decode(items[at[i]], &e); err != nil {
			return nil, fmt.Errorf("unmarshal a marker: %w", err)
		}
		switch {
		case e.Tombstone:
			return nil, MissingSession()
		case e.Timeline == nil:
			return nil, missingEntry(m.Log, m.Position)
		}
		out[m] = e.Timeline
	}
	return out, nil
}
