package main

import (
	"fmt"
	"io"
	"sync"
)

// report counts checks and keeps what failed. It may be used from several
// goroutines.
type report struct {
	mu     sync.Mutex
	made   int
	failed []string
}

// check counts one check; a failed one is printed at the end with what is shown.
func (r *report) check(what string, passed bool, shown any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.made++
	if !passed {
		r.failed = append(r.failed, fmt.Sprintf("%s: %+v", what, shown))
	}
}

// fail adds a failure without a check.
func (r *report) fail(why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = append(r.failed, why)
}

// part plays a part of a story; an error fails it and the next part begins.
func (r *report) part(name string, play func() error) {
	if err := play(); err != nil {
		r.fail(name + ": " + err.Error())
	}
}

// end prints the failures and the number of checks, and returns whether all
// passed.
func (r *report) end(w io.Writer) bool {
	for _, failure := range r.failed {
		_, _ = fmt.Fprintln(w, "FAIL", failure) // there is no other place to report it
	}
	_, err := fmt.Fprintf(w, "checks: %d\n", r.made)
	return len(r.failed) == 0 && err == nil
}
