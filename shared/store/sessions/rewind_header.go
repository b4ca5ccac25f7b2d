package sessions

import (
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/table"
)

// updateHeader is the change of the header by a rewind that somebody asked for:
// what is left is neither a failure nor to be answered.
func (m *marker) updateHeader(newest func() (bool, error)) (table.Write, error) {
	same := []table.Condition{m.h.sameLog(), unchanged(headerRun, m.h.Run)}
	m.h.Status = session.Idle
	changes := []table.Change{
		table.Set(table.At(headerStatus), session.Idle),
		table.Remove(table.At(headerUnfinishedRun)), table.Remove(table.At(headerPendingID)),
		table.Remove(table.At(headerPendingAt)), table.Remove(table.At(headerPendingEvents)),
	}
	if m.h.Run != "" {
		changes = append(changes, table.Remove(table.At(headerRun)), table.Remove(table.At(headerCausedBy)))
	}
	moves, unmoved := m.moveOn()
	changes, same = append(changes, moves...), append(same, unmoved)
	up, err := m.h.activityChanges(newest, m.rec.time)
	return table.Update(sessionKey(m.h.id()), append(changes, up...), same...), err
}

// moveOn are the changes of the header by which the session shows what the marker
// says, and the condition that it was not rewound since it was read.
func (m *marker) moveOn() (changes []table.Change, unmoved table.Condition) {
	return []table.Change{
		table.Set(table.At(headerEpoch), m.h.Epoch),
		table.Set(table.At(headerMarker), m.h.Marker),
		table.Set(table.At(headerTimeline), m.h.Timeline),
	}, unchanged(headerEpoch, m.h.Epoch-1)
}
