// Package fold is the naive model of a session: what its log shows, and its state,
// with a full copy before each entry.
package fold

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Entry is one entry of a session's whole log, as the API lists it.
type Entry struct {
	Seq        int64           `json:"seq"`
	ID         string          `json:"id"`
	Invocation string          `json:"invocation_id"`
	Author     string          `json:"author"`
	Status     string          `json:"status"`
	Type       string          `json:"type"` // task, run, run_continued …; empty for events
	TaskID     string          `json:"task_id"`
	Content    json.RawMessage `json:"content"`
	Actions    struct {
		State  map[string]json.RawMessage `json:"state_delta"`
		Before *string                    `json:"rewind_before_invocation_id"`
		// Start, of a discard, is the position that it cuts before, if that is not the first of
		// its invocation.
		Start int64 `json:"rewind_before_seq"`
	} `json:"actions"`
	Run *struct {
		ID       string `json:"id"`
		Status   string `json:"status"`
		OnFailed string `json:"on_failed"`
	} `json:"run"`
	Raw json.RawMessage `json:"-"`
}

// Listed reports whether the entry is among the effective events unless it is
// hidden: markers, tasks and ends of runs never are, except an end that marks a run which
// is kept as failed or cancelled.
func (e Entry) Listed() bool {
	return (e.Type == "" || e.Type == "run" && e.Status == "failed") && e.Actions.Before == nil
}

// Keeps reports whether the entry ends a run that is kept although it failed or was
// cancelled.
func (e Entry) Keeps() bool { return e.Type == "run" && e.Run != nil && e.Run.OnFailed == "keep" }

// Text is the text of all parts of the entry.
func (e Entry) Text() string {
	var content struct {
		Parts []struct {
			Text string `json:"text"`
		} `json:"parts"`
	}
	if json.Unmarshal(e.Content, &content) != nil {
		return ""
	}
	var all strings.Builder
	for _, part := range content.Parts {
		all.WriteString(part.Text)
	}
	return all.String()
}

// Copied is the part of the entry that a fork shares: without members that differ
// there.
func (e Entry) Copied() string {
	var members map[string]json.RawMessage
	if json.Unmarshal(e.Raw, &members) != nil {
		return string(e.Raw)
	}
	for _, own := range []string{"id", "seq", "session_id", "run"} {
		delete(members, own)
	}
	text, err := json.Marshal(members)
	if err != nil {
		return string(e.Raw)
	}
	return string(text)
}

// Snapshot is what a session shows at one moment.
type Snapshot struct {
	View  []int             // indices of entries, including markers, tasks and ends of runs
	State map[string]string // JSON by unprefixed key of the session
}

// Log is a session's log with a snapshot before each entry; the last snapshot is
// the current one.
type Log struct {
	Entries   []Entry
	Snapshots []Snapshot
	// Shared are the user's and the app's values that the session's own entries set,
	// by prefixed key; "null" if deleted.
	Shared map[string]string
	// Faults are violations of the log's invariants.
	Faults []string
}

// Of folds a log, whose first taken entries a fork took over.
func Of(entries []Entry, taken int) *Log {
	l := &Log{Shared: map[string]string{}}
	now := Snapshot{State: map[string]string{}}
	first := map[string]int{} // by invocation
	for i, e := range entries {
		if e.Seq != int64(i+1) {
			l.fault("position %d is at place %d", e.Seq, i+1)
		}
		l.Entries = append(l.Entries, e)
		l.Snapshots = append(l.Snapshots, now)
		now = Snapshot{View: append(slices.Clone(now.View), i), State: maps.Clone(now.State)}
		if !e.streamed() {
			now.change(e.Actions.State)
		}
		if i >= taken && !e.streamed() {
			l.share(e.Actions.State)
		}
		if before := e.Actions.Before; before != nil {
			at, ok := first[*before]
			if start := e.Actions.Start; start > 0 {
				at, ok = int(start-1), start < e.Seq
			}
			if !ok {
				l.fault("entry %d rewinds before %s, which has no earlier entry", e.Seq, *before)
				continue
			}
			then := l.Snapshots[at]
			if !maps.Equal(now.State, then.State) {
				l.fault("the marker at %d restores the state %v, but before %s it was %v", e.Seq, now.State, *before, then.State)
			}
			now = Snapshot{View: slices.Clone(then.View), State: maps.Clone(then.State)}
		}
		if _, known := first[e.Invocation]; !known {
			first[e.Invocation] = i
		}
	}
	l.Snapshots = append(l.Snapshots, now)
	return l
}

// streamed reports whether the entry is an event of an agent. The agents here
// stream all of their answers. A streamed event's state change takes effect with
// the entry of type state that is stored when the event is complete. A fork or a
// rewind between the two shows the event without its change.
func (e Entry) streamed() bool {
	return e.Type == "" && e.Author != "user" && e.Author != "system"
}

func (l *Log) fault(format string, args ...any) {
	l.Faults = append(l.Faults, fmt.Sprintf(format, args...))
}

// share records values of the user and of the app.
func (l *Log) share(delta map[string]json.RawMessage) {
	for key, value := range delta {
		if strings.Contains(key, ":") {
			l.Shared[key] = compact(value)
		}
	}
}

// change applies a delta to the session's own keys.
func (s Snapshot) change(delta map[string]json.RawMessage) {
	for key, value := range delta {
		switch text := compact(value); {
		case strings.Contains(key, ":"):
		case text == "null":
			delete(s.State, key)
		default:
			s.State[key] = text
		}
	}
}

// Now is the current snapshot.
func (l *Log) Now() Snapshot { return l.Snapshots[len(l.Snapshots)-1] }

// Effective returns the events that a snapshot lists.
func (l *Log) Effective(s Snapshot) []Entry {
	var out []Entry
	for _, i := range s.View {
		if l.Entries[i].Listed() {
			out = append(out, l.Entries[i])
		}
	}
	return out
}

// First returns the index of the first entry of an invocation, or -1.
func (l *Log) First(invocation string) int {
	return slices.IndexFunc(l.Entries, func(e Entry) bool { return e.Invocation == invocation })
}

// Parse parses an entry.
func Parse(raw json.RawMessage) (Entry, error) {
	var e Entry
	if err := json.Unmarshal(raw, &e); err != nil {
		return e, fmt.Errorf("read an entry of a log: %w", err)
	}
	e.Raw = raw
	return e, nil
}

func compact(raw json.RawMessage) string {
	var out bytes.Buffer
	if json.Compact(&out, raw) != nil {
		return string(raw)
	}
	return out.String()
}
