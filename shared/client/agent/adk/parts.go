package adk

import (
	"encoding/json"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/client/agent/transcript"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/session"
)

// event is an event as ADK's server gets it. The server refuses actions and
// long-running ids in the events of a new session, and unknown members of contents.
type event struct {
	ID           string  `json:"id,omitempty"`
	InvocationID string  `json:"invocationId"`
	Author       string  `json:"author"`
	Timestamp    float64 `json:"timestamp,omitempty"` // seconds since 1970
	Branch       string  `json:"branch,omitempty"`
	Scope        string  `json:"isolationScope,omitempty"`
	Content      message `json:"content"`
}

type message struct {
	Role  string `json:"role"`
	Parts []part `json:"parts"`
}

type part struct {
	Text      *string         `json:"text,omitempty"`
	Thought   bool            `json:"thought,omitempty"`
	Signature string          `json:"thoughtSignature,omitempty"`
	Call      *function       `json:"functionCall,omitempty"`
	Response  *function       `json:"functionResponse,omitempty"`
	Inline    *file           `json:"inlineData,omitempty"`
	File      *file           `json:"fileData,omitempty"`
	Code      json.RawMessage `json:"executableCode,omitempty"`
	Result    json.RawMessage `json:"codeExecutionResult,omitempty"`
}

// function is a call, which has arguments, or a response.
type function struct {
	ID       string          `json:"id,omitempty"`
	Name     string          `json:"name"`
	Args     json.RawMessage `json:"args,omitempty"`
	Response json.RawMessage `json:"response,omitempty"`
}

// file is a file, by its bytes or by its address.
type file struct {
	MimeType string `json:"mimeType,omitempty"`
	Name     string `json:"displayName,omitempty"`
	Data     string `json:"data,omitempty"`
	URI      string `json:"fileUri,omitempty"`
}

func textPart(text string) part { return part{Text: &text} }

// partOf returns a part with the members that ADK knows; a part without any is
// described in words.
func partOf(p transcript.Part) part {
	var more struct {
		Signature string          `json:"thought_signature"`
		Code      json.RawMessage `json:"executable_code"`
		Result    json.RawMessage `json:"code_execution_result"`
	}
	if json.Unmarshal(p.Raw(), &more) != nil {
		return textPart(p.InWords())
	}
	out := part{Text: p.Text, Thought: p.Thought}
	if content.IsBase64(more.Signature) {
		out.Signature = more.Signature
	}
	switch {
	case p.Call != nil:
		out.Call = &function{ID: p.Call.ID, Name: p.Call.Name, Args: p.Call.Args}
	case p.Response != nil:
		out.Response = &function{ID: p.Response.ID, Name: p.Response.Name, Response: transcript.ObjectOr(p.Response.Response, "result")}
	case p.Inline != nil && content.IsBase64(p.Inline.Data):
		out.Inline = &file{MimeType: p.Inline.MIMEType, Name: p.Inline.Name, Data: p.Inline.Data}
	case p.File != nil && p.File.URI != "":
		out.File = &file{MimeType: p.File.MIMEType, Name: p.File.Name, URI: p.File.URI}
	case texts(more.Code, "code", "language") != nil:
		out.Code = texts(more.Code, "code", "language")
	case texts(more.Result, "outcome", "output") != nil:
		out.Result = texts(more.Result, "outcome", "output")
	case p.Text == nil && out.Signature == "":
		return textPart(p.InWords())
	}
	return out
}

// texts returns an object with those of its members that are named, which must be texts;
// nil otherwise.
func texts(raw json.RawMessage, names ...string) json.RawMessage {
	var have map[string]json.RawMessage
	if jsonx.IsNull(raw) || json.Unmarshal(raw, &have) != nil {
		return nil
	}
	kept := map[string]json.RawMessage{}
	for _, name := range names {
		var text string
		v, ok := have[name]
		if ok && json.Unmarshal(v, &text) != nil {
			return nil
		} else if ok {
			kept[name] = v
		}
	}
	out, err := jsonx.Marshal(kept)
	if err != nil {
		return nil
	}
	return out
}

// stringOf returns a member that is a string; "" for anything else.
func stringOf(e session.Event, name string) string {
	var s string
	if json.Unmarshal(e.Fields[name], &s) != nil {
		return ""
	}
	return s
}
