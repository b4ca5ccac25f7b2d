// Package pageclient is a client of the WebSocket API, written only from
// docs/watching.md and the schemas of infra/asyncapi.yaml. It represents
// third-party clients: it uses nothing of shared/domain/watch or of our own
// clients.
package pageclient

import (
	"encoding/json"
	"fmt"
	"time"
)

// Hold is how long a message waits for those before it (rule 10).
const Hold = time.Second

// Session is a client's copy of one session. It is not safe for concurrent use.
type Session struct {
	Items  []*Item
	Status string
	// Queued holds the inputs that wait, as in JSON, as of QueueVersion.
	Queued       []map[string]any
	QueueVersion int64

	at       Cursor
	statusAt int64 // position of the message with the status
	held     []heldMessage

	begin *Cursor // of the thread that was read, until the subscription

	needsThread, ended bool
}

// Item is an event of a session.
type Item struct {
	Seq    int64
	ID     string
	Offset int64          // of an item in progress: the number of deltas in its content
	Event  map[string]any // as in JSON, with numbers as text
}

type heldMessage struct {
	message
	since time.Time
}

// New returns an empty session.
func New() *Session { return &Session{needsThread: true} }

// NeedsThread reports whether the thread must be read before anything else.
func (s *Session) NeedsThread() bool { return s.needsThread && !s.ended }

// Ended reports whether the session was deleted.
func (s *Session) Ended() bool { return s.ended }

// Gone records that the session no longer exists.
func (s *Session) Gone() { s.ended = true }

// Hear applies one message about the session.
func (s *Session) Hear(text []byte, now time.Time) error {
	m, err := parse(text)
	if err != nil {
		return err
	}
	switch {
	case s.ended:
	case m.Type == "thread.deleted":
		s.ended = true
	case s.needsThread && m.Type == "thread.reload": // rule 1
	case s.needsThread || !s.take(m):
		s.held = append(s.held, heldMessage{m, now})
	default:
		s.tryHeld()
	}
	return nil
}

// tryHeld implements rule 9.
func (s *Session) tryHeld() {
	for again := true; again && !s.needsThread; {
		again = false
		waiting := s.held
		s.held = nil
		for i, h := range waiting {
			if s.needsThread {
				s.held = append(s.held, waiting[i:]...)
				break
			}
			if s.take(h.message) {
				again = true
			} else {
				s.held = append(s.held, h)
			}
		}
	}
}

// Asks returns when to subscribe again because a message is missing; false if none
// is.
func (s *Session) Asks() (time.Time, bool) {
	if s.ended || s.needsThread || len(s.held) == 0 {
		return time.Time{}, false
	}
	first := s.held[0].since
	for _, h := range s.held {
		if h.since.Before(first) {
			first = h.since
		}
	}
	return first.Add(Hold), true
}

// far is how many positions an item in progress may lag behind to still get
// messages.
const far = 100

// Lacks records that messages are missing, or may be because the connection broke:
// the thread must be read, or the session subscribed to (rule 10).
func (s *Session) Lacks() {
	s.begin = nil
	if it := s.open(); it != nil && s.at.Seq-it.Seq >= far {
		s.needsThread = true
	}
}

// Subscribe returns the cursor for a subscription now.
func (s *Session) Subscribe(now time.Time) string {
	for i := range s.held {
		s.held[i].since = now
	}
	from := s.at
	if it := s.open(); it != nil {
		from.Seq, from.Offset = it.Seq, it.Offset
		if it.Offset == 0 {
			from.Seq--
		}
	}
	if s.begin != nil {
		from, s.begin = *s.begin, nil
	}
	return from.String()
}

// open is the item in progress.
func (s *Session) open() *Item {
	for _, it := range s.Items {
		if it.inProgress() {
			return it
		}
	}
	return nil
}

// Waiting describes the held messages, for failing tests.
func (s *Session) Waiting() string {
	text := fmt.Sprintf("at %s", s.at)
	for _, h := range s.held {
		text += fmt.Sprintf("; %s %s from %s", h.Type, h.Cursor, h.Prev)
	}
	return text
}

func (s *Session) item(m message) *Item {
	for _, it := range s.Items {
		if it.ID == m.ItemID {
			return it
		}
	}
	return nil
}

func (it *Item) inProgress() bool { return it.Event["status"] == "in_progress" }

func newItem(raw json.RawMessage, offset int64) (*Item, error) {
	it := &Item{Offset: offset}
	var err error
	if it.Event, err = object(raw); err != nil {
		return nil, err
	}
	var head struct {
		ID  string `json:"id"`
		Seq int64  `json:"seq"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return nil, fmt.Errorf("read an item: %w", err)
	}
	it.ID, it.Seq = head.ID, head.Seq
	return it, nil
}
