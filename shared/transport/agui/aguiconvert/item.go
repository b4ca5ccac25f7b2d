package aguiconvert

import (
	"strings"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

// sentItem is what was sent of an event.
type sentItem struct {
	parts []sentPart
	open  int // index of the part in progress; -1 for none
	done  bool
}

// sentPart is what was sent of a part: its text, or the JSON text of its arguments.
type sentPart struct {
	kind conversation.Kind
	id   string // of the message or the call
	text string
}

// itemWriter writes what is new in one event.
type itemWriter struct {
	stream *Stream
	it     *sentItem
	event  session.Event
	pieces []conversation.Piece
	whole  bool
	out    []Event
}

func (w *itemWriter) add(e ...Event) { w.out = append(w.out, e...) }

// extendedBy reports whether the pieces of an event only extend what was sent of it.
func (it *sentItem) extendedBy(pieces []conversation.Piece) bool {
	if len(pieces) < len(it.parts) {
		return false
	}
	for i, sent := range it.parts {
		if _, extends := sent.rest(pieces[i]); !extends || pieces[i].Kind != sent.kind {
			return false
		}
	}
	return true
}

// continues reports whether the event only extends what was sent. Otherwise, as when
// an agent's final message differs from the streamed one, it sends the messages as
// they are now: no event of AG-UI takes back a text.
func (w *itemWriter) continues() bool {
	if w.it.extendedBy(w.pieces) {
		return true
	}
	w.closePart()
	thread := w.stream.Thread()
	w.add(MessagesSnapshot(Messages(thread)))
	w.stream.view = thread.View()
	w.it.parts = nil
	for i, p := range w.stream.view.Pieces(w.event) {
		w.it.parts = append(w.it.parts, sentPart{kind: p.Kind, id: w.id(i, p), text: p.Text})
	}
	return false
}

// id returns the id of a part that is shown while it grows; "" for any other.
func (w *itemWriter) id(i int, p conversation.Piece) string {
	switch p.Kind {
	case conversation.PieceText, conversation.PieceThought:
		return conversation.MessageID(w.event, w.pieces, i)
	case conversation.PieceCall:
		if !p.Interrupt {
			return p.CallID
		}
	case conversation.PieceOther, conversation.PieceResponse, conversation.PieceFile:
	}
	return ""
}

// rest returns what a part has beyond what was sent of it; false if it does not begin
// with that. The arguments of a complete call have lost their white space.
func (s sentPart) rest(p conversation.Piece) (string, bool) {
	rest, ok := strings.CutPrefix(p.Text, s.text)
	if !ok && s.kind == conversation.PieceCall && p.Kind == conversation.PieceCall {
		return strings.CutPrefix(jsonx.Minified(p.Text), jsonx.Minified(s.text))
	}
	return rest, ok
}

// piece sends what is new in a part.
func (w *itemWriter) piece(i int, p conversation.Piece) {
	if i == len(w.it.parts) {
		w.begin(i, p)
	}
	sent := &w.it.parts[i]
	rest, ok := sent.rest(p)
	if !ok || rest == "" || sent.id == "" {
		return
	}
	w.open(i)
	switch sent.kind {
	case conversation.PieceText:
		w.add(textEvent("CONTENT", sent.id).with("delta", rest))
	case conversation.PieceThought:
		w.add(reasoningEvent("MESSAGE_CONTENT", sent.id).with("delta", rest))
	case conversation.PieceCall:
		w.add(Event{"type": "TOOL_CALL_ARGS", "toolCallId": sent.id, "delta": rest})
	case conversation.PieceOther, conversation.PieceResponse, conversation.PieceFile:
	}
	sent.text = p.Text
}

// begin sends the beginning of a part, or all of one that does not grow. A part that
// is not shown has no id.
func (w *itemWriter) begin(i int, p conversation.Piece) {
	switch p.Kind {
	case conversation.PieceResponse:
		w.closePart()
		if !p.Interrupt {
			w.add(result(conversation.ResultMessage(p, conversation.MessageID(w.event, w.pieces, i))))
		}
	case conversation.PieceOther, conversation.PieceFile:
		w.closePart()
		w.add(customPart(conversation.MessageID(w.event, w.pieces, i), p.Raw))
	case conversation.PieceText, conversation.PieceThought, conversation.PieceCall:
	}
	sent := sentPart{kind: p.Kind, id: w.id(i, p)}
	w.it.parts = append(w.it.parts, sent)
	if sent.id != "" {
		w.open(i)
	}
}

// open makes a part the one in progress. A part that was in progress before begins
// again under its id, to which readers add.
func (w *itemWriter) open(i int) {
	if w.it.open == i {
		return
	}
	w.closePart()
	w.it.open = i
	sent := w.it.parts[i]
	switch sent.kind {
	case conversation.PieceText:
		w.add(textEvent("START", sent.id).with("role", conversation.Assistant))
	case conversation.PieceThought:
		w.add(reasoningEvent("START", sent.id), reasoningEvent("MESSAGE_START", sent.id).with("role", conversation.Reasoning))
	case conversation.PieceCall:
		at := conversation.Parent(w.pieces, i)
		w.add(Event{
			"type": "TOOL_CALL_START", "toolCallId": sent.id, "toolCallName": w.pieces[i].Name,
			"parentMessageId": conversation.MessageID(w.event, w.pieces, at),
		})
	case conversation.PieceOther, conversation.PieceResponse, conversation.PieceFile:
	}
}

// close ends the part in progress of a complete event.
func (w *itemWriter) close() {
	if w.whole {
		w.closePart()
	}
}

func (w *itemWriter) closePart() {
	if w.it.open < 0 {
		return
	}
	sent := w.it.parts[w.it.open]
	switch sent.kind {
	case conversation.PieceText:
		w.add(textEvent("END", sent.id))
	case conversation.PieceThought:
		w.add(reasoningEvent("MESSAGE_END", sent.id), reasoningEvent("END", sent.id))
	case conversation.PieceCall:
		w.add(Event{"type": "TOOL_CALL_END", "toolCallId": sent.id})
	case conversation.PieceOther, conversation.PieceResponse, conversation.PieceFile:
	}
	w.it.open = -1
}

// finish sends what takes effect with the complete event.
func (w *itemWriter) finish() {
	w.it.done = true
	r := conversation.RecordOf(w.event)
	for _, a := range r.Activities {
		w.add(activitySnapshot(a))
	}
	for _, c := range r.Custom {
		w.add(custom(c.Name, c.Value))
	}
	if len(w.event.ArtifactDelta) > 0 {
		w.add(custom(CustomArtifacts, w.event.ArtifactDelta))
	}
	if w.stream.included[w.event.ID] {
		return
	}
	if changed := w.stream.state.Change(w.event.StateDelta); changed != nil {
		w.add(stateDelta(changed))
	}
}
