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

// Timelines reads what markers store of the timelines that apply from them on. Entries never
// change, so a replica is asked first, at half the price.
func (s *reader) Timelines(ctx context.Context, markers []MarkerAt) (map[MarkerAt][]byte, error) {
	out := make(map[MarkerAt][]byte, len(markers))
	for _, consistent := range []bool{false, true} {
		var wanted []table.Key
		asked := map[MarkerAt]bool{}
		for _, m := range markers {
			if _, ok := out[m]; !ok && !asked[m] {
				asked[m], wanted = true, append(wanted, table.NewKey(keys.LogPK(m.Log), keys.EntrySK(m.Position)))
			}
		}
		items, err := s.DB.BatchGet(ctx, wanted, consistent)
		if err != nil {
			return nil, fmt.Errorf("read the timelines of markers: %w", err)
		}
		for _, item := range items {
			var e Entry
			if err := table.Decode(item, &e); err != nil {
				return nil, fmt.Errorf("unmarshal a marker: %w", err)
			}
			position, err := e.First()
			switch {
			case err != nil:
				return nil, err
			case e.Tombstone:
				return nil, MissingSession()
			case e.Timeline != nil:
				out[MarkerAt{Log: e.PK[len(keys.PrefixLog):], Position: position}] = e.Timeline
			}
		}
	}
	for _, m := range markers {
		if out[m] == nil {
			return nil, missingEntry(m.Log, m.Position)
		}
	}
	return out, nil
}
