// Package transcript prints a session as text, as it happens.
package transcript

import (
	"fmt"
	"io"
	"strings"

	"github.com/rethread/rethread/clients/go/watch/view"
	"github.com/rethread/rethread/shared/domain/content"
)

// Printer prints what is new in a session, including growing text. It is not safe
// for concurrent use.
type Printer struct {
	out    io.Writer
	shown  map[string]string // text by item
	status view.Status
	epoch  int64
	open   string // item whose line is not finished
	err    error
}

// New returns a printer for a new session.
func New(out io.Writer) *Printer { return &Printer{out: out, shown: map[string]string{}} }

// Err returns the error of printing, if any.
func (p *Printer) Err() error { return p.err }

// Print prints what has changed since the last call.
func (p *Printer) Print(s view.Session) {
	if s.Epoch != p.epoch {
		p.line("— rewound; the session now:")
		p.epoch = s.Epoch
		clear(p.shown)
	}
	if s.Status == view.InProgress { // items follow it
		p.state(s)
	}
	for _, e := range s.Items {
		p.item(e)
	}
	p.state(s)
	if s.Deleted {
		p.line("— deleted")
	}
}

func (p *Printer) state(s view.Session) {
	if s.Status == p.status {
		return
	}
	p.status = s.Status
	p.line(strings.TrimSpace(fmt.Sprintf("— %s %s", s.Status, s.RunID)))
	if s.Error != nil {
		p.line(fmt.Sprintf("— %s: %s", s.Error.Code, s.Error.Message))
	}
}

func (p *Printer) item(e view.Event) {
	text, before := textOf(e), p.shown[e.ID]
	_, known := p.shown[e.ID]
	p.shown[e.ID] = text
	switch {
	case known && text == before:
	case known && p.open == e.ID && strings.HasPrefix(text, before):
		p.write(text[len(before):])
	default: // new, or replaced
		p.line("")
		p.write(fmt.Sprintf("%d %s: %s", e.Seq, e.Author, text))
		p.open = e.ID
	}
	if e.Status != view.EventInProgress && p.open == e.ID {
		p.line("")
		if e.Status == view.EventFailed {
			p.line(fmt.Sprintf("— %d failed: %s", e.Seq, e.Fields["error"]))
		}
	}
}

// line ends the current line and prints another, unless it is empty.
func (p *Printer) line(text string) {
	if p.open != "" {
		p.write("\n")
		p.open = ""
	}
	if text != "" {
		p.write(text + "\n")
	}
}

func (p *Printer) write(text string) {
	if p.err == nil {
		_, p.err = io.WriteString(p.out, text)
	}
}

// textOf returns the text of an event, including function calls.
func textOf(e view.Event) string {
	said, ok := content.Parse(e.Fields["content"])
	if !ok {
		return string(e.Fields["content"]) // unchanged
	}
	var out strings.Builder
	for _, p := range said.Parts {
		switch {
		case p.Call != nil && p.Call.ArgsText != nil:
			fmt.Fprintf(&out, " [%s %s]", p.Call.Name, *p.Call.ArgsText)
		case p.Call != nil:
			fmt.Fprintf(&out, " [%s %s]", p.Call.Name, p.Call.Args)
		case p.Text != nil && p.Thought:
			fmt.Fprintf(&out, " (%s)", *p.Text)
		case p.Text != nil:
			out.WriteString(*p.Text)
		}
	}
	return out.String()
}
