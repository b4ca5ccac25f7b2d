package sessions

import (
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// updateHeader returns the change of the header by a requested rewind: the
// session is no longer failed and has no pending input.
func (m *marker) updateHeader(newest func() (bool, error)) (table.Write, error) {
	same := []table.Condition{
		m.h.sameLog(), records.Unchanged(headerRun, m.h.Run), records.Unchanged(headerQueueVersion, m.h.QueueVersion),
	}
	m.h.Status = session.Idle
	changes := []table.Change{
		table.Set(table.At(headerStatus), session.Idle),
		table.Remove(table.At(headerUnfinishedRun)), table.Remove(table.At(headerKeptRun)), table.Remove(table.At(headerPendingID)),
		table.Remove(table.At(headerPendingAt)), table.Remove(table.At(headerPendingEvents)),
	}
	if m.h.Run != "" {
		changes = append(changes, table.Remove(table.At(headerRun)), table.Remove(table.At(headerCausedBy)),
			table.Remove(table.At(headerContinued)))
	}
	moves, unmoved := m.moveOn()
	changes, same = append(changes, moves...), append(same, unmoved)
	up, err := m.h.activityChanges(newest, m.rec.time)
	return table.Update(keys.SessionKey(m.h.id()), append(changes, up...), same...), err
}

// moveOn returns the changes of the header that make the marker's timeline the
// session's, and the condition that the session was not rewound since it was
// read.
func (m *marker) moveOn() (changes []table.Change, unmoved table.Condition) {
	return []table.Change{
		table.Set(table.At(headerEpoch), m.h.Epoch),
		table.Set(table.At(headerMarker), m.h.Marker),
		table.Set(table.At(headerTimeline), m.h.Timeline),
	}, records.Unchanged(headerEpoch, m.h.Epoch-1)
}
