package eventlog

import (
	"context"

	"github.com/rethread/rethread/shared/domain/session"
)

// RestoreInitial adds to undo the values set by the initial event. If an imported
// fork's source had hidden entries after that event, the event's own undo also
// reverts their changes, which no other entry does.
func (r *Record) RestoreInitial(undo session.Delta) {
	if len(r.Undo) == 0 {
		return
	}
	initial := r.Events[0].Change()
	for key, prev := range r.Undo[0].In(session.ScopeSession) {
		if undo[key] = prev; initial[key] != nil {
			undo[key] = initial[key]
		}
	}
}

// UndoLog adds to undo what reverts the changes of one log from the entry at
// position from back to the position until. It leaves out changes after position
// to (0: none) and those of keys for which keep returns false. known is the entry
// that covers until, if it has been read.
func (s *Store) UndoLog(
	ctx context.Context, log string, from, until, to int64, undo session.Delta, keep func(string) bool, known *Record,
) error {
	back := backwards{s: s.reader, log: log, until: until}
	for at := from; at > 0 && (known == nil || at >= known.First); {
		rec := known
		if known == nil || at > known.First {
			var err error
			if rec, err = back.covering(ctx, at); err != nil {
				return err
			}
		}
		if rec.Last() < until {
			return nil
		}
		for i := len(rec.Undo) - 1; i >= 0 && !rec.Initial; i-- {
			position := rec.First + int64(i)
			if position < until || (to > 0 && position > to) {
				continue
			}
			for key, prev := range rec.Undo[i] {
				if keep == nil || keep(key) {
					undo[key] = prev
				}
			}
		}
		at = rec.PrevState
	}
	return nil
}
