package rethread

// Run is the execution of one invocation by an agent.
type Run struct {
	ID        string `json:"id"`
	SessionID string `json:"session_id"`
	Agent     string `json:"agent"`
	Mode      string `json:"mode"` // agent or external
	// Status is in_progress, queued, completed, failed or cancelled.
	Status        string    `json:"status"`
	Error         *RunError `json:"error"` // of a failed run
	StartedTime   Time      `json:"started_time"`
	EndedTime     *Time     `json:"ended_time"` // nil until it has ended
	Continuations int       `json:"continuations,omitempty"`
	// OnFailed is keep if the run is kept should it fail or be cancelled, or was kept.
	OnFailed   string `json:"on_failed,omitempty"`
	QueuedTime Time   `json:"queued_time,omitzero"` // when the input was accepted, if it waited
	TraceID    string `json:"trace_id,omitempty"`   // of the worker that executed the run
}

// RunError is why a run failed.
type RunError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// SentRequest is a request as it was sent to an agent, without headers and query.
type SentRequest struct {
	Number       int    `json:"number"`                 // among the requests of its worker
	Continuation int    `json:"continuation,omitempty"` // workers that were lost before it
	SentTime     Time   `json:"sent_time"`
	Method       string `json:"method"`
	Path         string `json:"path"`
	Body         string `json:"body"`          // its first 256 KiB
	Size         int64  `json:"size"`          // bytes of the whole body
	Cut          bool   `json:"cut,omitempty"` // the body is longer
	ExpiresTime  Time   `json:"expires_time"`
}

// RunRequest is an input of 1 to 20 events for an agent.
type RunRequest struct {
	Input []InputEvent `json:"input"`
	Agent string       `json:"agent,omitempty"` // by default the session's
	// Mode is agent, the default: a configured agent executes the run; or external: the
	// caller does, with PushDeltas, PushEvents and Update.
	Mode string `json:"mode,omitempty"`
	// OnActive is what to do while another run is active: reject (the default),
	// cancel_and_merge or enqueue.
	OnActive string `json:"on_active,omitempty"`
	// OnFailed is what becomes of the run if it fails or is cancelled: discard, block or
	// keep. The agent's configuration has the default, without which it is discard.
	OnFailed string `json:"on_failed,omitempty"`
	// ExpectedSeq is the log's newest position that the caller has seen; another one is
	// a conflict. It is not for OnActive enqueue.
	ExpectedSeq *int64 `json:"expected_seq,omitempty"`
}

// Cancellation says what becomes of the run that it cancels.
type Cancellation struct {
	// OnFailed is discard, block or keep, by default what the start of the run said.
	OnFailed string `json:"on_failed,omitempty"`
}

// InputEvent is an event of a run's input, whose invocation id is that of the run.
type InputEvent struct {
	ID      string   `json:"id,omitempty"`
	Author  string   `json:"author,omitempty"` // by default user
	Content *Content `json:"content"`
	Actions *Actions `json:"actions,omitempty"`
	Partial bool     `json:"partial,omitempty"` // not stored
	More    More     `json:"-"`
}

// MarshalJSON implements json.Marshaler.
func (e InputEvent) MarshalJSON() ([]byte, error) {
	type plain InputEvent
	return encodeMore(plain(e), e.More)
}

// UnmarshalJSON implements json.Unmarshaler.
func (e *InputEvent) UnmarshalJSON(raw []byte) error {
	type plain InputEvent
	return decodeMore(raw, (*plain)(e), &e.More)
}

// Input returns the input of one text by the user.
func Input(text string) []InputEvent { return []InputEvent{{Content: Text("user", text)}} }

// RunChange keeps an external run alive, or ends it with a Status: completed, failed
// or cancelled. Error is the reason of failed.
type RunChange struct {
	KeepAlive bool        `json:"keep_alive,omitempty"`
	Status    string      `json:"status,omitempty"`
	Error     *RunProblem `json:"error,omitempty"`
}

// RunProblem is the reason given for a failed external run.
type RunProblem struct {
	Code    string `json:"code,omitempty"` // by default agent_failed
	Message string `json:"message"`
}

// RunEvents are completed events of an external run.
type RunEvents struct {
	Events []RunEvent `json:"events"`
}

// RunEvent is an event of an external run, whose invocation id is that of the run.
type RunEvent struct {
	ID      string   `json:"id,omitempty"`
	Author  string   `json:"author,omitempty"` // by default the run's agent
	Content *Content `json:"content,omitempty"`
	Actions *Actions `json:"actions,omitempty"`
	Partial bool     `json:"partial,omitempty"`
	More    More     `json:"-"`
}

// MarshalJSON implements json.Marshaler.
func (e RunEvent) MarshalJSON() ([]byte, error) {
	type plain RunEvent
	return encodeMore(plain(e), e.More)
}

// DeltaPush adds deltas to an item of an external run: up to 500, with 64 KB of text
// together; an item has up to 1 MB.
type DeltaPush struct {
	ItemID string  `json:"item_id"`
	Author string  `json:"author,omitempty"` // of a new item; by default the run's agent
	Role   string  `json:"role,omitempty"`   // of a new item; by default model
	Deltas []Delta `json:"deltas"`
	// Offset is the number of the last delta that is known to be stored; without it, the
	// deltas are appended whatever is stored.
	Offset *int64 `json:"offset,omitempty"`
}

// Delta is an addition to a part: text, thinking, or part of a function call.
type Delta struct {
	Part         int        `json:"part"` // index, from 0
	Thought      bool       `json:"thought,omitempty"`
	Text         string     `json:"text,omitempty"`
	FunctionCall *CallDelta `json:"function_call,omitempty"`
}

// CallDelta begins a function call, and appends to the text of its arguments.
type CallDelta struct {
	ID       string `json:"id,omitempty"`
	Name     string `json:"name,omitempty"`
	ArgsText string `json:"args_text,omitempty"`
}

// Pushed is the position of an item after a push.
type Pushed struct {
	ItemID string `json:"item_id"`
	Seq    int64  `json:"seq"`
	Offset int64  `json:"offset"` // number of its deltas
}

// Thread is a page of what a session shows.
type Thread struct {
	Session Session `json:"session"`
	Status  Status  `json:"status"`
	Items   []Event `json:"items"`  // oldest first, or newest first if asked for so
	Cursor  string  `json:"cursor"` // position to watch from
	Run     *Run    `json:"run"`    // the active or the failed run
	// Offsets holds the number of deltas of items in progress, by id.
	Offsets map[string]int64 `json:"offsets,omitempty"`
	// Queued holds the inputs that wait for runs of their own, in order. QueueVersion
	// grows with each change of it.
	Queued       []QueuedInput `json:"queued,omitempty"`
	QueueVersion int64         `json:"queue_version,omitempty"`
	// NextCursor leads to the next page; "" on the last one.
	NextCursor string `json:"-"`
	// RunID is the run that Start started or queued; "" of other calls.
	RunID string `json:"-"`
}

// QueuedInput is an input that waits for the runs before it.
type QueuedInput struct {
	RunID      string       `json:"run_id"`
	Agent      string       `json:"agent"`
	Input      []InputEvent `json:"input,omitempty"`
	QueuedTime Time         `json:"queued_time"`
}
