package responsesconvert

import (
	"cmp"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

// Item is an item of a response or of a conversation, by the names of its members.
type Item map[string]any

// Types of items. Those with a prefix are Rethread's own, for what neither the
// specification nor OpenAI's API has an item for.
const (
	TypeMessage   = "message"
	TypeReasoning = "reasoning"
	TypeCall      = "function_call"
	TypeOutput    = "function_call_output"
	// TypeToolCall and TypeToolOutput are a call that the agent itself answers, and the
	// answer: {call_id, name, arguments} and {call_id, name, output}. A function_call
	// would ask the client to answer it.
	TypeToolCall   = "rethread:tool_call"
	TypeToolOutput = "rethread:tool_call_output"
	// TypeFile is a file of an agent: {file_url, media_type, filename}.
	TypeFile = "rethread:file"
	// TypePart is a part of an event of another kind: {part}.
	TypePart = "rethread:part"
)

// ID returns the item's id.
func (i Item) ID() string {
	id, _ := i["id"].(string)
	return id
}

// Statuses of items.
const (
	statusInProgress = "in_progress"
	statusCompleted  = "completed"
	statusIncomplete = "incomplete"
)

// produced is one part of an agent's event as an item, so far.
type produced struct {
	kind conversation.Kind
	item Item   // complete as far as the part is
	text string // that grows: of a message, of reasoning, or of the arguments of a call
	done bool
}

// reader reads the events of one response as items.
type reader struct {
	view *conversation.View
	// tools are the names of the client's functions, whose calls it answers.
	tools map[string]bool
	over  bool // no event will be continued
}

// newReader returns a reader of a run with these events so far.
func newReader(own []session.Event, over bool) *reader {
	return &reader{view: conversation.NewView(), tools: answeredTools(own), over: over}
}

// items returns the items of an agent's event, so far. Parts that do not grow, and calls
// that may not be the client's, wait for the whole event.
func (r *reader) items(e session.Event) []produced {
	var out []produced
	whole := e.Status != session.EventInProgress
	pieces := r.view.Pieces(e)
	for n, p := range pieces {
		last := n == len(pieces)-1
		grows := p.Kind == conversation.PieceText || p.Kind == conversation.PieceThought
		if !whole && !grows && (p.Kind != conversation.PieceCall || !r.tools[p.Name]) {
			return out
		}
		done := whole || grows && !last
		made := produced{kind: p.Kind, done: done || r.over}
		status := statusInProgress
		switch {
		case whole && e.Status != session.EventFailed, !whole && done:
			status = statusCompleted
		case made.done:
			status = statusIncomplete
		}
		made.item, made.text = r.item(e, n, p, status)
		out = append(out, made)
	}
	return out
}

// item returns a part of an agent's event as an item, and its text.
func (r *reader) item(e session.Event, n int, p conversation.Piece, status string) (Item, string) {
	switch p.Kind {
	case conversation.PieceText:
		return Item{
			"type": TypeMessage, "id": itemID(prefixMessage, e, n), "status": status, "role": conversation.Assistant,
			"content": []any{outputText(p.Text)},
		}, p.Text
	case conversation.PieceThought:
		return Item{
			"type": TypeReasoning, "id": itemID(prefixReasoning, e, n), "status": status, "summary": []any{summaryText(p.Text)},
		}, p.Text
	case conversation.PieceCall:
		kind, prefix, args := TypeToolCall, prefixOwn, jsonx.Minified(p.Text)
		if p.Waits || r.tools[p.Name] {
			kind, prefix = TypeCall, prefixCall
		}
		return Item{
			"type": kind, "id": itemID(prefix, e, n), "status": status, "call_id": p.CallID, "name": p.Name, "arguments": args,
		}, args
	case conversation.PieceResponse:
		return Item{
			"type": TypeToolOutput, "id": itemID(prefixOwn, e, n), "status": status,
			"call_id": cmp.Or(p.CallID, p.GivenID), "name": p.Name, "output": p.ResultText(),
		}, ""
	case conversation.PieceFile:
		return Item{
			"type": TypeFile, "id": itemID(prefixOwn, e, n), "status": status, "file_url": p.Address(),
			"media_type": p.MediaType, "filename": p.Filename,
		}, ""
	case conversation.PieceOther:
	}
	return Item{"type": TypePart, "id": itemID(prefixOwn, e, n), "status": status, "part": p.Raw}, ""
}

func outputText(text string) Item {
	return Item{"type": "output_text", "text": text, "annotations": []any{}, "logprobs": []any{}}
}

func summaryText(text string) Item { return Item{"type": "summary_text", "text": text} }
