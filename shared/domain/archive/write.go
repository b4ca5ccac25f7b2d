package archive

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/run"
)

// logMember is the member of an event that contains its Log.
const logMember = "_log"

// Writer writes a document to a stream, piece by piece. Only End writes the member
// "complete"; an interrupted document lacks it and the closing brace.
type Writer struct {
	out  io.Writer
	list string // the open list
	some bool   // whether the list has items
}

var _ Sink = (*Writer)(nil)

// NewWriter returns a Writer to out.
func NewWriter(out io.Writer) *Writer { return &Writer{out: out} }

// Begin implements Sink.
func (w *Writer) Begin(h Head) error {
	if err := w.text(`{"format":"` + Format + `"`); err != nil {
		return err
	}
	for _, m := range []struct {
		name  string
		value any
	}{
		{"exported_time", h.ExportedTime},
		{"session", h.Session},
		{"taken_over", h.TakenOver},
		{"branched", h.Branched},
		{"spent_run_id", h.SpentRun},
		{"timeline", h.Timeline},
	} {
		if err := w.member(m.name, m.value); err != nil {
			return err
		}
	}
	if h.KeptRun != "" {
		if err := w.member("kept_run_id", h.KeptRun); err != nil {
			return err
		}
	}
	return w.open("events")
}

// Event implements Sink.
func (w *Writer) Event(e Event) error {
	raw, err := e.MarshalJSON()
	if err != nil {
		return err
	}
	return w.item("events", json.RawMessage(raw))
}

// MarshalJSON encodes the event with its Log.
func (e Event) MarshalJSON() ([]byte, error) {
	l := e.Log
	l.Own = e.Fields[logMember]
	extra, err := jsonx.Marshal(l)
	if err != nil {
		return nil, fmt.Errorf("encode the log's data about event %d: %w", e.Seq, err)
	}
	plain := e.Event
	if l.Own != nil {
		plain = plain.Without(logMember)
	}
	raw := plain.Stored()
	if bytes.Equal(extra, []byte("{}")) {
		return raw, nil
	}
	raw = append(raw[:len(raw)-1], `,"`+logMember+`":`...)
	return append(append(raw, extra...), '}'), nil
}

// Task implements Sink.
func (w *Writer) Task(t Task) error { return w.item("tasks", t) }

// Feedback implements Sink.
func (w *Writer) Feedback(f Feedback) error { return w.item("feedback", f) }

// Artifact implements Sink.
func (w *Writer) Artifact(a Artifact) error { return w.item("artifacts", a) }

// Request implements Sink. A document without requests lacks the list.
func (w *Writer) Request(r Request) error { return w.item("requests", r) }

// End implements Sink.
func (w *Writer) End(s State, runs []run.Run) error {
	if w.list != "requests" {
		if err := w.turnTo("artifacts"); err != nil {
			return err
		}
	}
	if runs == nil {
		runs = []run.Run{}
	}
	if err := w.text("]"); err != nil {
		return err
	}
	if err := w.member("runs", runs); err != nil {
		return err
	}
	if err := w.member("state", s); err != nil {
		return err
	}
	return w.text(`,"complete":true}` + "\n")
}

func (w *Writer) item(list string, v any) error {
	if err := w.turnTo(list); err != nil {
		return err
	}
	text, err := jsonx.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode an item of %s: %w", list, err)
	}
	sep := "\n"
	if w.some {
		sep = ",\n"
	}
	w.some = true
	return w.text(sep + string(text))
}

// turnTo closes the preceding lists and opens one.
func (w *Writer) turnTo(list string) error {
	order := []string{"events", "tasks", "feedback", "artifacts", "requests"}
	for i := 0; w.list != list; i++ {
		if i == len(order)-1 {
			return fmt.Errorf("the list %s is closed, %s is open", list, w.list)
		}
		if order[i] != w.list {
			continue
		}
		if err := w.text("]"); err != nil {
			return err
		}
		if err := w.open(order[i+1]); err != nil {
			return err
		}
	}
	return nil
}

func (w *Writer) open(list string) error {
	w.list, w.some = list, false
	return w.text(",\n\"" + list + `":[`)
}

func (w *Writer) member(name string, v any) error {
	text, err := jsonx.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	return w.text(",\n\"" + name + `":` + string(text))
}

func (w *Writer) text(s string) error {
	_, err := io.WriteString(w.out, s)
	return err
}
