package agentconfig

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// Parameter is a parameter that a front end may send with an input.
type Parameter struct {
	// Name is its name in a request of the Responses API, with a dot before the member
	// of an object.
	Name string
	// Members are the members of the model's request with the same meaning. The first
	// one is sent. The configuration fixes the parameter if it has any of them.
	Members []string
}

// parameters returns the parameters that models behind chat completions obey, with
// their names there; the Responses API has the same and those in more.
func parameters() (chat []Parameter, more []string) {
	return []Parameter{
		{"tool_choice", []string{"tool_choice"}},
		{"parallel_tool_calls", []string{"parallel_tool_calls"}},
		{"temperature", []string{"temperature"}},
		{"top_p", []string{"top_p"}},
		{"presence_penalty", []string{"presence_penalty"}},
		{"frequency_penalty", []string{"frequency_penalty"}},
		{"max_output_tokens", []string{"max_completion_tokens", "max_tokens"}},
		{"reasoning.effort", []string{"reasoning_effort"}},
		{"text.format", []string{"response_format"}},
		{"text.verbosity", []string{"verbosity"}},
	}, []string{"reasoning.summary", "truncation"}
}

// Parameters returns the parameters of a front end that agents of this kind obey.
// Instructions and tools, which complement the configured ones, have no Members.
func (k Kind) Parameters() []Parameter {
	tools, instructions := Parameter{Name: "tools"}, Parameter{Name: "instructions"}
	chat, more := parameters()
	switch k {
	case KindChatCompletions:
		return append(chat, tools, instructions)
	case KindResponses:
		all := []Parameter{tools, instructions}
		for _, p := range chat {
			all = append(all, Parameter{p.Name, []string{p.Name}})
		}
		for _, name := range more {
			all = append(all, Parameter{name, []string{name}})
		}
		return all
	case KindAGUI:
		return []Parameter{tools}
	default:
		return nil
	}
}

// Fixes reports whether the configuration has a value of a parameter, which a front end
// cannot change.
func (c Chat) Fixes(p Parameter) bool {
	for _, path := range p.Members {
		name, member, nested := strings.Cut(path, ".")
		raw, has := c.Parameters[name]
		if !has {
			continue
		}
		var members map[string]json.RawMessage
		if !nested || json.Unmarshal(raw, &members) != nil {
			return true
		}
		if _, has := members[member]; has {
			return true
		}
	}
	return false
}

// Obeys returns the names of the parameters of a front end that an agent obeys. Those
// that its configuration fixes are not among them.
func (d Agents) Obeys(agent string) map[string]bool {
	names := map[string]bool{}
	a, ok := Find(d, agent)
	if !ok {
		return names
	}
	for _, p := range a.Kind.Parameters() {
		if !a.Chat.Fixes(p) {
			names[p.Name] = true
		}
	}
	for _, name := range a.Reads {
		names[name] = true
	}
	return names
}

// reads reads which parameters of front ends an agent obeys.
func (r *reader) reads() []string {
	var names []string
	r.take("reads", &names, "an array of strings")
	known := KindResponses.Parameters()
	for i, name := range names {
		if !slices.ContainsFunc(known, func(p Parameter) bool { return p.Name == name }) {
			r.fail("reads/"+strconv.Itoa(i), "must be a parameter that models obey, such as tools or instructions")
		}
	}
	return names
}

// ClientTools returns the names of the configured tools of an agent, whose calls the
// session's user answers.
func (d Agents) ClientTools(agent string) []string {
	a, ok := Find(d, agent)
	if !ok {
		return nil
	}
	var tools []struct {
		Name     string
		Function struct{ Name string }
	}
	if json.Unmarshal(a.Chat.Tools, &tools) != nil {
		tools = nil // there are none: a configuration is checked when it is read
	}
	var names []string
	for _, t := range tools {
		if name := cmp.Or(t.Function.Name, t.Name); name != "" {
			names = append(names, name)
		}
	}
	for _, t := range a.Frontend.Tools {
		names = append(names, t.Name)
	}
	return names
}
