package watch_test

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/watch"
)

// queueCopy is the session's queue. A change replaces the list, so that readers may
// keep it.
type queueCopy struct {
	version int64
	inputs  []run.Shown
}

// enqueue adds an input to the queue.
func (m *model) enqueue(big bool) {
	id := m.name("run")
	if big {
		id += bigSuffix
	}
	input := json.RawMessage(`{"author":"somebody","content":{"parts":[{"text":"<asked> ` + id + `"}]},"kept":"as it <came>"}`)
	one := run.Shown{RunID: id, Agent: "agent", Input: []json.RawMessage{input}, QueuedTime: 1_700_000_000_000}
	m.setQueue(append(slices.Clip(m.head.queue.inputs), one))
}

// dequeue takes an input out of the queue.
func (m *model) dequeue(i int) run.Shown {
	one := m.head.queue.inputs[i]
	m.setQueue(slices.Delete(slices.Clone(m.head.queue.inputs), i, i+1))
	return one
}

func (m *model) setQueue(inputs []run.Shown) {
	m.head.queue = queueCopy{m.head.queue.version + 1, inputs}
	at := m.headOfLog()
	message := m.head.queue.message(watch.Cursor{Epoch: at.epoch, Seq: at.last, Offset: at.deltas})
	m.stream = append(m.stream, record{key: "queue", messages: []watch.Message{message}})
}

// message returns the message about a queue at a position of the log, without inputs
// if one is too large for a frame.
func (q queueCopy) message(at watch.Cursor) watch.Message {
	inputs := q.list()
	m := watch.Message{Type: watch.QueueType, Cursor: at, Prev: at, QueueVersion: q.version, Queued: &inputs}
	for _, one := range inputs {
		m.Truncated = m.Truncated || strings.HasSuffix(one.RunID, bigSuffix)
	}
	for i := range inputs {
		if m.Truncated {
			inputs[i].Input = nil
		}
	}
	return m
}

// list returns the inputs; never nil.
func (q queueCopy) list() []run.Shown { return append([]run.Shown{}, q.inputs...) }

// withQueue adds to a page of a thread the members about a queue, unless the session
// never had one.
func (q queueCopy) withQueue(page map[string]any) {
	if q.version > 0 {
		page["queue_version"], page["queued"] = q.version, q.list()
	}
}
