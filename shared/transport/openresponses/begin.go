package openresponses

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/frontend"
	"github.com/rethread/rethread/shared/transport/openresponses/responsesconvert"
)

// maxBegins bounds the tries to begin a run in a session that others change.
const maxBegins = 6

var errAgain = errors.New("the session has changed")

// begin starts the run of a request, or finds the one that the same request started
// before. Another request may continue from the same response at the same time: then it
// looks again.
func (c *creation) begin(ctx context.Context) (f found, err error) {
	for range maxBegins {
		if f, err = c.tryBegin(ctx); !errors.Is(err, errAgain) {
			return f, err
		}
	}
	var goneOn *fault.Error
	if errors.As(err, &goneOn) && goneOn.Extra["code"] == codeDiverged {
		return f, goneOn
	}
	return f, fault.New(fault.Busy, "Other requests change the conversation at the same time.")
}

// position is where a run begins.
type position struct {
	of session.Session
	// created reports that the session was created for the run.
	created bool
	// expected is the head of the log if the run must follow it; nil for any.
	expected *int64
	known    map[string]responsesconvert.Called
	// older reads calls from before known, if an output's call is not among those; nil
	// if there are none.
	older func() (map[string]responsesconvert.Called, error)
}

func (c *creation) tryBegin(ctx context.Context) (found, error) {
	if f, ok, err := c.repeated(ctx); ok || err != nil {
		return f, err
	}
	at, err := c.locate(ctx)
	if err != nil {
		return found{}, err
	}
	f, err := c.start(ctx, at)
	// The session of a request with an Idempotency-Key stays: the same request may have
	// started the run in it at the same time, and finds it when it is repeated.
	if err != nil && at.created && c.body == "" {
		c.Discard(ctx, at.of.UserID, at.of.ID)
	}
	return f, err
}

// start appends the history of the request and starts the run at a position.
func (c *creation) start(ctx context.Context, at position) (found, error) {
	history, input, err := c.events(at)
	if err != nil {
		return found{}, err
	}
	access.CallerOf(ctx).StampAll(history)
	access.CallerOf(ctx).StampAll(input)
	after := at.of.HeadSeq
	record := responsesconvert.Record{After: after, Body: c.body, Tools: c.agents.ClientTools(c.req.Model), Shown: c.req.Shown}
	if err := responsesconvert.Offer(input, record, c.req.Offer); err != nil {
		return found{}, err
	}
	head, err := c.appendHistory(ctx, at, history)
	if err != nil {
		return found{}, err
	}
	id := responsesconvert.ID{SessionID: at.of.ID, RunID: c.runID, After: after}
	f := found{id: id, of: at.of, Response: responsesconvert.Response{ID: id, Own: inputOf(input, c.runID)}}
	f.Run, err = c.Launch(ctx, run.Start{
		Ref: f.ref(), Agent: c.req.Model, Mode: run.Managed, Input: f.Own, OnActive: c.req.OnActive,
		ExpectedSeq: head,
	})
	if err != nil {
		return f, c.conflict(err, at)
	}
	if c.body == "" {
		return f, nil
	}
	// The same request may have started the run at the same time, from another position.
	if stored, ok, err := c.begunIn(ctx, at.of); ok || err != nil {
		return stored, err
	}
	return f, nil
}

// events returns the request's items as events, which answer calls of the position.
func (c *creation) events(at position) (history, input []session.Event, err error) {
	history, input, err = responsesconvert.Events(c.req.Input, c.req.Model, at.known)
	var f *fault.Error
	if errors.As(err, &f) && f.Extra["code"] == responsesconvert.CodeNoCall && at.older != nil {
		known, failed := at.older()
		if failed != nil {
			return nil, nil, failed
		}
		for id, call := range at.known {
			known[id] = call
		}
		history, input, err = responsesconvert.Events(c.req.Input, c.req.Model, known)
	}
	if err == nil && len(input) == 0 {
		err = fault.Field(fault.Invalid, "/input", "must end with a message of the user or the output of a call")
	}
	return history, input, err
}

// appendHistory appends the events before the input, which may be sent again, and
// returns the head that the run must follow.
func (c *creation) appendHistory(ctx context.Context, at position, history []session.Event) (*int64, error) {
	head := at.expected
	invocation := responsesconvert.HistoryOf(c.runID)
	for i := range history {
		history[i].InvocationID, history[i].ID = invocation, invocation+"."+strconv.Itoa(i+1)
	}
	for batch := range slices.Chunk(history, session.MaxBatch) {
		stored, _, err := c.Sessions.Append(ctx, session.Append{
			SessionID: at.of.ID, UserID: at.of.UserID, Events: batch, ExpectedSeq: head,
		})
		if err != nil {
			return nil, c.conflict(err, at)
		}
		if head != nil {
			last := max(*head, stored[len(stored)-1].Seq)
			head = &last
		}
	}
	return head, nil
}

// conflict returns errAgain if the position is no longer the head, and what a busy
// conversation is answered.
func (c *creation) conflict(err error, at position) error {
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Conflict {
		return err
	}
	runID, busy := frontend.Busy(err)
	switch {
	case at.expected != nil && (busy || f.Extra["head_seq"] != nil):
		return fmt.Errorf("%w: %w", errAgain, err)
	case busy:
		return busyWith(runID, at.of.ID)
	}
	return err
}

func busyWith(runID, conversationID string) error {
	return fault.New(fault.RunActive, "A response is in progress in this conversation.").
		With("code", codeBusy).With("run_id", runID).With("conversation_id", conversationID)
}
