package mcp

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rethread/rethread/shared/domain/ids"
	"github.com/rethread/rethread/shared/domain/session"
)

// addTools adds all tools.
func (s *server) addTools(to *sdk.Server) error {
	return errors.Join(
		addTool(s, to, reading("list_sessions", "List sessions",
			"Lists the caller's sessions, the one with the newest activity first; with shared, those of others that are shared with the "+
				"caller. updated_time is when a session last came to the top of the list, and head_seq is null: get_session has the exact ones. "+
				"A page may be short, or empty, and still not be the last: go on with next_cursor until it is null."),
			listRules(), s.listSessions),
		addTool(s, to, reading("search_sessions", "Search sessions",
			"Lists the sessions whose name contains each word of a text, in any order and whatever the case; otherwise like list_sessions. "+
				"With in=messages, those in which all words were said in one message: match is the newest such message, with an excerpt, "+
				"and read_session reads what is around it."),
			listRules().with("query", length(1, session.MaxName)).with("in", oneOf(names, messages)), s.searchSessions),
		addTool(s, to, reading("get_session", "Get a session",
			"Returns a session without its events: name, agent, status, active run, metadata, fork, head_seq, updated_time."),
			sessionRules(), s.getSession),
		addTool(s, to, reading("read_session", "Read a session",
			"Returns a page of a session's events: what was said, by author and invocation_id, oldest first. Rewound events are "+
				"left out; view=all has them, and the markers of rewinds. Go on with next_cursor until it is null. A rewind in between "+
				"makes the cursor invalid: then begin again. An event larger than max_bytes is shown without its content, with omitted_bytes."),
			readRules(), s.readSession),
		addTool(s, to, forkTool(), forkRules(), s.forkSession),
		addTool(s, to, rewindTool(), rewindRules(), s.rewindSession),
		addTool(s, to, reading("list_artifacts", "List artifacts",
			"Lists the latest version of each artifact (file) of a session, with the URI at which it can be read as a resource."),
			sessionRules().with("limit", number(1, maxList, defaultList)), s.listArtifacts),
		addTool(s, to, reading("read_artifact", "Read an artifact",
			"Returns the content of an artifact, its latest version unless one is given, as a resource: text as text, anything else as base64."),
			sessionRules().with("name", length(1, ids.MaxLength)).with("version", number(0, 1<<53-1, -1)), s.readArtifact),
	)
}

// reading returns a tool that changes nothing.
func reading(name, title, description string) *sdk.Tool {
	return &sdk.Tool{
		Name: name, Title: title, Description: description,
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: new(bool)},
	}
}

// addTool adds a tool whose arguments are of the type In, within the limits of rules.
// What do returns becomes the result; a *sdk.CallToolResult is one already.
func addTool[In any](s *server, to *sdk.Server, t *sdk.Tool, limits rules, do func(context.Context, In) (any, error)) error {
	schema, err := jsonschema.For[In](nil)
	if err != nil {
		return fmt.Errorf("%s: %w", t.Name, err)
	}
	for name, limit := range limits {
		property, ok := schema.Properties[name]
		if !ok {
			return fmt.Errorf("%s has no argument %s", t.Name, name)
		}
		limit(property)
	}
	t.InputSchema = schema
	sdk.AddTool(to, t, func(ctx context.Context, _ *sdk.CallToolRequest, in In) (*sdk.CallToolResult, any, error) {
		out, err := do(ctx, in)
		if err != nil {
			return refusal(s.fault(ctx, err)), nil, nil
		}
		if made, ok := out.(*sdk.CallToolResult); ok {
			return made, nil, nil
		}
		made, err := result(out)
		return made, nil, err
	})
	return nil
}

// rules limit the arguments of a tool, by name.
type rules map[string]func(*jsonschema.Schema)

// with adds the limits of an argument.
func (r rules) with(name string, limit func(*jsonschema.Schema)) rules {
	r[name] = limit
	return r
}

// sessionRules limit the id of a session.
func sessionRules() rules { return rules{"session_id": length(1, ids.MaxLength)} }

// length limits a text, in characters.
func length(least, most int) func(*jsonschema.Schema) {
	return func(s *jsonschema.Schema) { s.MinLength, s.MaxLength = &least, &most }
}

// number limits an integer. A negative default is none.
func number(least, most, absent int64) func(*jsonschema.Schema) {
	return func(s *jsonschema.Schema) {
		low, high := float64(least), float64(most)
		s.Minimum, s.Maximum = &low, &high
		if absent >= 0 {
			s.Default = fmt.Appendf(nil, "%d", absent)
		}
	}
}

// oneOf limits a text to words.
func oneOf(words ...any) func(*jsonschema.Schema) {
	return func(s *jsonschema.Schema) { s.Enum = words }
}
