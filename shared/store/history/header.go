package history

import (
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
)

// updateHeader returns the change of the header by a requested rewind: the
// session is no longer failed and has no pending input.
func (m *Marker) updateHeader(newest func() (bool, error)) (table.Write, error) {
	same := []table.Condition{
		m.h.SameLog(), records.Unchanged(sessions.HeaderRun, m.h.Run), records.Unchanged(sessions.HeaderQueueVersion, m.h.QueueVersion),
	}
	m.h.Status = session.Idle
	changes := []table.Change{
		table.Set(table.Path{sessions.HeaderStatus}, session.Idle),
		table.Remove(table.Path{sessions.HeaderUnfinishedRun}), table.Remove(table.Path{sessions.HeaderKeptRun}),
		table.Remove(table.Path{sessions.HeaderPendingAt}), table.Remove(table.Path{sessions.HeaderPendingEvents}),
	}
	if m.h.Run != "" {
		changes = append(changes, table.Remove(table.Path{sessions.HeaderRun}), table.Remove(table.Path{sessions.HeaderCausedBy}),
			table.Remove(table.Path{sessions.HeaderContinued}))
	}
	moves, unmoved := m.MoveOn()
	changes, same = append(changes, moves...), append(same, unmoved)
	up, err := m.h.ActivityChanges(newest, m.Rec.When)
	return table.Update(keys.SessionKey(m.h.ID()), append(changes, up...), same...), err
}

// MoveOn returns the changes of the header that make the marker's timeline the
// session's, and the condition that the session was not rewound since it was
// read.
func (m *Marker) MoveOn() (changes []table.Change, unmoved table.Condition) {
	return []table.Change{
		table.Set(table.Path{sessions.HeaderEpoch}, m.h.Epoch),
		table.Set(table.Path{sessions.HeaderMarker}, m.h.Marker),
		table.Set(table.Path{sessions.HeaderTimeline}, m.h.Timeline),
	}, records.Unchanged(sessions.HeaderEpoch, m.h.Epoch-1)
}
