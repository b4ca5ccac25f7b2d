package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/base/problem"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/ids"
	"github.com/rethread/rethread/shared/observe/logs"
)

// Methods that the SDK would answer from a fixed list, and with a stream.
const (
	methodListResources = "resources/list"
	methodListen        = "subscriptions/listen"
)

// requestKey is the key of the HTTP request's context in a call's context.
type requestKey struct{}

// receive wraps all methods. A call ends with its HTTP request, and a panic in it does
// not end the process.
func (s *server) receive(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (out sdk.Result, err error) {
		defer func() {
			if v := recover(); v != nil {
				s.logPanic(ctx, v)
				out, err = nil, rpcError(problem.Internal())
			}
		}()
		if of, ok := ctx.Value(requestKey{}).(context.Context); ok {
			inner, cancel := context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(of, cancel)() //nolint:contextcheck // the SDK's context outlives the request's
			ctx = inner
		}
		if called, ok := r.(*sdk.CallToolRequest); ok && called.Params != nil && jsonx.IsNull(called.Params.Arguments) {
			called.Params.Arguments = nil // the SDK cannot apply defaults to null
		}
		switch method {
		case methodListResources:
			return s.listResources(ctx, next, r)
		case methodListen: // it would stream
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "this server has no subscriptions"}
		}
		return next(ctx, method, r)
	}
}

// do calls do with the caller's permission for an action on a session. A session that
// the caller may not read does not exist for the caller.
func (s *server) do(ctx context.Context, id string, a access.Action, do func(access.Permission) error) error {
	if err := ids.Check("session_id", id); err != nil {
		return err
	}
	logs.Add(ctx, slog.String(logs.SessionID, id))
	caller := access.CallerOf(ctx)
	readable := false // whether the refusal came from what is done in a session that the caller may use
	err := s.gate.Do(ctx, caller, id, a, func(p access.Permission) error {
		readable = readable || p.Guest()
		return do(p)
	})
	if !errors.Is(err, fault.Of(fault.Forbidden)) || readable {
		return err
	}
	if a.Right() == access.Read {
		return fault.Missing("Session")
	}
	if _, hidden := s.gate.Permission(ctx, caller, id, access.ReadSession); hidden != nil {
		if errors.Is(hidden, fault.Of(fault.Forbidden)) || errors.Is(hidden, fault.Of(fault.NotFound)) {
			return fault.Missing("Session")
		}
		return hidden
	}
	return err
}

// fault returns the fault to answer with, and logs an error that is not one.
func (s *server) fault(ctx context.Context, err error) *fault.Error {
	f, expected := problem.Of(err)
	if !expected && ctx.Err() == nil {
		s.Log.ErrorContext(ctx, "a call failed", "error", err)
	}
	return f
}

// refusal returns a fault as the result of a tool, which a model can read.
func refusal(f *fault.Error) *sdk.CallToolResult {
	return &sdk.CallToolResult{
		IsError:           true,
		Content:           []sdk.Content{&sdk.TextContent{Text: f.Detail}},
		StructuredContent: json.RawMessage(problem.New(f, "").Body),
	}
}

// rpcError returns a fault as the error of a method other than a tool.
func rpcError(f *fault.Error) error {
	code := int64(jsonrpc.CodeInvalidParams)
	if f.Kind == 0 || f.Kind == fault.Busy {
		code = jsonrpc.CodeInternalError
	}
	return &jsonrpc.Error{Code: code, Message: f.Detail, Data: json.RawMessage(problem.New(f, "").Body)}
}

// result returns a value as the result of a tool: structured, and as the text that
// older clients read.
func result(value any) (*sdk.CallToolResult, error) {
	raw, err := jsonx.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encode a result: %w", err)
	}
	return &sdk.CallToolResult{
		Content: []sdk.Content{&sdk.TextContent{Text: string(raw)}}, StructuredContent: json.RawMessage(raw),
	}, nil
}
