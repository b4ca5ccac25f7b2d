package session

import (
	"encoding/json"
	"strconv"
)

// continuation is the member of an event that Continued sets.
const continuation = "continuation"

// Continued returns the event as it is stored by a worker of a run after that many others
// were lost; 0 leaves it as it is.
func (e Event) Continued(lost int) Event {
	if lost == 0 {
		return e
	}
	return e.With(continuation, json.RawMessage(strconv.Itoa(lost)))
}

// Continuation returns how many workers of its run were lost before an event was begun.
func (e Event) Continuation() int {
	var lost int
	if json.Unmarshal(e.Fields[continuation], &lost) != nil {
		return 0 // a caller's member of that name
	}
	return lost
}
