package responsesconvert

import (
	"strings"
	"unicode/utf8"
)

// item sends what is new in one item.
func (s *Stream) item(base int64, index int, p produced) {
	if index == len(s.sent) {
		s.sent = append(s.sent, sentItem{id: p.item.ID()})
	}
	sent := &s.sent[index]
	w := itemWriter{s, index, p}
	same := sent.id == p.item.ID()
	if same {
		s.add(base+itemBegin, Event{"type": "response.output_item.added", "output_index": index, "item": p.begun()})
		w.part(base+partBegin, "added", "")
		if strings.HasPrefix(p.text, sent.text) { // otherwise the agent's final text differs
			w.delta(base + textBegin - 1)
			sent.text = p.text
		}
	}
	if !p.done {
		return
	}
	end := base + span(len(p.text)) - itemEnds
	if same {
		w.text(end)
		w.part(end+1, "done", p.text)
	}
	s.add(end+2, Event{"type": "response.output_item.done", "output_index": index, "item": p.item})
}

// itemWriter sends the events of an item.
type itemWriter struct {
	*Stream

	index int
	made  produced
}

// begun returns the item as it is at its beginning.
func (p produced) begun() Item {
	out := Item{}
	for name, value := range p.item {
		out[name] = value
	}
	out["status"] = statusInProgress
	switch out["type"] {
	case TypeMessage:
		out["content"] = []any{}
	case TypeReasoning:
		out["summary"] = []any{}
	case TypeCall:
		out["arguments"] = ""
	}
	return out
}

func (w itemWriter) event(kind string) Event {
	e := Event{"type": "response." + kind, "item_id": w.made.item.ID(), "output_index": w.index}
	switch w.made.item["type"] {
	case TypeMessage:
		e["content_index"] = 0
	case TypeReasoning:
		e["summary_index"] = 0
	}
	return e
}

// part sends the beginning or the end of the part of an item.
func (w itemWriter) part(at int64, what, text string) {
	switch w.made.item["type"] {
	case TypeMessage:
		e := w.event("content_part." + what)
		e["part"] = outputText(text)
		w.add(at, e)
	case TypeReasoning:
		e := w.event("reasoning_summary_part." + what)
		e["part"] = summaryText(text)
		w.add(at, e)
	}
}

// delta sends the text that the reader does not have; from is the position before it. It
// begins with a whole character.
func (w itemWriter) delta(from int64) {
	kind := map[any]string{
		TypeMessage: "output_text.delta", TypeReasoning: "reasoning_summary_text.delta", TypeCall: "function_call_arguments.delta",
	}[w.made.item["type"]]
	if kind == "" || w.at >= from+int64(len(w.made.text)) {
		return
	}
	has := int(max(0, w.at-from))
	for has > 0 && !utf8.RuneStart(w.made.text[has]) {
		has--
	}
	e := w.event(kind)
	e["delta"] = w.made.text[has:]
	if w.made.item["type"] == TypeMessage {
		e["logprobs"] = []any{}
	}
	w.add(from+int64(len(w.made.text)), e)
}

// text sends the whole text of an item that is done.
func (w itemWriter) text(at int64) {
	switch w.made.item["type"] {
	case TypeMessage:
		e := w.event("output_text.done")
		e["text"], e["logprobs"] = w.made.text, []any{}
		w.add(at, e)
	case TypeReasoning:
		e := w.event("reasoning_summary_text.done")
		e["text"] = w.made.text
		w.add(at, e)
	case TypeCall:
		e := w.event("function_call_arguments.done")
		e["name"], e["arguments"] = w.made.item["name"], w.made.text
		w.add(at, e)
	}
}
