package eventlog

import (
	"context"
	"fmt"

	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/table"
)

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
