package endpoint

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/rethread/rethread/shared/domain/run"
)

// Codes of agents' errors, besides those of package run.
const (
	CodeUnreachable = "agent_unreachable" // no connection
	CodeRefused     = "agent_refused"     // a status other than success
	CodeTimeout     = "agent_timeout"     // silent for too long
	CodeEndedEarly  = "agent_ended_early" // the answer stopped before it was done
	CodeProtocol    = "agent_protocol"    // the answer breaks the protocol
	CodeCard        = "agent_card"        // the card of an A2A agent is missing or of no use
	CodeA2A         = "a2a_error"         // an A2A agent answered with an error of the protocol
	CodeSecret      = "agent_secret"      // a secret of the configuration cannot be read
	CodeLoop        = "agent_loop"        // agents of Rethread call each other too deeply
	// CodeAgentCancelled is the code of runs that the agent itself cancelled.
	CodeAgentCancelled = "agent_cancelled"
)

// maxCode is the maximum length of an agent's own error code, in characters.
const maxCode = 64

// Error is a fault of an agent. Message is for users of the session; Detail, such as
// the agent's answer, is for operators. Neither contains a secret of the
// configuration.
type Error struct {
	Code    string
	Message string
	Detail  string
	Cause   error

	quotes bool // Message is from the agent
}

func (e *Error) Error() string {
	text := e.Code + ": " + e.Message
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	return text
}

// Unwrap returns the cause, if any.
func (e *Error) Unwrap() error { return e.Cause }

// Logged returns the error without the agent's words, which may quote the
// conversation.
func (e *Error) Logged() string {
	switch {
	case e.quotes:
		return e.Code
	case e.Cause != nil && e.Detail != "": // the detail contains the cause
		return e.Error()
	default:
		return e.Code + ": " + e.Message
	}
}

// Problem returns the error as the run and its watchers show it.
func (e *Error) Problem() *run.Problem { return run.NewProblem(e.Code, e.Message) }

// NewError returns an error with a code and a formatted message.
func NewError(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Because adds the cause. Its text becomes the detail.
func (e *Error) Because(cause error) *Error {
	e.Cause, e.Detail = cause, Excerpt(cause.Error())
	return e
}

// Quote makes the agent's own words the detail, which logs leave out.
func (e *Error) Quote(text string) *Error {
	e.Detail, e.quotes = Excerpt(text), true
	return e
}

// Reported returns the error for an agent's error event.
func Reported(code, message string) *Error {
	if !PlainCode(code) {
		code = run.CodeAgent
	}
	if message = clean(message, run.MaxError); message == "" {
		message = "the agent failed without saying why"
	}
	return &Error{Code: code, Message: message, quotes: true}
}

// PlainCode reports whether a text can be the code of an error.
func PlainCode(code string) bool {
	odd := func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_.-", r)
	}
	return code != "" && len(code) <= maxCode && !strings.ContainsFunc(code, odd)
}

// Excerpt returns the beginning of a text as one line.
func Excerpt(text string) string { return clean(text, maxExcerpt) }

// clean turns a text into one line of valid UTF-8 of at most limit bytes.
func clean(text string, limit int) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	text = strings.Join(strings.Fields(text), " ")
	const more = "…"
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit-len(more)], "") + more
}
