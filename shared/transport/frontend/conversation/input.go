package conversation

import (
	"encoding/json"

	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// Input is a request to run an agent.
type Input struct {
	SessionID, RunID string
	State            session.Values // nil for none
	Messages         []Given
	Answers          []Answer
	// AnswersAll is set if answers must be to all interrupts that are open.
	AnswersAll bool
	// FrontEnd is what the agent may use besides the messages.
	run.FrontEnd
	Options
	// At, AnswersAt and SessionAt are the JSON pointers of the messages, of Answers and of
	// SessionID in the request.
	At, AnswersAt, SessionAt string
}

// Given is a message of a request. Only those of a person and of tools can be input.
type Given struct {
	ID, Role string
	// Parts is the content of a person's message.
	Parts []content.Part
	// CallID is the call, by its id for front ends, that a tool's message answers.
	CallID string
	// Response is a tool's answer, an object.
	Response json.RawMessage
	// Err is why the content cannot be input. It is returned if the message is new.
	Err error
	// At and CallAt are the JSON pointers of the message and of its CallID.
	At, CallAt string
}

// Answer is the answer to a call that waits for one.
type Answer struct {
	CallID    string // for front ends
	Cancelled bool
	Value     json.RawMessage // nil for none
	At        string          // the JSON pointer of CallID
}
