package watch_test

import (
	"encoding/json"

	"pgregory.net/rapid"

	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
)

// writer makes random changes to a model.
type writer struct {
	t *rapid.T
	m *model
}

// below draws a number from 0 to n-1. Rapid prefers small numbers, which would make
// some steps rare, so the drawn bits are mixed.
func below(t *rapid.T, n int) int {
	x := rapid.Uint32().Draw(t, "")
	x = (x ^ x>>16) * 0x7feb352d
	x = (x ^ x>>15) * 0x846ca68b
	return int(x^x>>16) % n
}

// write makes a change that the session allows.
func (w writer) write() {
	switch {
	case w.m.head.deleted:
	case below(w.t, 300) == 1:
		w.m.delete()
	case below(w.t, 12) == 0:
		w.changeQueue()
	case w.m.head.run != "":
		w.duringRun()
	default:
		w.betweenRuns()
	}
}

func (w writer) betweenRuns() {
	switch below(w.t, 8) {
	case 0, 1:
		w.foreign()
	case 2:
		w.m.place()
	case 3, 4:
		if all := w.m.invocations; len(all) > 0 {
			w.m.rewind(all[len(all)-1-below(w.t, min(6, len(all)))])
			if below(w.t, 3) == 0 { // a rewind follows at once
				w.m.rewind(w.m.invocations[len(w.m.invocations)-1])
			}
		}
	default:
		w.m.start()
	}
}

func (w writer) duringRun() {
	switch n := below(w.t, 20); {
	case n == 0:
		w.foreign()
	case n == 1:
		w.m.place()
	case n == 2:
		w.m.put(w.m.append(w.m.head.run, "whole"))
	case n == 3:
		w.m.end([]run.Status{run.Completed, run.Failed, run.Cancelled}[below(w.t, 3)], below(w.t, 2) == 0)
	case w.m.open == nil:
		contents := []string{`{"role":"model"}`, `{"role":"model","parts":[]}`, `{}`, ``}
		var content json.RawMessage
		if c := contents[below(w.t, 4)]; c != "" {
			content = json.RawMessage(c)
		}
		w.m.begin(content, below(w.t, 12) == 1, 1+below(w.t, 4))
	case n == 4 || n == 5:
		w.m.complete(n == 4)
	default:
		deltas := make([]content.Delta, 1+below(w.t, 3))
		for i := range deltas {
			deltas[i] = w.delta(w.m.open)
		}
		w.m.flush(deltas)
	}
}

// changeQueue queues an input or cancels a queued one.
func (w writer) changeQueue() {
	n := len(w.m.head.queue.inputs)
	switch {
	case n > 0 && below(w.t, 3) == 0:
		w.m.dequeue(below(w.t, n))
	case n > 0 || w.m.head.run != "":
		w.m.enqueue(below(w.t, 10) == 1)
	}
}

// foreign appends events of another writer, during a run or between runs.
func (w writer) foreign() {
	invocation := w.m.name("i")
	if all := w.m.invocations; len(all) > 0 && below(w.t, 4) == 0 {
		invocation = all[below(w.t, len(all))]
	}
	w.m.put(w.m.append(invocation, []string{"one", "two", "three"}[:1+below(w.t, 3)]...))
}

// delta draws a delta that continues the item's content.
func (w writer) delta(e *entry) content.Delta {
	n := len(e.kinds)
	part := n
	if n > 0 && below(w.t, 5) > 0 {
		part = n - 1 - below(w.t, min(2, n))
	}
	text := []string{"a", "wörd ", "𝄞", `<&>"`, "\n", ""}[below(w.t, 6)]
	if part < n {
		d := e.kinds[part]
		d.Part = part
		if d.Call == nil {
			d.Text = text
			return d
		}
		d.Call = &content.CallDelta{ArgsText: []string{`1`, `}`, `"x"`, ``}[below(w.t, 4)]}
		return d
	}
	d := content.Delta{Part: part, Text: text}
	switch below(w.t, 4) {
	case 0:
		d.Thought = true
	case 1:
		d.Text = ""
		d.Call = &content.CallDelta{ID: w.m.name("call"), Name: "search", ArgsText: []string{`{"q":`, `{}`, ``}[below(w.t, 3)]}
	}
	e.kinds = append(e.kinds, d)
	return d
}
