package eventlog

import (
	"context"
	"time"

	"github.com/rethread/rethread/shared/store/compaction"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/table"
)

// compactionTime is how long a reader waits at most for the compacted ranges that it
// writes.
const compactionTime = 2 * time.Second

// Compact writes the compacted ranges that a page has chosen, and deletes those that
// cannot be rebuilt. If it fails, later readers pay what this one paid.
func (s *Store) Compact(ctx context.Context, chosen []compaction.Range[*Record]) {
	if len(chosen) == 0 {
		return
	}
	var writes []table.Write
	for _, r := range chosen {
		some, err := s.compactionWrites(r)
		if err != nil {
			s.Log.WarnContext(ctx, "range not compacted", "log", r.Log, "from", r.From, "error", err)
		}
		writes = append(writes, some...)
	}
	ctx, cancel := context.WithTimeout(ctx, compactionTime)
	defer cancel()
	if err := s.DB.BatchWrite(ctx, writes); err != nil {
		s.Log.WarnContext(ctx, "ranges not compacted", "error", err)
	}
}

// compactionWrites returns the write that stores a range compacted, or deletes a
// compacted range that cannot be rebuilt; none if neither applies.
func (s *Store) compactionWrites(r compaction.Range[*Record]) ([]table.Write, error) {
	var compacted *compactedRange
	if !r.Unfit {
		var err error
		if compacted, err = s.newCompactedRange(r); err != nil {
			return nil, err
		}
	}
	switch {
	case compacted != nil:
		return []table.Write{table.Put(compacted)}, nil
	case r.Rebuilt:
		return []table.Write{table.Delete(keys.CompactedKey(r.Log, r.To))}, nil
	}
	return nil, nil
}
