package aguiconvert

import (
	"slices"
	"strings"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

// itemWriter writes what is new in one event.
type itemWriter struct {
	stream *Stream
	it     *conversation.Item
	out    []Event
}

func (w *itemWriter) add(e ...Event) { w.out = append(w.out, e...) }

func (w *itemWriter) write() {
	if w.continues() {
		for i, p := range w.it.Pieces {
			w.piece(i, p)
		}
		if w.it.Whole() {
			w.closePart()
		}
	}
	if w.it.Whole() {
		w.finish()
	}
}

// continues reports whether the event only extends what was sent. Otherwise, as when
// an agent's final message differs from the streamed one, it sends the messages as
// they are now: no event of AG-UI takes back a text.
func (w *itemWriter) continues() bool {
	if w.it.Extended(w.it.Pieces, extends) {
		return true
	}
	w.closePart()
	thread := w.stream.Thread()
	w.add(MessagesSnapshot(Messages(thread)))
	w.stream.View = thread.View()
	w.it.Sent = nil
	for i, p := range w.stream.View.Pieces(w.it.Event) {
		w.it.Sent = append(w.it.Sent, conversation.Sent{Kind: p.Kind, ID: w.id(i, p), Text: p.Text})
	}
	return false
}

// id returns the id of a part that is shown while it grows; "" for any other.
func (w *itemWriter) id(i int, p conversation.Piece) string {
	switch p.Kind {
	case conversation.PieceText, conversation.PieceThought:
		return conversation.MessageID(w.it.Event, w.it.Pieces, i)
	case conversation.PieceCall:
		if !p.Interrupt {
			return p.CallID
		}
	case conversation.PieceOther, conversation.PieceResponse, conversation.PieceFile:
	}
	return ""
}

// rest returns what a piece has beyond what was sent of it; false if it does not begin
// with that. The arguments of a complete call have lost their white space.
func rest(sent conversation.Sent, p conversation.Piece) (string, bool) {
	rest, ok := strings.CutPrefix(p.Text, sent.Text)
	if !ok && p.Kind == conversation.PieceCall {
		return strings.CutPrefix(jsonx.Minified(p.Text), jsonx.Minified(sent.Text))
	}
	return rest, ok
}

func extends(sent conversation.Sent, p conversation.Piece) bool {
	_, ok := rest(sent, p)
	return ok
}

// piece sends what is new in a part.
func (w *itemWriter) piece(i int, p conversation.Piece) {
	if i == len(w.it.Sent) {
		w.begin(i, p)
	}
	sent := &w.it.Sent[i]
	delta, ok := rest(*sent, p)
	if !ok || delta == "" || sent.ID == "" {
		return
	}
	w.open(i)
	switch sent.Kind {
	case conversation.PieceText:
		w.add(textEvent("CONTENT", sent.ID).with("delta", delta))
	case conversation.PieceThought:
		w.add(reasoningEvent("MESSAGE_CONTENT", sent.ID).with("delta", delta))
	case conversation.PieceCall:
		w.add(Event{"type": "TOOL_CALL_ARGS", "toolCallId": sent.ID, "delta": delta})
	case conversation.PieceOther, conversation.PieceResponse, conversation.PieceFile:
	}
	sent.Text = p.Text
}

// begin sends the beginning of a part, or all of one that does not grow. A part that
// is not shown has no id.
func (w *itemWriter) begin(i int, p conversation.Piece) {
	switch p.Kind {
	case conversation.PieceResponse:
		w.closePart()
		if !p.Interrupt {
			w.add(result(conversation.ResultMessage(p, conversation.MessageID(w.it.Event, w.it.Pieces, i))))
		}
	case conversation.PieceOther, conversation.PieceFile:
		w.closePart()
		w.add(customPart(conversation.MessageID(w.it.Event, w.it.Pieces, i), p.Raw))
	case conversation.PieceText, conversation.PieceThought, conversation.PieceCall:
	}
	sent := conversation.Sent{Kind: p.Kind, ID: w.id(i, p)}
	w.it.Sent = append(w.it.Sent, sent)
	if sent.ID != "" {
		w.open(i)
	}
}

// open makes a part the one in progress. A part that was in progress before begins
// again under its id, to which readers add.
func (w *itemWriter) open(i int) {
	sent := &w.it.Sent[i]
	if sent.Open {
		return
	}
	w.closePart()
	sent.Open = true
	switch sent.Kind {
	case conversation.PieceText:
		w.add(textEvent("START", sent.ID).with("role", conversation.Assistant))
	case conversation.PieceThought:
		w.add(reasoningEvent("START", sent.ID), reasoningEvent("MESSAGE_START", sent.ID).with("role", conversation.Reasoning))
	case conversation.PieceCall:
		at := conversation.Parent(w.it.Pieces, i)
		w.add(Event{
			"type": "TOOL_CALL_START", "toolCallId": sent.ID, "toolCallName": w.it.Pieces[i].Name,
			"parentMessageId": conversation.MessageID(w.it.Event, w.it.Pieces, at),
		})
	case conversation.PieceOther, conversation.PieceResponse, conversation.PieceFile:
	}
}

// closePart ends the part in progress, if there is one.
func (w *itemWriter) closePart() {
	i := slices.IndexFunc(w.it.Sent, func(s conversation.Sent) bool { return s.Open })
	if i < 0 {
		return
	}
	sent := &w.it.Sent[i]
	switch sent.Kind {
	case conversation.PieceText:
		w.add(textEvent("END", sent.ID))
	case conversation.PieceThought:
		w.add(reasoningEvent("MESSAGE_END", sent.ID), reasoningEvent("END", sent.ID))
	case conversation.PieceCall:
		w.add(Event{"type": "TOOL_CALL_END", "toolCallId": sent.ID})
	case conversation.PieceOther, conversation.PieceResponse, conversation.PieceFile:
	}
	sent.Open = false
}

// finish sends what takes effect with the complete event.
func (w *itemWriter) finish() {
	w.it.Done = true
	r := conversation.RecordOf(w.it.Event)
	for _, a := range r.Activities {
		w.add(activitySnapshot(a))
	}
	for _, c := range r.Custom {
		w.add(custom(c.Name, c.Value))
	}
	if len(w.it.Event.ArtifactDelta) > 0 {
		w.add(custom(CustomArtifacts, w.it.Event.ArtifactDelta))
	}
	if changed := w.stream.Changed(w.it.Event); changed != nil {
		w.add(stateDelta(changed))
	}
}
