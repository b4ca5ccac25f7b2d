package aisdkconvert

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

// sentPart is what was sent of a part.
type sentPart struct {
	kind conversation.Kind
	id   string // of a text or a call
	name string
	text string
	open bool
}

// continues reports whether the event only extends what was sent. A call may differ:
// its complete input replaces what was streamed.
func (it *item) continues() bool {
	if len(it.pieces) < len(it.parts) {
		return false
	}
	for i, sent := range it.parts {
		p := it.pieces[i]
		grown, extends := strings.CutPrefix(p.Text, sent.text)
		switch {
		case p.Kind != sent.kind, p.Kind == conversation.PieceCall && (p.CallID != sent.id || p.Name != sent.name):
			return false
		case p.Kind == conversation.PieceText || p.Kind == conversation.PieceThought:
			if !extends || grown != "" && !sent.open {
				return false
			}
		}
	}
	return true
}

// item returns what is new in an item.
func (s *Stream) item(i int) []Chunk {
	it := s.items[i]
	whole := it.event.Status != session.EventInProgress
	var out []Chunk
	for n, p := range it.pieces {
		if !whole && (p.Kind == conversation.PieceResponse || p.Kind == conversation.PieceFile || p.Kind == conversation.PieceOther) {
			return out // it does not grow, and a call before it is not complete yet
		}
		if n == len(it.parts) {
			out = append(out, it.close(n)...)
			out = append(out, s.begin(i, n, p)...)
		}
		out = append(out, it.parts[n].grow(p)...)
		if whole && p.Kind == conversation.PieceCall {
			out = append(out, it.parts[n].complete(p, s.asked[p.CallID]))
		}
	}
	if !whole {
		return out
	}
	it.done = true
	out = append(out, it.close(len(it.parts))...)
	out = append(out, artifacts(it.event)...)
	if s.state != nil && !s.included[it.event.ID] && s.state.Change(it.event.StateDelta) != nil {
		out = append(out, Transient(DataState, s.state.Values()))
	}
	return out
}

// begin returns the beginning of a part, or all of one that does not grow. An event
// with more than responses is a step.
func (s *Stream) begin(i, n int, p conversation.Piece) []Chunk {
	it := s.items[i]
	var out []Chunk
	if p.Kind != conversation.PieceResponse && s.step != i {
		if s.step >= 0 {
			out = append(out, Chunk{"type": "finish-step"})
		}
		s.step = i
		out = append(out, Chunk{"type": "start-step"})
	}
	sent := sentPart{kind: p.Kind, id: it.event.ID + ":" + strconv.Itoa(n)}
	switch p.Kind {
	case conversation.PieceText:
		out, sent.open = append(out, Chunk{"type": "text-start", "id": sent.id}), true
	case conversation.PieceThought:
		out, sent.open = append(out, Chunk{"type": "reasoning-start", "id": sent.id}), true
	case conversation.PieceCall:
		sent.id, sent.name = p.CallID, p.Name
		s.calls[p.CallID] = true
		out = append(out, Chunk{"type": "tool-input-start", "toolCallId": p.CallID, "toolName": p.Name, "dynamic": true})
	case conversation.PieceResponse:
		if s.calls[p.CallID] {
			out = append(out, output(p.CallID, p.Value))
		}
	case conversation.PieceFile:
		out = append(out, Chunk{"type": "file", "url": p.Address(), "mediaType": mediaType(p)})
	case conversation.PieceOther:
		out = append(out, Chunk{"type": DataPart, "id": sent.id, "data": p.Raw})
	}
	it.parts = append(it.parts, sent)
	return out
}

func mediaType(p conversation.Piece) string {
	if p.MediaType == "" {
		return "application/octet-stream"
	}
	return p.MediaType
}

// grow returns what a part has beyond what was sent of it. The arguments of a complete
// call may be written otherwise; they are sent as a whole.
func (sent *sentPart) grow(p conversation.Piece) []Chunk {
	rest, ok := strings.CutPrefix(p.Text, sent.text)
	if !ok || rest == "" {
		return nil
	}
	sent.text = p.Text
	switch sent.kind {
	case conversation.PieceText:
		return []Chunk{{"type": "text-delta", "id": sent.id, "delta": rest}}
	case conversation.PieceThought:
		return []Chunk{{"type": "reasoning-delta", "id": sent.id, "delta": rest}}
	case conversation.PieceCall:
		return []Chunk{{"type": "tool-input-delta", "toolCallId": sent.id, "inputTextDelta": rest}}
	case conversation.PieceResponse, conversation.PieceFile, conversation.PieceOther:
	}
	return nil
}

// complete returns the chunk with the whole input of a call. One that the agent itself
// answers is executed by the provider, in the SDK's words.
func (sent *sentPart) complete(p conversation.Piece, asked bool) Chunk {
	raw := json.RawMessage(p.Text)
	if !json.Valid(raw) {
		return sent.broken(p.Text)
	}
	c := Chunk{"type": "tool-input-available", "toolCallId": sent.id, "toolName": sent.name, "dynamic": true, "input": raw}
	if !p.Waits && !asked {
		c["providerExecuted"] = true
	}
	return c
}

// broken returns the chunk for a call whose input never became complete.
func (sent *sentPart) broken(text string) Chunk {
	return Chunk{
		"type": "tool-input-error", "toolCallId": sent.id, "toolName": sent.name, "dynamic": true, "providerExecuted": true,
		"input": text, "errorText": "The call was not completed.",
	}
}

// close ends the texts in progress before a part.
func (it *item) close(before int) []Chunk {
	var out []Chunk
	for i := range it.parts[:before] {
		sent := &it.parts[i]
		if !sent.open {
			continue
		}
		sent.open = false
		kind := "text-end"
		if sent.kind == conversation.PieceThought {
			kind = "reasoning-end"
		}
		out = append(out, Chunk{"type": kind, "id": sent.id})
	}
	return out
}

// unfinished returns the errors of calls in progress whose run is over.
func (it *item) unfinished() []Chunk {
	var out []Chunk
	for _, sent := range it.parts {
		if sent.kind == conversation.PieceCall {
			out = append(out, sent.broken(sent.text))
		}
	}
	return out
}
