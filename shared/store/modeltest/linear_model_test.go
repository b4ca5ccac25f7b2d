package modeltest_test

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/anishathalye/porcupine"
)

// history is the naive model reduced to one session and one key of state: a value
// that every operation replaces, as the checker requires.
type history struct {
	log   []step
	view  []int // indexes into log
	value string
	epoch int64
}

// step is an entry of the log, with what the session showed before it.
type step struct {
	invocation, text string
	view             []int
	value            string
}

// call is one operation; answer is its answer.
type call struct {
	op         string // append, rewind, fork, effective, all, state, session
	invocation string // of the event, or before which; "" forks everything
	text       string // of the event, or the marker's invocation
}

type answer struct {
	missing bool // the invocation is unknown
	seq     int64
	epoch   int64
	value   string
	texts   []string // of events, with their seq
}

// linearModel is the specification of one session.
func linearModel() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return history{} },
		Step: func(state, input, output any) (bool, any) {
			h, c := state.(history), input.(call) //nolint:forcetypeassert // they are ours
			want, next := h.step(c)
			return reflect.DeepEqual(want, output), next
		},
		Equal: reflect.DeepEqual,
		DescribeOperation: func(input, output any) string {
			return fmt.Sprintf("%+v -> %+v", input, output)
		},
	}
}

// step returns an operation's answer and the history after it.
func (h history) step(c call) (answer, history) {
	head := int64(len(h.log))
	switch c.op {
	case "append":
		next := h.with(step{invocation: c.invocation, text: c.text})
		next.view = append(slices.Clone(h.view), len(h.log))
		next.value = c.text
		return answer{seq: head + 1}, next
	case "rewind":
		at := h.first(c.invocation)
		if at < 0 {
			return answer{missing: true}, h
		}
		next := h.with(step{invocation: c.text})
		next.view, next.value = h.log[at].view, h.log[at].value
		next.epoch++
		return answer{seq: head + 1, epoch: next.epoch}, next
	case "fork":
		view, value := h.view, h.value
		at := h.first(c.invocation)
		if at >= 0 {
			view, value = h.log[at].view, h.log[at].value
		}
		return answer{missing: at < 0 && c.invocation != "", texts: h.texts(view, true), value: value}, h
	case "effective":
		return answer{texts: h.texts(h.view, false)}, h
	case "all":
		every := []int{}
		for i := range h.log {
			every = append(every, i)
		}
		return answer{texts: h.texts(every, false)}, h
	case "state":
		return answer{value: h.value}, h
	}
	return answer{seq: head, epoch: h.epoch}, h
}

func (h history) with(s step) history {
	s.view, s.value = h.view, h.value
	h.log = append(slices.Clone(h.log), s)
	return h
}

func (h history) first(invocation string) int {
	return slices.IndexFunc(h.log, func(s step) bool { return s.invocation == invocation })
}

// texts returns the texts of entries by their seq, which a fork renumbers.
func (h history) texts(view []int, anew bool) []string {
	out := []string{}
	for n, i := range view {
		if anew {
			i = n
		}
		out = append(out, fmt.Sprintf("%d:%s", i+1, h.log[view[n]].text))
	}
	return out
}
