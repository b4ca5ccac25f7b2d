package content

import (
	"encoding/json"
	"strings"

	"github.com/rethread/rethread/shared/base/jsonx"
)

// Part is a part of a content: text, thinking, a function call, the response to one, a
// file or data. Several members may be set. One that was parsed is written as it came,
// with its unknown members; others with their members in alphabetical order.
type Part struct {
	Data     json.RawMessage `json:"data,omitempty"` // of a message of A2A, which Text has in words
	Name     string          `json:"display_name,omitempty"`
	File     *File           `json:"file_data,omitempty"`
	Call     *Call           `json:"function_call,omitempty"`
	Response *Response       `json:"function_response,omitempty"`
	Inline   *Inline         `json:"inline_data,omitempty"`
	MIMEType string          `json:"mime_type,omitempty"`
	Metadata json.RawMessage `json:"part_metadata,omitempty"`
	Text     *string         `json:"text,omitempty"`
	Thought  bool            `json:"thought,omitempty"` // Text is thinking

	raw json.RawMessage
	odd bool // of another shape
}

// Call is a function call.
type Call struct {
	Args     json.RawMessage `json:"args,omitempty"`
	ArgsText *string         `json:"args_text,omitempty"` // instead of Args while the call is in progress
	ID       string          `json:"id,omitempty"`
	Name     string          `json:"name,omitempty"`

	Raw json.RawMessage `json:"-"` // the whole as it came, written instead of the other members
}

// Response is the response to a function call.
type Response struct {
	ID       string          `json:"id,omitempty"`
	Name     string          `json:"name"`
	Response json.RawMessage `json:"response"`

	Raw json.RawMessage `json:"-"` // the whole as it came, written instead of the other members
}

// Inline is a file whose bytes, in base64, are part of the content.
type Inline struct {
	Data     string `json:"data"`
	Name     string `json:"display_name,omitempty"`
	MIMEType string `json:"mime_type,omitempty"`
}

// File is a file at an address.
type File struct {
	Name     string `json:"display_name,omitempty"`
	URI      string `json:"file_uri"`
	MIMEType string `json:"mime_type,omitempty"`
}

// MarshalJSON writes a part.
func (p Part) MarshalJSON() ([]byte, error) {
	if p.raw != nil {
		return p.raw, nil
	}
	type members Part
	return jsonx.Marshal(members(p))
}

// Raw returns a part that was parsed as it came.
func (p Part) Raw() json.RawMessage { return p.raw }

// Unknown returns a part that was parsed as one of none of the kinds.
func (p Part) Unknown() Part { return Part{Data: p.Data, Metadata: p.Metadata, raw: p.raw, odd: true} }

// MarshalJSON writes a call.
func (c Call) MarshalJSON() ([]byte, error) {
	if c.Raw != nil {
		return c.Raw, nil
	}
	type members Call
	return jsonx.Marshal(members(c))
}

// MarshalJSON writes a response.
func (r Response) MarshalJSON() ([]byte, error) {
	if r.Raw != nil {
		return r.Raw, nil
	}
	type members Response
	return jsonx.Marshal(members(r))
}

// Text returns a text as a part.
func Text(text string) Part { return Part{Text: &text} }

// Data returns a file as a part: its bytes in base64. mediaType and name may be "".
func Data(mediaType, data, name string) Part {
	return Part{Inline: &Inline{MIMEType: mediaType, Name: name, Data: data}}
}

// Address returns a file at an address as a part. mediaType and name may be "".
func Address(mediaType, uri, name string) Part {
	return Part{File: &File{MIMEType: mediaType, Name: name, URI: uri}}
}

// Answer returns the response to a function call as a part. id may be "".
func Answer(id, name string, response json.RawMessage) Part {
	return Part{Response: &Response{ID: id, Name: name, Response: response}}
}

// Named returns a file that only its provider can find, in words.
func Named(mediaType, name string) Part {
	return Text("[file: " + strings.TrimSpace(mediaType+" "+name) + "]")
}
