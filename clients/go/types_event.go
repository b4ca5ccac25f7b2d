package rethread

// Event is an immutable entry of a session's log.
type Event struct {
	ID           string   `json:"id"`
	Seq          int64    `json:"seq"` // position in the log, from 1
	SessionID    string   `json:"session_id"`
	InvocationID string   `json:"invocation_id"`
	Author       string   `json:"author"` // user, or the name of an agent
	Content      *Content `json:"content"`
	Actions      *Actions `json:"actions"`
	Status       string   `json:"status"` // completed, in_progress or failed
	Error        any      `json:"error,omitempty"`
	CreatedTime  Time     `json:"created_time"`
	// More holds the other members that the writer sent.
	More More `json:"-"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (e *Event) UnmarshalJSON(raw []byte) error {
	type plain Event
	return decodeMore(raw, (*plain)(e), &e.More)
}

// MarshalJSON implements json.Marshaler.
func (e Event) MarshalJSON() ([]byte, error) {
	type plain Event
	return encodeMore(plain(e), e.More)
}

// Text returns the text of the content's parts, without thinking.
func (e Event) Text() string { return e.Content.Text() }

// EventRequest is an event to append.
type EventRequest struct {
	// ID makes the event safe to send again. One of the form <invocation_id>.<n>, with a
	// number up to 999999999, costs the least. Without an id the server makes one.
	ID           string   `json:"id,omitempty"`
	InvocationID string   `json:"invocation_id"`
	Author       string   `json:"author"` // user, or the name of an agent
	Content      *Content `json:"content,omitempty"`
	Actions      *Actions `json:"actions,omitempty"`
	// Partial marks a part of an event that will follow as a whole; it is not stored.
	Partial bool `json:"partial,omitempty"`
	// More holds other members, which are stored unchanged.
	More More `json:"-"`
}

// MarshalJSON implements json.Marshaler.
func (e EventRequest) MarshalJSON() ([]byte, error) {
	type plain EventRequest
	return encodeMore(plain(e), e.More)
}

// AppendRequest holds 1 to 100 events, which are appended all or none.
type AppendRequest struct {
	Events []EventRequest `json:"events"`
	// ExpectedSeq is the log's newest position; another one is a conflict.
	ExpectedSeq *int64 `json:"expected_seq,omitempty"`
}

// Content is the content of an event, as in ADK.
type Content struct {
	Role  string `json:"role,omitempty"` // user, or model for the output of an agent
	Parts []Part `json:"parts,omitempty"`
	More  More   `json:"-"`
}

// Text returns content of one text.
func Text(role, text string) *Content { return &Content{Role: role, Parts: []Part{{Text: text}}} }

// Text returns the text of all parts, without thinking. It is "" of nil.
func (c *Content) Text() string {
	out := ""
	if c != nil {
		for _, p := range c.Parts {
			if !p.Thought {
				out += p.Text
			}
		}
	}
	return out
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *Content) UnmarshalJSON(raw []byte) error {
	type plain Content
	return decodeMore(raw, (*plain)(c), &c.More)
}

// MarshalJSON implements json.Marshaler.
func (c Content) MarshalJSON() ([]byte, error) {
	type plain Content
	return encodeMore(plain(c), c.More)
}

// Part is a part of a content: one of its members, or another of ADK's in More.
type Part struct {
	Text             string            `json:"text,omitempty"`
	Thought          bool              `json:"thought,omitempty"` // the text is thinking
	FunctionCall     *FunctionCall     `json:"function_call,omitempty"`
	FunctionResponse *FunctionResponse `json:"function_response,omitempty"`
	InlineData       *InlineData       `json:"inline_data,omitempty"`
	FileData         *FileData         `json:"file_data,omitempty"`
	More             More              `json:"-"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *Part) UnmarshalJSON(raw []byte) error {
	type plain Part
	return decodeMore(raw, (*plain)(p), &p.More)
}

// MarshalJSON implements json.Marshaler.
func (p Part) MarshalJSON() ([]byte, error) {
	type plain Part
	return encodeMore(plain(p), p.More)
}

// FunctionCall is a call of a tool. ArgsText is the beginning of the arguments' JSON
// while the item is in progress.
type FunctionCall struct {
	ID       string         `json:"id,omitempty"`
	Name     string         `json:"name,omitempty"`
	Args     map[string]any `json:"args,omitempty"`
	ArgsText string         `json:"args_text,omitempty"`
}

// FunctionResponse is the result of a tool.
type FunctionResponse struct {
	ID       string         `json:"id,omitempty"`
	Name     string         `json:"name,omitempty"`
	Response map[string]any `json:"response,omitempty"`
}

// InlineData is a file within an event.
type InlineData struct {
	MIMEType    string `json:"mime_type,omitempty"`
	Data        []byte `json:"data,omitempty"`
	DisplayName string `json:"display_name,omitempty"`
}

// FileData is a file at an address.
type FileData struct {
	MIMEType    string `json:"mime_type,omitempty"`
	FileURI     string `json:"file_uri,omitempty"`
	DisplayName string `json:"display_name,omitempty"`
}

// Actions are changes of state and artifacts that an event makes.
type Actions struct {
	// StateDelta holds the changed values; null deletes a key. A key's prefix is its
	// scope: none for the session, user:, app:, or temp:, which is not stored.
	StateDelta    map[string]any `json:"state_delta,omitempty"`
	ArtifactDelta map[string]int `json:"artifact_delta,omitempty"`
	More          More           `json:"-"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (a *Actions) UnmarshalJSON(raw []byte) error {
	type plain Actions
	return decodeMore(raw, (*plain)(a), &a.More)
}

// MarshalJSON implements json.Marshaler.
func (a Actions) MarshalJSON() ([]byte, error) {
	type plain Actions
	return encodeMore(plain(a), a.More)
}
