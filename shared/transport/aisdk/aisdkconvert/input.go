package aisdkconvert

import (
	"encoding/json"
	"strconv"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

// Input returns the request as input for a session with this history. The id of the run
// is derived from what is asked and from how often the session was rewound, so a request
// that is repeated finds its run, and one that asks the same anew after a rewind does
// not. unfinished reports that the last run failed or was cancelled. It returns
// conversation.ErrOlder if it depends on older events.
func (r Request) Input(of session.Session, h conversation.History, unfinished bool) (conversation.Input, error) {
	in := conversation.Input{
		SessionID: r.ID, RunID: r.RunID, At: "/messages", SessionAt: "/id",
		Options: conversation.Options{OnActive: r.OnActive, Append: r.Append, Regenerate: r.Regenerate},
	}
	turns := conversation.Turns(h.Events)
	if h.Partial && len(turns) > 0 && turns[0].Continues() {
		return in, conversation.ErrOlder
	}
	shown := invocations(turns)
	if err := r.list(&in, h.Thread(), shown); err != nil {
		return in, err
	}
	if len(r.Messages) == 0 && r.Regenerate {
		in.Messages = questions(turns, r.MessageID)
	}
	if err := r.answers(&in, h, shown); err != nil {
		return in, err
	}
	if in.RunID == "" {
		if in.RunID = r.begun(of, turns, unfinished); in.RunID != "" {
			in.Regenerate = false
			return in, nil
		}
		in.RunID = r.next(of.Epoch, turns)
	}
	if n := len(r.Messages); !r.Regenerate && n > 0 && r.Messages[n-1].Role == user && r.Messages[n-1].ID == r.MessageID {
		in.Edit = r.MessageID
	}
	return in, nil
}

// list adds the messages. A message of the assistant is several of the session's, which
// have ids of their own.
func (r Request) list(in *conversation.Input, thread *conversation.Thread, shown map[string][]string) error {
	for _, m := range r.Messages {
		if m.Role == user {
			parts, err := m.parts()
			if err != nil {
				return err
			}
			in.Messages = append(in.Messages, conversation.Given{ID: m.ID, Role: user, Parts: parts, At: m.at})
			continue
		}
		var own []conversation.Given
		for _, invocation := range shown[m.ID] {
			own = append(own, thread.Shown(invocation)...)
		}
		if len(own) == 0 || m.Role != assistant {
			own = []conversation.Given{{ID: m.ID, Role: m.Role}}
		}
		in.Messages = append(in.Messages, own...)
	}
	return nil
}

// questions returns the user's messages that a message of the assistant answers.
func questions(turns []*conversation.Turn, answer string) []conversation.Given {
	var out []conversation.Given
	for _, t := range turns {
		if t.Answer != answer || !t.Says() {
			continue
		}
		for _, e := range t.Inputs {
			out = append(out, conversation.Given{ID: conversation.GivenID(e), Role: user})
		}
	}
	return out
}

// parts returns a user's message as parts of an event.
func (m Given) parts() ([]content.Part, error) {
	var parts []content.Part
	for i, p := range m.Parts {
		switch p.Type {
		case "text":
			parts = append(parts, content.Text(p.Text))
		case "file":
			file, err := conversation.File(m.at+"/parts/"+strconv.Itoa(i)+"/url", p.URL, p.MediaType, p.Filename)
			if err != nil {
				return nil, err
			}
			parts = append(parts, file)
		}
	}
	if len(parts) == 0 {
		return nil, fault.Field(fault.Invalid, m.at+"/parts", "must have a text or a file")
	}
	return parts, nil
}

// answers adds the front end's outputs of calls, and its approvals, that the session
// waits for. Of a partial history these are the ones in messages that it has.
func (r Request) answers(in *conversation.Input, h conversation.History, shown map[string][]string) error {
	view := conversation.NewView()
	uncertain := false
	for _, e := range h.Events {
		uncertain = !conversation.Certain(view.Pieces(e)) || uncertain
	}
	open := map[string]bool{}
	for _, c := range view.Open(func(string) bool { return true }) {
		open[c.ID] = true
	}
	for _, m := range r.Messages {
		if m.Role != assistant || h.Partial && shown[m.ID] == nil {
			continue
		}
		for _, p := range m.Parts {
			value, err := p.response()
			switch {
			case p.ToolCallID == "" || p.ProviderExecuted || value == nil && err == nil:
			case h.Partial && uncertain:
				return conversation.ErrOlder
			case open[p.ToolCallID] && err != nil:
				return err
			case open[p.ToolCallID]:
				in.Answers = append(in.Answers, conversation.Answer{CallID: p.ToolCallID, Value: value})
			}
		}
	}
	return nil
}

// response returns what a front end answers to a call; nil without an answer.
func (p GivenPart) response() (json.RawMessage, error) {
	switch p.State {
	case "output-available":
		if jsonx.IsNull(p.Output) {
			return json.RawMessage(`{"result":null}`), nil
		}
		return p.Output, nil
	case "output-error":
		return jsonx.Marshal(map[string]any{"error": p.ErrorText})
	case "approval-responded", "output-denied":
		return jsonx.Marshal(p.Approval)
	}
	return nil, nil
}

// invocations returns the invocations by the id of the assistant's message that shows
// them: a front end shows the user's messages of a turn, then one of the assistant.
func invocations(turns []*conversation.Turn) map[string][]string {
	out := map[string][]string{}
	for _, t := range turns {
		out[t.Answer] = append(out[t.Answer], t.Invocation)
	}
	return out
}
