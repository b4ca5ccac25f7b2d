// Package ledger records callers' requests and their answers, to verify the system
// against them.
package ledger

import (
	"fmt"
	"sync"
	"time"
)

// Outcome is what a caller knows about the result of a request.
type Outcome string

// Outcomes of requests.
const (
	Acked   Outcome = "acked"   // it was done
	Refused Outcome = "refused" // it was not done, and never will be
	Unknown Outcome = "unknown" // the answer was lost or does not reveal the result
)

// Blocks ends the details of a start that waits after a failure.
const Blocks = " (block)"

// Op is one operation, however often it was requested.
type Op struct {
	N        int
	At       time.Time
	Took     time.Duration
	User     string
	Kind     string
	Session  string
	Tokens   []string // texts unique to the operation
	Detail   string
	Expected *int64 // the head that it must follow
	Outcome  Outcome
	Status   int // of the last answer; 0 if there was none
	Tries    int
	Answer   string // the beginning of the last answer
}

// Starts reports whether the operation starts a run, at once or from a queue.
func (o *Op) Starts() bool { return o.Kind == "ask" || o.Kind == "merge" || o.Kind == "enqueue" }

// String formats the operation as a line of a history.
func (o *Op) String() string {
	return fmt.Sprintf("%s +%-6s #%d %s %s %s %v %s → %s %d (%d attempts) %s", o.At.Format("15:04:05.000"), o.Took.Round(time.Millisecond),
		o.N, o.User, o.Kind, o.Session, o.Tokens, o.Detail, o.Outcome, o.Status, o.Tries, o.Answer)
}

// Ledger is safe for concurrent use.
type Ledger struct {
	mu       sync.Mutex
	ops      []*Op
	sessions map[string][]*Op
	requests int
	unknown  int
}

// New returns an empty ledger.
func New() *Ledger { return &Ledger{sessions: map[string][]*Op{}} }

// Begin records the start of an operation. The caller completes it with End.
func (l *Ledger) Begin(op Op) *Op {
	l.mu.Lock()
	defer l.mu.Unlock()
	op.N, op.At, op.Outcome = len(l.ops), time.Now(), Unknown
	added := &op
	l.ops = append(l.ops, added)
	if op.Session != "" {
		l.sessions[op.Session] = append(l.sessions[op.Session], added)
	}
	return added
}

// End records the result.
func (l *Ledger) End(op *Op, change func(*Op)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	session := op.Session
	change(op)
	op.Took = time.Since(op.At)
	if op.Session != session {
		l.sessions[op.Session] = append(l.sessions[op.Session], op)
	}
}

// Of returns copies of the operations on a session, in order of their start.
func (l *Ledger) Of(session string) []Op {
	l.mu.Lock()
	defer l.mu.Unlock()
	return copied(l.sessions[session])
}

// All returns copies of all operations.
func (l *Ledger) All() []Op {
	l.mu.Lock()
	defer l.mu.Unlock()
	return copied(l.ops)
}

func copied(ops []*Op) []Op {
	out := make([]Op, 0, len(ops))
	for _, op := range ops {
		out = append(out, *op)
	}
	return out
}

// CountRequest counts a request, and whether its answer revealed the outcome.
func (l *Ledger) CountRequest(known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests++
	if !known {
		l.unknown++
	}
}

// Requests returns the number of requests, and of those with an unknown outcome.
func (l *Ledger) Requests() (sent, unknown int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.requests, l.unknown
}
