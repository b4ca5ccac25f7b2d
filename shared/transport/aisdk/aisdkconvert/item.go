package aisdkconvert

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

// extends reports whether a piece extends what was sent of it. A call may differ: its
// complete input replaces what was streamed.
func extends(sent conversation.Sent, p conversation.Piece) bool {
	grown, ok := strings.CutPrefix(p.Text, sent.Text)
	switch p.Kind {
	case conversation.PieceCall:
		return p.CallID == sent.ID && p.Name == sent.Name
	case conversation.PieceText, conversation.PieceThought:
		return ok && (grown == "" || sent.Open)
	case conversation.PieceResponse, conversation.PieceFile, conversation.PieceOther:
	}
	return true
}

// item returns what is new in an item.
func (s *Stream) item(i int) []Chunk {
	it := s.Items[i]
	whole := it.Whole()
	var out []Chunk
	for n, p := range it.Pieces {
		if !whole && (p.Kind == conversation.PieceResponse || p.Kind == conversation.PieceFile || p.Kind == conversation.PieceOther) {
			return out // it does not grow, and a call before it is not complete yet
		}
		if n == len(it.Sent) {
			out = append(out, closeTexts(it.Sent)...)
			out = append(out, s.begin(i, n, p)...)
		}
		out = append(out, grow(&it.Sent[n], p)...)
		if whole && p.Kind == conversation.PieceCall {
			out = append(out, complete(it.Sent[n], p, s.asked[p.CallID]))
		}
	}
	if !whole {
		return out
	}
	it.Done = true
	out = append(out, closeTexts(it.Sent)...)
	out = append(out, artifacts(it.Event)...)
	if s.Changed(it.Event) != nil {
		out = append(out, Transient(DataState, s.State.Values()))
	}
	return out
}

// begin returns the beginning of a part, or all of one that does not grow. An event
// with more than responses is a step.
func (s *Stream) begin(i, n int, p conversation.Piece) []Chunk {
	it := s.Items[i]
	var out []Chunk
	if p.Kind != conversation.PieceResponse && s.step != i {
		if s.step >= 0 {
			out = append(out, Chunk{"type": "finish-step"})
		}
		s.step = i
		out = append(out, Chunk{"type": "start-step"})
	}
	sent := conversation.Sent{Kind: p.Kind, ID: it.Event.ID + ":" + strconv.Itoa(n)}
	switch p.Kind {
	case conversation.PieceText:
		out, sent.Open = append(out, Chunk{"type": "text-start", "id": sent.ID}), true
	case conversation.PieceThought:
		out, sent.Open = append(out, Chunk{"type": "reasoning-start", "id": sent.ID}), true
	case conversation.PieceCall:
		sent.ID, sent.Name = p.CallID, p.Name
		s.calls[p.CallID] = true
		out = append(out, Chunk{"type": "tool-input-start", "toolCallId": p.CallID, "toolName": p.Name, "dynamic": true})
	case conversation.PieceResponse:
		if s.calls[p.CallID] {
			out = append(out, output(p.CallID, p.Value))
		}
	case conversation.PieceFile:
		out = append(out, Chunk{"type": "file", "url": p.Address(), "mediaType": mediaType(p)})
	case conversation.PieceOther:
		out = append(out, Chunk{"type": DataPart, "id": sent.ID, "data": p.Raw})
	}
	it.Sent = append(it.Sent, sent)
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
func grow(sent *conversation.Sent, p conversation.Piece) []Chunk {
	rest, ok := strings.CutPrefix(p.Text, sent.Text)
	if !ok || rest == "" {
		return nil
	}
	sent.Text = p.Text
	switch sent.Kind {
	case conversation.PieceText:
		return []Chunk{{"type": "text-delta", "id": sent.ID, "delta": rest}}
	case conversation.PieceThought:
		return []Chunk{{"type": "reasoning-delta", "id": sent.ID, "delta": rest}}
	case conversation.PieceCall:
		return []Chunk{{"type": "tool-input-delta", "toolCallId": sent.ID, "inputTextDelta": rest}}
	case conversation.PieceResponse, conversation.PieceFile, conversation.PieceOther:
	}
	return nil
}

// complete returns the chunk with the whole input of a call. One that the agent itself
// answers is executed by the provider, in the SDK's words.
func complete(sent conversation.Sent, p conversation.Piece, asked bool) Chunk {
	raw := json.RawMessage(p.Text)
	if !json.Valid(raw) {
		return broken(sent, p.Text)
	}
	c := Chunk{"type": "tool-input-available", "toolCallId": sent.ID, "toolName": sent.Name, "dynamic": true, "input": raw}
	if !p.Waits && !asked {
		c["providerExecuted"] = true
	}
	return c
}

// broken returns the chunk for a call whose input never became complete.
func broken(sent conversation.Sent, text string) Chunk {
	return Chunk{
		"type": "tool-input-error", "toolCallId": sent.ID, "toolName": sent.Name, "dynamic": true, "providerExecuted": true,
		"input": text, "errorText": "The call was not completed.",
	}
}

// closeTexts ends the texts in progress among what was sent of an item.
func closeTexts(of []conversation.Sent) []Chunk {
	var out []Chunk
	for i := range of {
		sent := &of[i]
		if !sent.Open {
			continue
		}
		sent.Open = false
		kind := "text-end"
		if sent.Kind == conversation.PieceThought {
			kind = "reasoning-end"
		}
		out = append(out, Chunk{"type": kind, "id": sent.ID})
	}
	return out
}
