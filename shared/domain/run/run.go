// Package run is the domain of runs: the execution of one invocation by an agent,
// the items it streams, and the deltas that build them. It depends on neither a
// database nor a transport.
package run

import (
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/ids"
	"github.com/rethread/rethread/shared/domain/session"
)

// Limits of runs.
const (
	// Lease is how long a run lives without a heartbeat; the first reader after
	// that marks it failed.
	Lease = 60 * time.Second
	// MaxInput is how many events one input may contain.
	MaxInput = 20
	// MaxMerged is how many events the input of a run may contain together with the
	// input that it takes over.
	MaxMerged = 100
	// MaxItem is the maximum content of one item, in bytes of UTF-8. It keeps a
	// completed item within one page.
	MaxItem = 1 << 20
	// MaxItems is how many items one run may produce.
	MaxItems = 1000
	// MaxError is the maximum length of an error's message, in bytes.
	MaxError = 2000
)

// Status is the status of a run.
type Status string

// The statuses of a run. Only the first is active. A waiting run has not begun; the
// others are final.
const (
	InProgress Status = "in_progress"
	Waiting    Status = "queued"
	Completed  Status = "completed"
	Failed     Status = "failed"
	Cancelled  Status = "cancelled"
)

// Final reports whether the status is final.
func (s Status) Final() bool { return s != InProgress && s != Waiting }

// Mode says who executes a run.
type Mode string

// The modes of a run: managed runs are executed by a Rethread worker that calls a
// configured agent, external ones by an agent elsewhere that pushes its output.
const (
	Managed  Mode = "agent"
	External Mode = "external"
)

// Run is the execution of one invocation; its id is the invocation's. Times
// are epoch milliseconds.
type Run struct {
	ID          string   `json:"id"`
	SessionID   string   `json:"session_id"`
	Agent       string   `json:"agent"`
	Mode        Mode     `json:"mode"`
	Status      Status   `json:"status"`
	Error       *Problem `json:"error"`
	StartedTime int64    `json:"started_time"`
	EndedTime   *int64   `json:"ended_time"`
	// Continuations is how often another worker has taken over the run after its
	// worker was lost.
	Continuations int `json:"continuations,omitempty"`
	// OnFailed is Keep if the run is kept should it fail or be cancelled, or was
	// kept; else "".
	OnFailed OnFailed `json:"on_failed,omitempty"`
	// QueuedTime is when its input was accepted, if that waited. StartedTime is when the
	// run began; while it waits, and if it was cancelled then, the same as QueuedTime.
	QueuedTime int64 `json:"queued_time,omitempty"`
	// TraceID is the trace of the worker that executes the run, if it is traced.
	TraceID string `json:"trace_id,omitempty"`
}

// Problem is why a run, or an item of it, failed.
type Problem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Failure returns why a run that failed did.
func (r Run) Failure() Problem {
	if r.Error == nil {
		return Problem{CodeAgent, "The run failed."}
	}
	return *r.Error
}

// Codes of problems that the system finds. Agents define their own.
const (
	CodeAgent     = "agent_failed"    // the agent returned an error or broke the protocol
	CodeLost      = "worker_lost"     // no heartbeat within the lease
	CodeStart     = "not_started"     // the worker could not be started
	CodeCancelled = "cancelled"       // a caller cancelled the run
	CodeUnknown   = "unknown_agent"   // no agent of that name is configured
	CodeTime      = "out_of_time"     // the worker ran out of time
	CodeLimit     = "limit_exceeded"  // the agent produced more than may be stored
	CodeContent   = "invalid_content" // the streamed content is not complete
	// CodeInterrupted is the code of an item whose worker was lost while its run
	// continues.
	CodeInterrupted = "interrupted"
)

// NewProblem returns a problem whose message is cut to MaxError, at a character.
func NewProblem(code, message string) *Problem {
	if len(message) > MaxError {
		n := MaxError
		for n > 0 && !utf8.RuneStart(message[n]) {
			n--
		}
		message = message[:n]
	}
	return &Problem{Code: code, Message: message}
}

// EndedBy decodes the run that an event ends.
func EndedBy(e session.Event) (Run, error) {
	var ended Run
	if err := json.Unmarshal(e.Fields["run"], &ended); err != nil {
		return Run{}, fmt.Errorf("decode a run: %w", err)
	}
	return ended, nil
}

// Ref identifies a run of a user's session.
type Ref struct {
	UserID    string `json:"user_id"`
	SessionID string `json:"session_id"`
	RunID     string `json:"run_id"`
	// Continuation is set by the worker that has claimed the run: it is the number of
	// workers that were lost before it. Its writes are refused once another worker
	// has taken over the run.
	Continuation int `json:"continuation,omitempty"`
}

// OnActive says what a start does while another run is active.
type OnActive string

// The strategies for a session with an active run.
const (
	Reject         OnActive = "reject"
	CancelAndMerge OnActive = "cancel_and_merge"
	Enqueue        OnActive = "enqueue"
)

// OnFailed says what becomes of a run that failed or was cancelled.
type OnFailed string

// The strategies for runs that failed or were cancelled. The end of a run decides
// whether it is kept. What is not kept is discarded by the next start, unless that
// blocks after a failure.
const (
	Discard OnFailed = "discard"
	Block   OnFailed = "block"
	Keep    OnFailed = "keep"
)

// Start is a request to start a run.
type Start struct {
	Ref             // RunID is the new run's
	Agent    string // "" for the session's
	Mode     Mode
	Input    []session.Event // ids are assigned by the store
	OnActive OnActive
	OnFailed OnFailed // "" for the agent's default
	// ExpectedSeq is the head of the log that the caller has seen; nil accepts any
	// head.
	ExpectedSeq *int64
	// Chain is the automations that led to the run, the first one first.
	Chain []string
	// QueuedTime is when the input was queued, in epoch milliseconds; 0 if it did not wait.
	QueuedTime int64
}

// Validate returns a fault that names the fields that break rules.
func (s Start) Validate() error {
	var broken fault.Broken
	if n := len(s.Input); n == 0 || n > MaxInput {
		broken.Add(fault.Field(fault.Invalid, "/input", "must hold 1 to %d events", MaxInput))
	}
	if s.OnActive == Enqueue && s.Mode == External {
		broken.Add(fault.Field(fault.Invalid, "/on_active", "must not be enqueue for an external run"))
	}
	if s.Agent != "" {
		broken.Add(ids.CheckAgent("/agent", s.Agent))
	}
	return broken.Err()
}
