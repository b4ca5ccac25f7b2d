// Package ledger keeps what callers asked and what they were answered, to hold the
// system to it.
package ledger

import (
	"fmt"
	"sync"
	"time"
)

// Outcome is what a caller knows of what it asked.
type Outcome string

// The outcomes.
const (
	Acked   Outcome = "acked"   // it was done
	Refused Outcome = "refused" // it was not, and never will be
	Unknown Outcome = "unknown" // the answer was lost, or says nothing
)

// Op is one thing that was asked, however often.
type Op struct {
	N        int
	At       time.Time
	Took     time.Duration
	User     string
	Kind     string
	Session  string
	Tokens   []string // texts that nobody else wrote
	Detail   string
	Expected *int64 // the head behind which it is to stand
	Outcome  Outcome
	Status   int // of the last answer; 0 is none
	Tries    int
	Answer   string // the beginning of the last one
}

// String is a line of a history.
func (o *Op) String() string {
	return fmt.Sprintf("%s +%-6s #%d %s %s %s %v %s → %s %d (%d tries) %s", o.At.Format("15:04:05.000"), o.Took.Round(time.Millisecond),
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

// New is an empty ledger.
func New() *Ledger { return &Ledger{sessions: map[string][]*Op{}} }

// Begin notes that something is asked. The caller completes it with End.
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

// End notes what came of it.
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

// Of are copies of what was asked of a session, in the order of asking.
func (l *Ledger) Of(session string) []Op {
	l.mu.Lock()
	defer l.mu.Unlock()
	return copied(l.sessions[session])
}

// All are copies of everything that was asked.
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

// Counted notes a request, and whether its answer said anything.
func (l *Ledger) Counted(told bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests++
	if !told {
		l.unknown++
	}
}

// Requests are those that were sent, and those whose outcome was not told.
func (l *Ledger) Requests() (sent, untold int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.requests, l.unknown
}
