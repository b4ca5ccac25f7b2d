package responsesconvert

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/run"
)

// treatment is what is done with a parameter that an agent does not obey.
type treatment int

const (
	served  treatment = iota // the server itself obeys it
	ignored                  // the response shows its default value
	refused                  // the answer would mean something else
)

// treatments returns the treatment of each known parameter. docs/frontends.md has the
// same table.
func treatments() map[string]treatment {
	out := map[string]treatment{}
	for name, all := range map[treatment][]string{
		served: {
			"background", "conversation", "input", "metadata", "model", "previous_response_id", "rethread", "stream",
		},
		ignored: {
			"frequency_penalty", "include", "max_output_tokens", "parallel_tool_calls", "presence_penalty", "prompt_cache_key",
			"prompt_cache_options", "prompt_cache_retention", "reasoning", "safety_identifier", "service_tier", "stream_options",
			"temperature", "top_logprobs", "top_p", "truncation", "user",
		},
		refused: {"context_management", "instructions", "max_tool_calls", "moderation", "prompt", "store", "text", "tool_choice", "tools"},
	} {
		for _, parameter := range all {
			out[parameter] = name
		}
	}
	return out
}

// takeParameters reads the parameters that agents may obey, checks all others, and keeps
// those that this agent obeys.
func (r *Request) takeParameters(o jsonx.Object, obeyed map[string]bool) error {
	known := treatments()
	r.Offer.Parameters = map[string]json.RawMessage{}
	for _, name := range slices.Sorted(maps.Keys(o.Members)) {
		how, ok := known[name]
		if !ok {
			return fault.Field(fault.Invalid, o.Pointer(name), "is an unknown parameter").With("code", CodeUnknownParameter)
		}
		if how == served {
			continue
		}
		if err := r.takeParameter(o, name, how, obeyed); err != nil {
			return err
		}
	}
	return r.checkTools()
}

func (r *Request) takeParameter(o jsonx.Object, name string, how treatment, obeyed map[string]bool) error {
	switch name {
	case "store":
		return takeStore(o)
	case "instructions":
		return r.takeInstructions(o, obeyed)
	case "tools":
		return r.takeTools(o, obeyed)
	case "tool_choice":
		return r.takeToolChoice(o, obeyed)
	case "text":
		return r.takeNested(o, name, obeyed, map[string]treatment{"format": refused, "verbosity": ignored})
	case "reasoning":
		return r.takeNested(o, name, obeyed, map[string]treatment{
			"effort": ignored, "summary": ignored, "generate_summary": ignored, "encrypted_content": ignored, "context": ignored,
			"mode": ignored,
		})
	}
	if check := checks()[name]; check != nil {
		if err := check(o, name); err != nil {
			return err
		}
	}
	switch {
	case obeyed[name] && name == "parallel_tool_calls":
		parallel, err := o.Boolean(name)
		r.Offer.ParallelToolCalls = &parallel
		r.Shown[name] = o.Members[name]
		return err
	case obeyed[name]:
		r.Offer.Parameters[name], r.Shown[name] = o.Members[name], o.Members[name]
	case how == refused:
		return unsupported(o.Pointer(name), "is not supported by this agent")
	}
	return nil
}

// takeStore accepts only true: a session's log is what a response is made of.
func takeStore(o jsonx.Object) error {
	store, err := o.Boolean("store")
	if err == nil && !store {
		return unsupported("/store", "must be true: responses are kept in their conversation until that is deleted")
	}
	return err
}

func (r *Request) takeInstructions(o jsonx.Object, obeyed map[string]bool) error {
	text, err := o.Text("instructions")
	if err != nil || text == "" {
		return err
	}
	if !obeyed["instructions"] {
		return unsupported("/instructions", "is not supported by this agent")
	}
	r.Offer.Instructions, r.Shown["instructions"] = text, o.Members["instructions"]
	return nil
}

// takeNested reads a parameter with members, each of which an agent may obey.
func (r *Request) takeNested(o jsonx.Object, name string, obeyed map[string]bool, members map[string]treatment) error {
	of, err := o.Object(name)
	if err != nil {
		return err
	}
	DropNulls(of)
	if err := checkFormat(of); err != nil {
		return err
	}
	kept := map[string]json.RawMessage{}
	for _, member := range slices.Sorted(maps.Keys(of.Members)) {
		how, ok := members[member]
		value := of.Members[member]
		switch {
		case !ok:
			return fault.Field(fault.Invalid, of.Pointer(member), "is an unknown parameter").With("code", CodeUnknownParameter)
		case obeyed[name+"."+member]:
			kept[member] = value
		case how == refused && !isPlainText(value):
			return unsupported(of.Pointer(member), "is not supported by this agent")
		}
	}
	if len(kept) == 0 {
		return nil
	}
	raw, err := jsonx.Marshal(kept)
	r.Offer.Parameters[name], r.Shown[name] = raw, raw
	return err
}

// checkFormat checks the format of a text, if there is one.
func checkFormat(of jsonx.Object) error {
	if !of.Has("format") {
		return nil
	}
	format, err := of.Object("format")
	if err != nil {
		return err
	}
	DropNulls(format)
	kind, err := format.RequiredText("type")
	if err != nil || kind != "json_schema" {
		return err
	}
	if _, err := format.RequiredText("name"); err != nil {
		return err
	}
	if !jsonx.IsObject(format.Members["schema"]) {
		return fault.Field(fault.Malformed, format.Pointer("schema"), "is required, and must be an object")
	}
	return nil
}

func isPlainText(format json.RawMessage) bool {
	var f struct{ Type string }
	return json.Unmarshal(format, &f) == nil && f.Type == "text"
}

// functionName is what the specification allows as the name of a function.
const functionName = `^[a-zA-Z0-9_-]{1,64}$`

// takeTools reads the functions of the client.
func (r *Request) takeTools(o jsonx.Object, obeyed map[string]bool) error {
	tools, err := o.Array("tools")
	if err != nil || len(tools) == 0 {
		return err
	}
	if !obeyed["tools"] {
		return unsupported("/tools", "is not supported by this agent")
	}
	shown := make([]any, len(tools))
	for i, raw := range tools {
		tool, err := jsonx.ParseObject(raw, pointer("/tools", i))
		if err != nil {
			return err
		}
		f, err := parseFunction(tool)
		if err != nil {
			return err
		}
		offered, err := jsonx.Marshal(f)
		if err != nil {
			return err
		}
		r.Offer.Tools = append(r.Offer.Tools, offered)
		shown[i] = shownFunction(f)
	}
	r.Shown["tools"], err = jsonx.Marshal(shown)
	return err
}

func parseFunction(o jsonx.Object) (f run.FrontEndTool, err error) {
	DropNulls(o)
	kind, err := o.RequiredText("type")
	if err != nil {
		return f, err
	}
	if kind != "function" {
		return f, unsupported(o.Pointer("type"), "must be function: %s is a tool that its provider runs, and agents have their own", kind)
	}
	if f.Name, err = o.RequiredText("name"); err != nil {
		return f, err
	}
	if !regexp.MustCompile(functionName).MatchString(f.Name) {
		return f, fault.Field(fault.Invalid, o.Pointer("name"), "must be 1 to 64 letters, digits, _ or -")
	}
	if f.Description, err = o.Text("description"); err != nil {
		return f, err
	}
	if _, err := o.Object("parameters"); err != nil {
		return f, err
	}
	f.Parameters = o.Members["parameters"]
	if o.Has("strict") {
		strict, err := o.Boolean("strict")
		f.Strict = &strict
		return f, err
	}
	return f, nil
}

func shownFunction(f run.FrontEndTool) map[string]any {
	out := map[string]any{"type": "function", "name": f.Name, "description": nil, "parameters": nil, "strict": f.Strict}
	if f.Description != "" {
		out["description"] = f.Description
	}
	if f.Parameters != nil {
		out["parameters"] = f.Parameters
	}
	return out
}
