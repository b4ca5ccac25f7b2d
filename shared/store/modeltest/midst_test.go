package modeltest_test

import "testing"

// TestReadsInTheMidst runs an operation before each request of each kind of read.
// The answer must be the state before or after the operation.
func TestReadsInTheMidst(t *testing.T) {
	t.Parallel()
	stages := settings(t, innerCases())
	var sets []set
	for _, c := range innerCases() {
		if c.deletes { // a read may find a partly deleted log
			continue
		}
		for _, part := range (&reader{}).parts() {
			sets = append(sets, set{of: part.name, first: 2, play: func(t *testing.T, at int) bool {
				t.Helper()
				return c.read(t, stages[c.setup], part.name, at)
			}})
		}
	}
	number{all: 80, few: 21, every: 3}.play(t, sets)
}

// read compares one interrupted read with the models before and after; false if it
// needs fewer requests.
func (c crashCase) read(t *testing.T, begin *stage, name string, at int) bool {
	t.Helper()
	differ := ""
	for _, change := range []func(*scene){func(*scene) {}, c.apply} {
		st := begin.fresh(t)
		s := c.model(t, change)
		before := c.model(t, func(*scene) {})
		i := &interruption{at: at, run: func() {
			if err := c.do(t.Context(), before, st.store); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}}
		r := &reader{w: s.world, store: open(i.on(st.engine))}
		var d string
		var err error
		for _, part := range r.parts() {
			if part.name == name {
				d, err = part.compare(t.Context(), s.world.live["s"])
			}
		}
		switch {
		case !i.reached():
			return false
		case err == nil && d == "":
			return true
		case err != nil:
			t.Errorf("%s before request %d of the %s: %v", c.name, at, name, err)
			return true
		}
		differ += d + "\n"
	}
	t.Errorf("%s before request %d of the %s: neither before nor after\n%s", c.name, at, name, differ)
	return true
}
