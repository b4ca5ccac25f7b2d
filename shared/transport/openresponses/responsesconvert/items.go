package responsesconvert

import (
	"cmp"
	"slices"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

// Output returns the items that a run with these events has produced; over reports that
// none will be continued.
func Output(own []session.Event, over bool) []Item {
	out := []Item{}
	r := newReader(own, over)
	for _, e := range own {
		if conversation.IsInput(e) {
			continue
		}
		for _, p := range r.items(e) {
			out = append(out, p.item)
		}
	}
	return out
}

// Items returns the items of a session's events, in order: those of the user and those
// of agents. before are events before them, of which those of the same runs decide whose
// calls the client answers.
func Items(before, events []session.Event) []Item {
	runs := map[string][]session.Event{}
	for _, e := range slices.Concat(before, events) {
		if conversation.IsInput(e) {
			runs[e.InvocationID] = append(runs[e.InvocationID], e)
		}
	}
	readers := map[string]*reader{}
	out := []Item{}
	for _, e := range events {
		if conversation.IsInput(e) {
			out = append(out, inputItems(e)...)
			continue
		}
		if readers[e.InvocationID] == nil {
			readers[e.InvocationID] = newReader(runs[e.InvocationID], false)
		}
		for _, p := range readers[e.InvocationID].items(e) {
			out = append(out, p.item)
		}
	}
	return out
}

// Inputs returns the items that a run was sent: its input, and the history that came
// with it.
func Inputs(events []session.Event, runID string) []Item {
	return Items(nil, slices.DeleteFunc(slices.Clone(events), func(e session.Event) bool {
		input := e.InvocationID == runID && conversation.IsInput(e)
		return !input && e.InvocationID != HistoryOf(runID)
	}))
}

// inputItems returns the items of an input: the outputs of calls, and one message with
// the rest.
func inputItems(e session.Event) []Item {
	var out []Item
	content := []any{}
	view := conversation.NewView()
	for n, p := range view.Pieces(e) {
		switch p.Kind {
		case conversation.PieceText:
			content = append(content, Item{"type": "input_text", "text": p.Text})
		case conversation.PieceFile:
			content = append(content, inputFile(p))
		case conversation.PieceResponse:
			out = append(out, Item{
				"type": TypeOutput, "id": itemID(prefixOutput, e, n), "status": statusCompleted,
				"call_id": cmp.Or(p.GivenID, p.CallID), "output": p.ResultText(),
			})
		case conversation.PieceThought, conversation.PieceCall, conversation.PieceOther:
		}
	}
	if len(content) == 0 {
		return out
	}
	return append(out, Item{
		"type": TypeMessage, "id": itemID(prefixMessage, e, 0), "status": statusCompleted, "role": conversation.InputRole(e), "content": content,
	})
}

func inputFile(p conversation.Piece) Item {
	if isImage(p.MediaType) {
		return Item{"type": "input_image", "image_url": p.Address(), "detail": "auto"}
	}
	file := Item{"type": "input_file"}
	if p.Filename != "" {
		file["filename"] = p.Filename
	}
	if p.URL != "" {
		file["file_url"] = p.URL
	} else {
		file["file_data"] = p.Address()
	}
	return file
}
