package openresponses

import (
	"context"
	"net/http"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/frontend"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
	"github.com/rethread/rethread/shared/transport/openresponses/responsesconvert"
)

// maxKey is the maximum length of an Idempotency-Key.
const maxKey = 255

// postResponse runs an agent. The answer is the response when its run is over, at once
// if it runs in the background, or the stream of the run.
func (s *server) postResponse(w http.ResponseWriter, r *http.Request) error {
	body, err := frontend.ReadBody(w, r)
	if err != nil {
		return err
	}
	req, err := responsesconvert.ParseRequest(r.Context(), body, s.obeys)
	if err != nil {
		return err
	}
	c, err := s.newCreation(r, req, body)
	if err != nil {
		return err
	}
	if req.Background && !req.Stream {
		f, err := c.begin(r.Context())
		if err != nil {
			return err
		}
		return frontend.WriteJSON(w, f.Object())
	}
	return s.WithLease(r.Context(), func(ctx context.Context) error {
		f, err := c.begin(ctx)
		switch {
		case err != nil:
			return err
		case req.Stream:
			s.stream(ctx, w, f, -1)
			return nil
		}
		return s.wait(ctx, w, f)
	})
}

// obeys returns the parameters that an agent obeys, which the caller may call.
func (s *server) obeys(ctx context.Context, agent string) (map[string]bool, error) {
	if !s.agents.HasAgent(agent) {
		return nil, noModel(fault.Field(fault.AgentNotFound, "/model", "is no agent: %s", agent))
	}
	if !s.agents.MayCall(ctx, agent) {
		return nil, notCallable("/model")
	}
	return s.agents.Obeys(agent), nil
}

func noModel(f *fault.Error) error { return f.With("code", codeModel) }

// creation creates a response.
type creation struct {
	*server

	req   responsesconvert.Request
	runID string
	// session is the id of the session, or of the fork, that may have to be created.
	session string
	nonce   string
	// body identifies the body of a request with an Idempotency-Key; "" without one.
	body string
}

// newCreation returns a creation with ids of its own. Those of a request with an
// Idempotency-Key are derived from the key, so the same request again finds what it has
// created.
func (s *server) newCreation(r *http.Request, req responsesconvert.Request, body []byte) (*creation, error) {
	key := r.Header.Get("Idempotency-Key")
	if key == "" {
		return &creation{server: s, req: req, runID: "run_" + s.NewID(), session: newConversation(s.NewID()), nonce: s.NewID()}, nil
	}
	if len(key) > maxKey {
		return nil, fault.Field(fault.Malformed, "Idempotency-Key", "must be at most %d characters", maxKey)
	}
	id := conversation.Digest(access.CallerOf(r.Context()).UserID, key)
	return &creation{
		server: s, req: req, runID: "run_" + id, session: newConversation(id), nonce: id, body: conversation.Digest(string(body)),
	}, nil
}

func newConversation(id string) string { return "conv_" + id }

// createSession creates the session of a response without a conversation.
func (c *creation) createSession(ctx context.Context) (session.Session, error) {
	return c.Create(ctx, session.New{ID: c.session, UserID: access.CallerOf(ctx).UserID, Agent: c.req.Model, Nonce: c.nonce})
}
