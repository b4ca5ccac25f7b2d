package conversation

import (
	"encoding/json"
	"slices"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/session"
)

// Kind is what a part of an event is for a front end.
type Kind string

// Kinds of parts.
const (
	PieceText     Kind = "text"
	PieceThought  Kind = "thought"
	PieceCall     Kind = "call"
	PieceResponse Kind = "response"
	PieceFile     Kind = "file"
	PieceOther    Kind = "other" // of no kind that front ends know
)

// Piece is a part of an event.
type Piece struct {
	Kind Kind
	// Text is the text of a text or thought, or the JSON text of the arguments of a
	// call, so far.
	Text string
	// CallID is the id of a call, unique in its session, or of the call that a response
	// is for; "" for a response without a call.
	CallID string
	// GivenID is the id of the call in the event, which may be empty or not unique.
	GivenID string
	Name    string // of the function
	Waits   bool   // the response of a call is a later input
	// Interrupt is set for a call by which an agent interrupts its run, and for the
	// response to one. Protocols with interrupts do not show it as a call.
	Interrupt bool
	Value     json.RawMessage // of a response
	// URL is the address of a file, "" for one that is part of the event, whose bytes
	// are Data, in base64.
	URL, Data, MediaType, Filename string
	Raw                            json.RawMessage
}

// Address returns the address of a file, a data URL for one that is part of the event.
func (p Piece) Address() string {
	if p.URL != "" {
		return p.URL
	}
	return content.DataURL(p.MediaType, p.Data)
}

// ResultText returns a response as text. A response whose only member is a string named
// result is that string.
func (p Piece) ResultText() string {
	var members map[string]json.RawMessage
	var text string
	switch {
	case jsonx.IsNull(p.Value):
		return "{}"
	case json.Unmarshal(p.Value, &members) == nil && len(members) == 1 &&
		!jsonx.IsNull(members["result"]) && json.Unmarshal(members["result"], &text) == nil:
		return text
	}
	return string(p.Value)
}

// View reads the events of a session, in order, as pieces.
type View struct {
	calls    *calls
	answered map[callAt]*Call // by the event and the part with the response; nil without a call
	failed   map[string]bool  // events with calls that were interrupted
}

// NewView returns a view of a session.
func NewView() *View {
	return &View{calls: newCalls(), answered: map[callAt]*Call{}, failed: map[string]bool{}}
}

// Pieces returns the parts of the next event, or again those of one that has changed.
func (v *View) Pieces(e session.Event) []Piece {
	c, _ := content.Parse(e.Fields["content"])
	long := e.LongRunningCalls()
	out := make([]Piece, len(c.Parts))
	for i, p := range c.Parts {
		out[i] = v.piece(e, i, p, long)
		out[i].Raw = p.Raw()
	}
	if e.Status == session.EventFailed && !v.failed[e.ID] {
		v.failed[e.ID] = true
		v.calls.interrupted(e.InvocationID, e.Continuation()+1)
	}
	if slices.ContainsFunc(out, func(p Piece) bool { return p.Kind != PieceResponse }) {
		v.calls.interrupted(e.InvocationID, e.Continuation()) // its agent goes on without them
	}
	return out
}

func (v *View) piece(e session.Event, i int, p content.Part, long []string) Piece {
	switch kindOf(p) {
	case PieceText:
		return Piece{Kind: PieceText, Text: *p.Text}
	case PieceThought:
		return Piece{Kind: PieceThought, Text: *p.Text}
	case PieceCall:
		one := v.calls.at(e.ID, i)
		if one == nil {
			one = v.calls.begin(e, i, p.Call)
		}
		one.Args, one.Waits = argsOf(p.Call), slices.Contains(long, p.Call.ID)
		return Piece{
			Kind: PieceCall, Text: one.Args, CallID: one.ID, GivenID: p.Call.ID, Name: one.Name, Waits: one.Waits,
			Interrupt: one.Name == InterruptCall,
		}
	case PieceResponse:
		return v.response(callAt{e.ID, i}, p.Response, IsInput(e))
	case PieceFile:
		return fileOf(p)
	case PieceOther:
	}
	return Piece{Kind: PieceOther}
}

func (v *View) response(at callAt, r *content.Response, byPerson bool) Piece {
	of, known := v.answered[at]
	if !known {
		of = v.calls.answer(r, byPerson)
		v.answered[at] = of
	}
	out := Piece{Kind: PieceResponse, GivenID: r.ID, Name: r.Name, Value: r.Response}
	if of == nil { // or it is older than what was read
		out.Interrupt = r.Name == InterruptCall
		return out
	}
	out.CallID, out.Interrupt = of.ID, of.Name == InterruptCall
	return out
}

func fileOf(p content.Part) Piece {
	if p.Inline == nil {
		return Piece{Kind: PieceFile, URL: p.File.URI, MediaType: p.File.MIMEType}
	}
	return Piece{Kind: PieceFile, Data: content.StandardBase64(p.Inline.Data), MediaType: p.Inline.MIMEType, Filename: p.Inline.Name}
}

// Open returns the calls of a session that a person has to answer. over reports whether
// a run is over.
func (v *View) Open(over func(runID string) bool) []*Call {
	var out []*Call
	for _, c := range v.calls.list {
		if c.Open(over(c.Run)) {
			out = append(out, c)
		}
	}
	return out
}

// Asked returns the ids of the calls that a person has answered or has to answer.
func (v *View) Asked(over func(runID string) bool) map[string]bool {
	out := map[string]bool{}
	for _, c := range v.calls.list {
		out[c.ID] = c.Waits || c.ByPerson || c.Open(over(c.Run))
	}
	return out
}
