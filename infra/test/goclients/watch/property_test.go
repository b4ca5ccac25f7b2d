package watch_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/clients/go/watch/view"
	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// Under any schedule of the network, a client that has received each message at
// least once, or whose connection has ended since, shows what GET thread shows.
func TestAnyScheduleEndsAtTheThread(t *testing.T) {
	const schedules = 2000
	property.CheckN(t, schedules, func(r *rapid.T) { checkSchedule(r, below(r, 10) == 1) })
}

func checkSchedule(t *rapid.T, recorded bool) *world {
	w := newWorld(t, recorded)
	known := view.NewState()
	w.follow(known)
	for range 20 + below(t, 80) {
		w.step()
	}
	w.quiet()
	if w.state.Deleted() != w.m.head.deleted && !w.gone {
		t.Fatal("the client and the server disagree whether the session is deleted")
	}
	if w.gone || w.state.Deleted() {
		return w
	}
	got := shown(known.Show())
	if diff := cmp.Diff(mustText(w.m.thread()), mustText(got)); diff != "" {
		t.Fatalf("the client's session differs from the thread (-thread +client):\n%s", diff)
	}
	if w.trace != nil {
		w.trace.Final = got
	}
	return w
}

// thread returns what GET thread shows now.
func (m *model) thread() shownNow {
	r := m.read(func() {})
	events, _, _ := r.events(0, 1<<30)
	if events == nil {
		events = []session.Event{}
	}
	out := shownNow{
		Items: mustJSON(events), Status: string(m.head.status), RunID: m.head.run, Error: mustJSON(nil), Epoch: m.head.epoch,
		Queued: mustJSON(m.head.queue.list()), QueueVersion: m.head.queue.version,
	}
	if m.head.status == session.Failed {
		out.RunID, out.Error, out.Kept = m.failed.ID, mustJSON(m.failed.Error), m.failed.OnFailed == run.Keep
	}
	return out
}
