package e2e

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"
)

// Record is everything that a system's functions have logged.
type Record struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Line is one line of a function.
type Line struct {
	Function string
	Text     string
	Fields   M // nil if the line is not JSON
}

// Write implements io.Writer.
func (r *Record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

// Lines returns what the functions have logged so far, without the local host's
// own lines.
func (r *Record) Lines() []Line {
	r.mu.Lock()
	text := r.text.String()
	r.mu.Unlock()
	var lines []Line
	for raw := range strings.Lines(text) {
		function, line, ok := strings.Cut(strings.TrimRight(raw, "\n"), "  ")
		if !ok || !strings.HasSuffix(function, "Function") {
			continue
		}
		l := Line{Function: function, Text: line}
		if json.Unmarshal([]byte(line), &l.Fields) != nil {
			l.Fields = nil
		}
		lines = append(lines, l)
	}
	return lines
}

// Until waits for a line that looks as expected, and returns it.
func (r *Record) Until(tb testing.TB, what string, looks func(Line) bool) Line {
	tb.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for until := time.Now().Add(Patience); time.Now().Before(until); <-tick.C {
		for _, l := range r.Lines() {
			if looks(l) {
				return l
			}
		}
	}
	tb.Fatalf("no line says %s", what)
	return Line{}
}
