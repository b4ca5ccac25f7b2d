package agui_test

import (
	"fmt"
	"slices"
	"testing"
)

// A message to a long thread costs as much as one to a short thread, whether the list has
// all messages, the last ones or just the new one.
func TestNewMessageReadsLittleOfALongThread(t *testing.T) {
	t.Parallel()
	// Read units until the run begins, with those of its start.
	most := map[string]float64{"all messages": 22, "the last one": 22, "none": 34}
	for _, turns := range []int{10, 2000} {
		all := make([]string, turns)
		for i := range all {
			all[i] = fmt.Sprintf("u%d", i)
		}
		all = append(all, "@answer")
		for name, known := range map[string][]string{"all messages": all, "the last one": all[turns-1:], "none": nil} {
			t.Run(fmt.Sprintf("%d turns, list with %s", turns, name), func(t *testing.T) {
				t.Parallel()
				r := newRig(t)
				r.Grow(t, "s", 0, turns)
				before := r.Units().Read
				s := r.run(t, "new", list(slices.Concat(known, []string{"n"})...))
				w := r.Work(t)
				read := r.UnitsAtStart().Read - before
				t.Logf("%v read units", read)
				if read > most[name] {
					t.Errorf("the request reads %v units, want at most %v", read, most[name])
				}
				w.Write(t, "hi")
				w.Complete(t, `{"text":"hi"}`, nil)
				mustEnd(t, s, whole, "hi")
			})
		}
	}
}
