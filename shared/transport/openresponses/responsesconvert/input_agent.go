package responsesconvert

import (
	"encoding/json"
	"strconv"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

// parseReasoning reads what an agent thought: the summary or, without one, the content.
// What is encrypted is another server's.
func parseReasoning(o jsonx.Object) (Given, error) {
	g := Given{agents: true}
	for _, name := range []string{"summary", "content"} {
		if len(g.parts) > 0 || jsonx.IsNull(o.Members[name]) {
			continue
		}
		items, err := o.Array(name)
		if err != nil || len(items) == 0 {
			if err != nil {
				return g, err
			}
			continue
		}
		if g.parts, err = parseContent(o, name); err != nil {
			return g, err
		}
		for i := range g.parts {
			g.parts[i].Thought = true
		}
	}
	return g, nil
}

// parseCall reads a call of a function, which waits for the client or was the agent's
// own.
func parseCall(o jsonx.Object, waits bool) (Given, error) {
	g := Given{agents: true, waits: waits}
	id, err := o.RequiredText("call_id")
	if err != nil {
		return g, err
	}
	name, err := o.RequiredText("name")
	if err != nil {
		return g, err
	}
	args, err := o.Text("arguments")
	if err != nil {
		return g, err
	}
	if args == "" {
		args = "{}"
	}
	if raw := json.RawMessage(args); !json.Valid(raw) || !jsonx.IsObject(raw) {
		return g, fault.Field(fault.Invalid, o.Pointer("arguments"), "must be the JSON text of an object")
	} else if flaw := jsonx.CheckInner(raw); flaw != nil {
		return g, fault.Field(fault.Invalid, o.Pointer("arguments"), "%s", flaw.Reason)
	}
	if id == "" || name == "" {
		return g, fault.Field(fault.Invalid, o.At, "must have a call_id and a name")
	}
	g.call = &Called{id, name}
	g.parts = []content.Part{{Call: &content.Call{ID: id, Name: name, Args: json.RawMessage(args)}}}
	return g, nil
}

// parseToolOutput reads the answer to a call that an agent itself gave.
func parseToolOutput(o jsonx.Object) (Given, error) {
	g := Given{agents: true, answer: true}
	id, err := o.Text("call_id")
	if err != nil {
		return g, err
	}
	name, err := o.RequiredText("name")
	if err != nil {
		return g, err
	}
	value, _, err := parseOutput(o)
	g.parts = []content.Part{content.Answer(id, name, value)}
	return g, err
}

// parseOutput reads the output of a call: a text, or a list of parts, whose files follow
// the response.
func parseOutput(o jsonx.Object) (response json.RawMessage, files []content.Part, err error) {
	parts, err := parseContent(o, "output")
	if err != nil {
		return nil, nil, err
	}
	text := ""
	for _, p := range parts {
		if p.Text != nil {
			if text != "" {
				text += "\n"
			}
			text += *p.Text
			continue
		}
		files = append(files, p)
	}
	response, err = conversation.TextResponse(text)
	return response, files, err
}

func pointer(at string, i int) string { return at + "/" + strconv.Itoa(i) }
