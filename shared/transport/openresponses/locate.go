package openresponses

import (
	"context"
	"errors"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/openresponses/responsesconvert"
)

// repeated returns the response that the same request created before.
func (c *creation) repeated(ctx context.Context) (found, bool, error) {
	if c.body == "" {
		return found{}, false, nil
	}
	sessions := []string{c.session}
	if c.req.Conversation != "" {
		sessions = []string{c.req.Conversation}
	} else if previous, ok := responsesconvert.ParseID(c.req.Previous); ok {
		sessions = append(sessions, previous.SessionID)
	}
	for _, id := range sessions {
		of, err := c.readSession(ctx, id, access.StartRun)
		if errors.Is(err, fault.Of(fault.NotFound)) {
			continue
		}
		if err != nil {
			return found{}, false, err
		}
		f, ok, err := c.begunIn(ctx, of)
		if ok || err != nil {
			return f, ok, err
		}
	}
	return found{}, false, nil
}

// begunIn returns the response of the request in a session.
func (c *creation) begunIn(ctx context.Context, of session.Session) (found, bool, error) {
	f := found{id: responsesconvert.ID{SessionID: of.ID, RunID: c.runID}, of: of}
	var err error
	if f.Run, err = c.Runs.Run(ctx, f.ref()); err != nil {
		if errors.Is(err, fault.Of(fault.NotFound)) {
			return f, false, nil
		}
		return f, false, err
	}
	if err := c.readOwn(ctx, &f); err != nil {
		return f, false, err
	}
	record := responsesconvert.RunRecord(f.Own)
	if record.Body != "" && record.Body != c.body {
		return f, false, fault.Field(fault.OtherInput, "Idempotency-Key", "was used for another request").With("code", codeKey)
	}
	f.id.After = record.After
	f.ID = f.id
	return f, true, nil
}

// locate returns where the run begins: after the previous response, at the end of the
// conversation, or in a new session.
func (c *creation) locate(ctx context.Context) (position, error) {
	switch {
	case c.req.Previous != "":
		return c.afterPrevious(ctx)
	case c.req.Conversation != "":
		of, err := c.readSession(ctx, c.req.Conversation, access.StartRun)
		if err != nil {
			return position{}, at("/conversation", err)
		}
		at := position{of: of}
		newest, err := c.newest(ctx, of, 0)
		at.known = responsesconvert.Calls(newest)
		return at, err
	}
	of, err := c.createSession(ctx)
	return position{of: of, created: true}, err
}

// at returns a fault that nothing was found as one of a field of the request.
func at(pointer string, err error) error {
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.NotFound {
		return err
	}
	out := *f
	out.Violations = []fault.Violation{{Pointer: pointer, Detail: "does not exist"}}
	return &out
}

// newest reads the newest events of a session, in order; before is a position that they
// are before, 0 for all.
func (s *server) newest(ctx context.Context, of session.Session, before int64) ([]session.Event, error) {
	page, err := s.Sessions.Events(ctx, of.UserID, of.ID, session.EventQuery{
		View: session.Effective, Descending: true, Before: before, Limit: session.DefaultPage,
	})
	if err != nil {
		return nil, err
	}
	return reversed(page.Events), nil
}
