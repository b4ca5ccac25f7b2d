// Package delivery is the domain of telling others what happened, over HTTP and
// until they have heard it: what happened becomes an Event, an event becomes a
// Delivery for each Target that wants it, deliveries wait in a queue that keeps
// their order, and a Courier brings them. It knows neither a cloud nor what the
// messages of a kind of targets look like; those come from a Maker.
package delivery

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
)

// Type says what happened.
type Type string

// What is told of. Receivers of webhooks hear of all but the last two, which
// A2A tells in its own way.
const (
	SessionCreated  Type = "session.created" // or imported
	SessionRewound  Type = "session.rewound"
	SessionForked   Type = "session.forked" // of the new session
	SessionDeleted  Type = "session.deleted"
	RunStarted      Type = "run.started"
	RunCompleted    Type = "run.completed"
	RunFailed       Type = "run.failed"
	RunCancelled    Type = "run.cancelled"
	TaskSaved       Type = "task.saved"
	FeedbackCreated Type = "feedback.created"
	ArtifactSaved   Type = "artifact.saved"

	ItemCompleted Type = "item.completed" // or failed: it grows no more
	TaskCancelled Type = "task.cancelled" // an A2A task, while it waited for its user
)

// EndsRun reports whether the event is that a run is over.
func (t Type) EndsRun() bool { return t == RunCompleted || t == RunFailed || t == RunCancelled }

// Event is something that happened to a session, by reference: who tells of it
// reads the facts where they are stored.
type Event struct {
	// ID is the same however often the event is told.
	ID   string `json:"id"`
	Type Type   `json:"type"`
	// UserID and SessionID say whose it is and, of what belongs to a session,
	// which; Agent is the one that the session names or, of a run, that runs.
	// ItemCompleted has them only where the change alone tells.
	UserID    string `json:"user_id,omitempty"`
	SessionID string `json:"session_id,omitempty"`
	Agent     string `json:"agent,omitempty"`
	// Log is the name of the session's log.
	Log string `json:"log,omitempty"`
	// RunID is the run or, of TaskCancelled, the task. TaskID is the task of
	// TaskSaved and FeedbackCreated.
	RunID  string `json:"run_id,omitempty"`
	TaskID string `json:"task_id,omitempty"`
	// Source, of SessionForked, is the session that was forked.
	Source string `json:"source,omitempty"`
	// Before, of SessionRewound and SessionForked, is the invocation before which
	// it was; "" for a fork of everything.
	Before string `json:"before,omitempty"`
	// Artifact and Version name the version of ArtifactSaved.
	Artifact string `json:"artifact,omitempty"`
	Version  int64  `json:"version,omitempty"`
	// Feedback is the type of FeedbackCreated.
	Feedback string `json:"feedback,omitempty"`
	// Error is the code of why a run failed.
	Error string `json:"error,omitempty"`
	// Depth is how many automations, one after the other, led to it; 0 where
	// somebody else did it. Chain is their ids, the first one first.
	Depth int      `json:"depth,omitempty"`
	Chain []string `json:"chain,omitempty"`
	// Seq is the position of the log that the event stands at, 0 for one that
	// takes none.
	Seq int64 `json:"seq,omitempty"`
	// Time is when it happened, in epoch milliseconds.
	Time int64 `json:"time"`
}

// Kind is a kind of targets: what is sent to them, and where that is configured.
type Kind string

// Target is who is told. Its name says to its kind's Maker which one it is.
type Target struct {
	Kind Kind   `json:"kind"`
	Name string `json:"name"`
}

// Group names the order that deliveries to this target keep.
func (t Target) Group() string { return digest(string(t.Kind), t.Name) }

// Delivery is an event for a target. It holds references only, so that it fits
// into any queue, and so that what is sent is what is true at that time.
type Delivery struct {
	Event  Event  `json:"event"`
	Target Target `json:"target"`
	// Again is set where somebody wants it delivered another time: it makes another
	// one of it for the queue, and for nobody else.
	Again string `json:"again,omitempty"`
	// Tries is how often it was tried before it was queued again.
	Tries int `json:"tries,omitempty"`
}

// ID is the same for the same event and target.
func (d Delivery) ID() string { return digest(string(d.Target.Kind), d.Target.Name, d.Event.ID) }

// QueueID is ID, unless the delivery is to be made again.
func (d Delivery) QueueID() string {
	if d.Again == "" {
		return d.ID()
	}
	return digest(d.ID(), d.Again)
}

// digest is a short name for parts, which hold no line breaks.
func digest(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		_, _ = fmt.Fprintln(h, part) // never fails
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Message is one request to a target.
type Message struct {
	URL    string
	Header map[string]string
	Body   []byte
}

// Answer is what a target answered.
type Answer struct {
	Status int // as in HTTP
	// RetryAfter is how long it wants to be left alone, 0 where it does not say.
	RetryAfter time.Duration
}

var (
	// ErrNothing says that there is nothing to tell any more: the target is gone,
	// or what happened was taken back.
	ErrNothing = errors.New("there is nothing to deliver")
	// ErrRefused says that a message must not be sent to where its target is.
	ErrRefused = errors.New("the target must not be called")
	// ErrUnqueued says that the queue did not take a delivery.
	ErrUnqueued = errors.New("a delivery cannot be queued")
)

// Targets finds who wants to hear of an event. With an error there may be some as
// well, who are not to wait for the others.
type Targets interface {
	Targets(ctx context.Context, e Event) ([]Target, error)
}

// Queue keeps deliveries until they have been brought, those of a group in the
// order in which they came. One that is put again soon after is kept once.
type Queue interface {
	Put(ctx context.Context, d Delivery) error
}

// Maker makes the messages of one kind of targets.
type Maker interface {
	// Messages are what to send, in order: mostly one. ErrNothing for nothing.
	// Made again, they say the same.
	Messages(ctx context.Context, d Delivery) ([]Message, error)
	// Drop removes a target that answered at this address that it is gone for
	// good.
	Drop(ctx context.Context, t Target, url string) error
}

// Witness is a Maker that hears what became of each try.
type Witness interface {
	// Tried comes after a try. An error of it changes nothing of what becomes of
	// the delivery.
	Tried(ctx context.Context, d Delivery, o Outcome) error
}

// Poster sends messages. ErrRefused for an address that must not be called; any
// other error is one of the moment.
type Poster interface {
	Post(ctx context.Context, m Message) (Answer, error)
}

// Dispatcher queues events for their targets.
type Dispatcher struct {
	Targets Targets
	Queue   Queue
}

// Dispatch queues an event for each of its targets. After an error it may be
// repeated, and must be before later events are dispatched, if the error is
// ErrUnqueued or one that passes. Those who were found are told in any case.
func (d *Dispatcher) Dispatch(ctx context.Context, e Event) error {
	targets, unread := d.Targets.Targets(ctx, e)
	if unread != nil {
		unread = fmt.Errorf("find who wants to hear of %s: %w", e.ID, unread)
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, t := range targets {
		group.Go(func() error {
			if err := d.Queue.Put(ctx, Delivery{Event: e, Target: t}); err != nil {
				return fmt.Errorf("%w: %w", ErrUnqueued, err)
			}
			return nil
		})
	}
	return errors.Join(group.Wait(), unread)
}
