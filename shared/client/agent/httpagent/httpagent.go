// Package httpagent calls agents with the protocol of docs/agent-protocol.md.
package httpagent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/client/agent/agentconfig"
	"github.com/rethread/rethread/shared/client/agent/endpoint"
	"github.com/rethread/rethread/shared/client/agent/output"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// ProtocolVersion is the version in requests (docs/agent-protocol.md). A new member
// of a request does not change it.
const ProtocolVersion = 1

// Agent is an agent with the protocol of docs/agent-protocol.md.
type Agent struct{ endpoint *endpoint.Endpoint }

// New returns the agent at an endpoint.
func New(e agentconfig.Endpoint) *Agent { return &Agent{endpoint.New(e)} }

// Close closes the idle connections.
func (a *Agent) Close() { a.endpoint.Close() }

// requestJSON is a request in its external form.
type requestJSON struct {
	ProtocolVersion int             `json:"protocol_version"`
	RunID           string          `json:"run_id"`
	SessionID       string          `json:"session_id"`
	AppName         string          `json:"app_name"`
	UserID          string          `json:"user_id"`
	Agent           string          `json:"agent"`
	Events          json.RawMessage `json:"events"`
	Truncated       bool            `json:"history_truncated,omitempty"`
	State           session.Values  `json:"state"`
	continuationJSON
}

// Run implements run.Agent.
func (a *Agent) Run(ctx context.Context, req run.Request, emit func(run.Output) error) error {
	body, err := newBody(req)
	if err != nil {
		return fmt.Errorf("encode the request of run %s: %w", req.RunID, err)
	}
	out := reader{output.New(req, emit)}
	stream := func(body io.Reader) error { return endpoint.ReadStream(body, out.take) }
	return a.endpoint.AskWith(ctx, body, stream, out.takeDocument)
}

// reader turns an answer into outputs.
type reader struct{ out *output.Producer }

// take handles one server-sent event.
func (r reader) take(kind, data string) error {
	r.out.Next()
	raw := json.RawMessage(data)
	switch kind {
	case "item":
		return r.takeItem(raw)
	case "delta":
		d, err := content.ParseDelta(raw, "")
		if err != nil {
			return r.out.Malformed("a delta", err)
		}
		return r.out.Delta(d)
	case "event":
		return r.out.Event(raw)
	case "ping":
		return nil
	case "error":
		return takeError(raw)
	case "done":
		if err := r.out.Finish(); err != nil {
			return err
		}
		return endpoint.ErrStop
	}
	return endpoint.NewError(endpoint.CodeProtocol, "the agent sent an event of an unknown type %q", endpoint.Excerpt(kind))
}

func (r reader) takeItem(raw json.RawMessage) error {
	var item struct{ ID, Author, Role string }
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if !json.Valid(raw) || jsonx.IsNull(raw) || dec.Decode(&item) != nil {
		return r.out.Malformed("an item", fault.New(fault.Malformed, "must be an object with the strings id, author and role, all optional"))
	}
	return r.out.Begin(run.ItemStart(item))
}

// takeError returns the error that an agent reports.
func takeError(raw json.RawMessage) error {
	var e struct{ Code, Message string }
	if err := json.Unmarshal(raw, &e); err != nil {
		return endpoint.Reported("", string(raw))
	}
	return endpoint.Reported(e.Code, e.Message)
}

// takeDocument handles the answer of an agent that does not stream.
func (r reader) takeDocument(body io.Reader) error {
	text, err := endpoint.ReadDocument(body)
	if err != nil {
		return err
	}
	var doc struct {
		Events []json.RawMessage
		Error  json.RawMessage
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		return endpoint.NewError(endpoint.CodeProtocol, "the agent answered with malformed JSON").Because(err)
	}
	for _, raw := range doc.Events {
		r.out.Next()
		if err := r.out.Event(raw); err != nil {
			return err
		}
	}
	if !jsonx.IsNull(doc.Error) {
		return takeError(doc.Error)
	}
	return r.out.Finish()
}

// continuationJSON is the part of a request by which an agent continues a run.
type continuationJSON struct {
	Continuation int             `json:"continuation,omitempty"`
	Said         []session.Event `json:"said,omitempty"`
	Unanswered   []string        `json:"unanswered_tool_calls,omitempty"`
}

func continuationOf(req run.Request) continuationJSON {
	return continuationJSON{req.Continuation, req.Said, run.UnansweredCalls(req.Said)}
}
