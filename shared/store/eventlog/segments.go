package eventlog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

const (
	// segmentBytes is how long the deltas of a segment become, after which another
	// begins: with its keys and one more flush of a streaming model it stays within
	// 1 KB, so storing another delta costs one write unit. It depends on the segment
	// alone, so two writers that have read the same segment write to the same one,
	// and one of them fails.
	segmentBytes = 740
	// deltaBytes limits one delta, so that it fits into a message with its other
	// members, escaped as JSON, where a byte may become six.
	deltaBytes = 19 << 10
	// segmentLife is how long segments are kept. Once its item is complete they are
	// not read any more; a run cannot last that long.
	segmentLife = 7 * 24 * time.Hour
	// writerBytes tell apart two writers of the same deltas, such as an agent's pushes
	// of two equal words that two processes receive.
	writerBytes = 8
)

// The attributes of a segment.
const (
	segmentCount  = "n"
	segmentClosed = "x"
	segmentQuiet  = "q"
)

// Segment holds consecutive deltas of an item in progress. Only the last one grows.
// Closed says that nothing may be added to it: the run is final, or the item
// complete. Quiet keeps its records from the fan-out (see Watching).
type Segment struct {
	PK      string          `dynamodbav:"PK"`
	SK      string          `dynamodbav:"SK"`
	Item    string          `dynamodbav:"i"` // id of the event
	Epoch   int64           `dynamodbav:"ep,omitempty"`
	First   int64           `dynamodbav:"o"` // number of the first delta
	Count   int64           `dynamodbav:"n"`
	Deltas  json.RawMessage `dynamodbav:"d"` // array
	Closed  bool            `dynamodbav:"x,omitempty"`
	Quiet   bool            `dynamodbav:"q,omitempty"`
	Writer  []byte          `dynamodbav:"w,omitempty"` // random, of the copy of the item that wrote last
	Expires int64           `dynamodbav:"expires"`
}

// last returns the number of the segment's last delta.
func (g *Segment) last() int64 { return g.First + g.Count - 1 }

// open reports whether the next delta is added to the segment, as the last one.
func (g *Segment) open() bool { return g.Count > 0 && len(g.Deltas) < segmentBytes }

// Decode returns the segment's deltas.
func (g *Segment) Decode() ([]content.Delta, error) {
	var raw []json.RawMessage
	if err := json.Unmarshal(g.Deltas, &raw); err != nil {
		return nil, fmt.Errorf("segment %s %s: %w", g.PK, g.SK, errors.Join(table.ErrUnreadable, err))
	}
	out := make([]content.Delta, len(raw))
	for i, r := range raw {
		d, err := content.ParseDelta(r, "/"+strconv.Itoa(i))
		if err != nil {
			return nil, fmt.Errorf("segment %s %s: %w", g.PK, g.SK, errors.Join(table.ErrUnreadable, err))
		}
		out[i] = d
	}
	return out, nil
}

// PositionOfSegment returns the position of the item and the number of the segment in
// a sort key.
func PositionOfSegment(sk string) (position int64, k int, err error) {
	p, n, ok := strings.Cut(strings.TrimPrefix(sk, keys.PrefixSegment), "#")
	if ok {
		if position, err = strconv.ParseInt(p, 10, 64); err == nil {
			k, err = strconv.Atoi(n)
		}
	}
	if err != nil || !ok {
		return 0, 0, fmt.Errorf("not the key of a segment: %q", sk)
	}
	return position, k, nil
}

// readSegments visits the segments of an item, in order, strongly consistent.
func (s *reader) readSegments(ctx context.Context, log string, position int64, visit func(Segment) error) error {
	q := records.Prefix(keys.LogPK(log), keys.SegmentPrefix(position), true)
	return s.DB.Pages(ctx, q, func(page []table.Item) (bool, error) {
		for _, item := range page {
			var g Segment
			if err := table.Decode(item, &g); err != nil {
				return false, fmt.Errorf("unmarshal a segment: %w", err)
			}
			if err := visit(g); err != nil {
				return false, err
			}
		}
		return true, nil
	})
}

// DeltasOf reads the deltas 1 to e.Deltas of an item.
func (s *Store) DeltasOf(ctx context.Context, log string, e session.Event) ([]content.Delta, error) {
	out := make([]content.Delta, 0, e.Deltas)
	err := s.readSegments(ctx, log, e.Seq, func(g Segment) error {
		deltas, err := g.Decode()
		out = append(out, deltas...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the deltas of item %s: %w", e.ID, err)
	}
	if int64(len(out)) < e.Deltas {
		return nil, fmt.Errorf("%w: item %s has %d deltas, not %d", ErrMissingEntry, e.ID, len(out), e.Deltas)
	}
	return out[:e.Deltas], nil
}

// grown returns the item's last segment, with number k, with a delta added, or the
// next segment if that one is full. A segment without deltas counts as missing.
func (it *Item) grown(tail Segment, k int, encoded json.RawMessage) (next Segment, number int) {
	if tail.open() {
		joined := make(json.RawMessage, 0, len(tail.Deltas)+len(encoded)+1)
		joined = append(append(joined, tail.Deltas[:len(tail.Deltas)-1]...), ',')
		tail.Deltas = append(append(joined, encoded...), ']')
		tail.Count++
		return tail, k
	}
	first := int64(1)
	if tail.Count > 0 {
		first = tail.last() + 1
		k++
	}
	id := keys.SegmentKey(it.Log.Name, it.Seq(), k)
	deltas := append(append(json.RawMessage{'['}, encoded...), ']')
	return Segment{
		PK: id.PK, SK: id.SK, Item: it.ID(), Epoch: it.rec.Epoch, First: first, Count: 1, Deltas: deltas,
		Quiet: it.quiet, Expires: it.s.Now().Add(segmentLife).Unix(),
	}, k
}

// putSegment stores the last segment over the one that was read or written last. It
// returns table.ErrConditionFailed if another writer changed it, and errClosed if
// it is closed. A watcher that has come meanwhile makes it loud.
func (it *Item) putSegment(ctx context.Context, next *Segment) error {
	if it.writer == nil {
		random := it.s.Random()
		it.writer = random[len(random)-writerBytes:]
	}
	next.Writer = it.writer
	failed := it.s.DB.Put(ctx, next, it.unchanged(next))
	if !errors.Is(failed, table.ErrConditionFailed) {
		return failed
	}
	var stored Segment
	_, err := records.Found(failed, &stored)
	switch {
	case err != nil:
		return err
	case stored.Closed || stored.PK == "":
		return errClosed
	case stored.Count == next.Count && bytes.Equal(stored.Deltas, next.Deltas) && bytes.Equal(stored.Writer, next.Writer):
		next.Quiet = stored.Quiet
		return nil // this very write, whose answer was lost
	case next.Quiet && !stored.Quiet && next.SK == it.tail.SK && stored.Count == it.tail.Count:
		next.Quiet = false
		return it.putSegment(ctx, next)
	}
	return failed
}

// unchanged is the condition that nobody has written since to the segment that next
// replaces; a quiet one must still be quiet.
func (it *Item) unchanged(next *Segment) table.Condition {
	if next.SK != it.tail.SK {
		return table.ItemNotExists()
	}
	same := []table.Condition{
		table.Equal(table.Path{segmentCount}, it.tail.Count), table.NotExists(table.Path{segmentClosed}),
	}
	if next.Quiet {
		same = append(same, table.Equal(table.Path{segmentQuiet}, true))
	}
	return table.And(same...)
}

// errClosed says that an item accepts no more deltas.
var errClosed = errors.New("the item is closed")

// Closing returns the write that closes an item to deltas: its condition holds only
// while the item's content is what was read. It is to the very segment that the next
// delta would be written to: the last one or, if that is full, the next.
func (it *Item) Closing() table.Write {
	if it.tail.open() {
		return it.closingTail()
	}
	return it.closingNext()
}

// closingTail closes the last segment, which must exist.
func (it *Item) closingTail() table.Write {
	return table.Update(table.NewKey(it.tail.PK, it.tail.SK),
		[]table.Change{table.Set(table.Path{segmentClosed}, true)},
		table.Equal(table.Path{segmentCount}, it.tail.Count))
}

// closingNext puts a closed segment after the last one, or over one that an earlier
// attempt has put there.
func (it *Item) closingNext() table.Write {
	next := it.k
	if it.tail.Count > 0 {
		next++
	}
	id := keys.SegmentKey(it.Log.Name, it.Seq(), next)
	return table.Put(Segment{
		PK: id.PK, SK: id.SK, Item: it.ID(), First: it.offset + 1, Deltas: json.RawMessage("[]"), Closed: true, Quiet: true,
		Expires: it.s.Now().Add(segmentLife).Unix(),
	}, table.Or(table.ItemNotExists(), table.And(
		table.Equal(table.Path{segmentClosed}, true), table.Equal(table.Path{segmentCount}, 0),
	)))
}

// pieces returns deltas as they are stored: consecutive ones joined, and those that
// are too long for a frame split.
func pieces(deltas []content.Delta) []content.Delta {
	var out []content.Delta
	for _, d := range content.Coalesce(deltas) {
		out = append(out, d.Split(deltaBytes)...)
	}
	return out
}

// tooLarge returns the fault of an item that exceeds its limit.
func tooLarge() error {
	return fault.New(fault.ItemTooLarge, "an item holds at most %d bytes", run.MaxItem)
}

// Nobody watches most items in progress, so their segments are quiet: the filter of
// the fan-out leaves out the records of a quiet segment. Four rules keep watchers
// from missing anything:
//
//   - A segment may become loud, but not quiet again. Its whole content is announced
//     when it becomes loud.
//   - A writer reads the watchers after it has stored a new quiet segment, and makes
//     the segment loud if there are any.
//   - A watcher is stored before its connection catches up, and the catch-up makes the
//     last segment loud before it reads the item.
//   - The condition of a write to a quiet segment is that it is still quiet.
//
// So a watcher is stored either before a segment, whose writer then finds it, or after
// it, and then finds the segment. A writer that reads a quiet segment of another one,
// which may have stopped before it read the watchers, reads them instead.

// Watching tells whether a log has watchers.
type Watching interface {
	// Watched reports whether anybody watches a log, by one strongly consistent read.
	Watched(ctx context.Context, log string) (bool, error)
}

// AttachWatching sets who knows the watchers; without it, segments are never quiet. It
// is called before the store is used.
func (s *Store) AttachWatching(w Watching) { s.watching = w }

// watched reports whether anybody watches the item. If that cannot be read, somebody
// may.
func (it *Item) watched(ctx context.Context) bool {
	if it.s.watching == nil {
		return true
	}
	watched, err := it.s.watching.Watched(ctx, it.Log.Name)
	if err != nil {
		it.s.Log.WarnContext(ctx, "the watchers of an answer could not be read; it is announced",
			"session_id", it.Log.Session, "error", err)
	}
	return watched || err != nil
}

// announce makes the last segment loud if it is quiet and somebody watches. If that
// fails, the next write tries again: the deltas are stored.
func (it *Item) announce(ctx context.Context) {
	it.quiet, it.unchecked = !it.watched(ctx), false
	if it.quiet || !it.tail.Quiet {
		return
	}
	if err := it.s.makeLoud(ctx, table.NewKey(it.tail.PK, it.tail.SK)); err != nil {
		it.unchecked = true
		it.s.Log.WarnContext(ctx, "a part of an answer is announced late", "session_id", it.Log.Session, "error", err)
		return
	}
	it.tail.Quiet = false
}

// Wake makes the last segment of the item in progress loud, for a watcher that is
// stored already; at was read after that.
func (s *Store) Wake(ctx context.Context, log string, head Head) error {
	if head.Open == 0 {
		return nil
	}
	q := records.Prefix(keys.LogPK(log), keys.SegmentPrefix(head.Open), true)
	q.Descending, q.Limit = true, 1
	page, err := s.DB.Query(ctx, q)
	if err != nil {
		return fmt.Errorf("read the last segment: %w", err)
	}
	if len(page.Items) == 0 || page.Items[0][segmentQuiet] == nil || page.Items[0][segmentClosed] != nil {
		return nil
	}
	return s.makeLoud(ctx, records.KeyOf(page.Items[0]))
}

// makeLoud makes a segment loud; one that is loud, or gone, stays so.
func (s *Store) makeLoud(ctx context.Context, segment table.Key) error {
	quiet := table.Path{segmentQuiet}
	err := s.DB.Update(ctx, segment, []table.Change{table.Remove(quiet)}, table.Equal(quiet, true))
	return records.Ignoring(err, table.ErrConditionFailed)
}
