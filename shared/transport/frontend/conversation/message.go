package conversation

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// Roles of messages.
const (
	User      = "user"
	Assistant = "assistant"
	Tool      = "tool"
	Reasoning = "reasoning"
	Activity  = "activity"
)

// Message is a message of a session.
type Message struct {
	ID, Role string
	// Pieces is the text of an assistant's message and then its calls, the thought of
	// reasoning, the texts and files of a user, or the response of a tool.
	Pieces []Piece
	// CallID is the call that a tool's message answers. It is never "".
	CallID   string
	Activity ActivityRecord // of an activity

	event int // index
}

// origin is what an input event keeps of the request that it was created from.
type origin struct {
	MessageID string `json:"message_id"`
	run.FrontEnd
}

func originOf(e session.Event) origin {
	var o origin
	if json.Unmarshal(e.Fields[run.FrontEndMember], &o) != nil {
		return origin{} // somebody else's member of that name
	}
	return o
}

// FrontEndOf returns what the front end of an input offers besides it.
func FrontEndOf(e session.Event) run.FrontEnd { return originOf(e).FrontEnd }

// LastInput returns the newest input among events; an empty event without one.
func LastInput(events []session.Event) session.Event {
	for _, e := range slices.Backward(events) {
		if IsInput(e) {
			return e
		}
	}
	return session.Event{}
}

// IsInput reports whether an event is a person's input.
func IsInput(e session.Event) bool { return e.Author == User }

// Roles of instructions.
const (
	System    = "system"
	Developer = "developer"
)

// Instructs reports whether a role is that of instructions.
func Instructs(role string) bool { return role == System || role == Developer }

// InputRole returns the role of an input: User, or that of instructions, which a client
// of another protocol gave as a message of the conversation.
func InputRole(e session.Event) string {
	if role := content.RoleOf(e.Fields["content"]); Instructs(role) {
		return role
	}
	return User
}

// GivenID returns the id that a front end gave the message of an input; without one,
// that of the event.
func GivenID(e session.Event) string {
	if id := originOf(e).MessageID; id != "" {
		return id
	}
	return e.ID
}

// MessageID returns the id of the message of one piece of an event: the event's for
// its first piece that is not a thought. It depends on the kinds of the pieces alone,
// which never change, so it is the same while the event is in progress.
func MessageID(e session.Event, pieces []Piece, i int) string {
	for j, p := range pieces {
		if p.Kind != PieceThought {
			if i == j {
				return e.ID
			}
			break
		}
	}
	return e.ID + ":" + strconv.Itoa(i)
}

// Parent returns the index of the piece whose message contains the call at index i:
// the text before it or, without one, the event's first call.
func Parent(pieces []Piece, i int) int {
	first := i
	for j := i - 1; j >= 0; j-- {
		switch pieces[j].Kind {
		case PieceText:
			return j
		case PieceCall:
			first = j
		case PieceOther, PieceThought, PieceResponse, PieceFile:
		}
	}
	return first
}
