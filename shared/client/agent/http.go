package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// ProtocolVersion is the version in requests (docs/agent-protocol.md). A new member
// of a request does not change it.
const ProtocolVersion = 1

// HTTP is an agent with the protocol of docs/agent-protocol.md.
type HTTP struct{ configured }

// NewHTTP returns the agent at an endpoint.
func NewHTTP(e Endpoint) *HTTP { return &HTTP{configured{newEndpoint(e)}} }

// requestJSON is a request in its external form.
type requestJSON struct {
	ProtocolVersion int             `json:"protocol_version"`
	RunID           string          `json:"run_id"`
	SessionID       string          `json:"session_id"`
	AppName         string          `json:"app_name"`
	UserID          string          `json:"user_id"`
	Agent           string          `json:"agent"`
	Events          []session.Event `json:"events"`
	Truncated       bool            `json:"history_truncated,omitempty"`
	State           session.Values  `json:"state"`
	continuationJSON
}

// Run implements run.Agent.
func (a *HTTP) Run(ctx context.Context, req run.Request, emit func(run.Output) error) error {
	in := requestJSON{
		ProtocolVersion, req.RunID, req.SessionID, req.AppName, req.UserID, req.Agent, req.Events, req.Truncated, req.State,
		continuationOf(req),
	}
	if in.Events == nil {
		in.Events = []session.Event{}
	}
	if in.State == nil {
		in.State = session.Values{}
	}
	body, err := jsonx.Marshal(in)
	if err != nil {
		return fmt.Errorf("encode the request of run %s: %w", req.RunID, err)
	}
	out := newProducer(req, emit)
	stream := func(body io.Reader) error { return readStream(body, out.take) }
	return a.endpoint.ask(ctx, body, stream, out.takeDocument)
}

// cancelled returns the cause of a cancelled context if that ended the call: then the
// agent is not at fault for an incomplete answer.
func cancelled(ctx context.Context, err error) error {
	var failed *Error
	if ctx.Err() != nil && errors.As(err, &failed) && failed.Code == CodeEndedEarly {
		return context.Cause(ctx)
	}
	return err
}

// take handles one server-sent event.
func (p *producer) take(kind, data string) error {
	p.taken++
	raw := json.RawMessage(data)
	switch kind {
	case "item":
		return p.takeItem(raw)
	case "delta":
		d, err := run.ParseDelta(raw, "")
		if err != nil {
			return p.malformed("a delta", err)
		}
		return p.delta(d)
	case "event":
		return p.event(raw)
	case "ping":
		return nil
	case "error":
		return takeError(raw)
	case "done":
		if err := p.finish(); err != nil {
			return err
		}
		return errStop
	}
	return newError(CodeProtocol, "the agent sent an event of an unknown type %q", clean(kind, maxExcerpt))
}

func (p *producer) takeItem(raw json.RawMessage) error {
	var item struct{ ID, Author, Role string }
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if !json.Valid(raw) || jsonx.IsNull(raw) || dec.Decode(&item) != nil {
		return p.malformed("an item", fault.New(fault.Malformed, "must be an object with the strings id, author and role, all optional"))
	}
	return p.begin(run.ItemStart(item))
}

// takeError returns the error that an agent reports.
func takeError(raw json.RawMessage) error {
	var e struct{ Code, Message string }
	if err := json.Unmarshal(raw, &e); err != nil {
		return reported("", string(raw))
	}
	return reported(e.Code, e.Message)
}

// takeDocument handles the answer of an agent that does not stream.
func (p *producer) takeDocument(body io.Reader) error {
	text, err := readDocument(body)
	if err != nil {
		return err
	}
	var doc struct {
		Events []json.RawMessage
		Error  json.RawMessage
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		return newError(CodeProtocol, "the agent answered with malformed JSON").because(err)
	}
	for _, raw := range doc.Events {
		p.taken++
		if err := p.event(raw); err != nil {
			return err
		}
	}
	if !jsonx.IsNull(doc.Error) {
		return takeError(doc.Error)
	}
	return p.finish()
}
