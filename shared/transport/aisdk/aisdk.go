// Package aisdk is the transport of the AI SDK's UI message stream, by which useChat and
// its DefaultChatTransport talk to a server: one for each configured agent, over the
// same sessions and runs as the other transports. A chat is a session.
package aisdk

import (
	"net/http"

	"github.com/rethread/rethread/shared/domain/ids"
	"github.com/rethread/rethread/shared/transport/frontend"
)

// server answers the requests for all agents.
type server struct{ *frontend.Server }

// New returns the server for all agents.
func New(c frontend.Config) http.Handler {
	s := &server{frontend.NewServer(c, "aisdk")}
	s.Mux.Post("/ai-sdk/{agent}", s.Handle(s.postChat))
	s.Mux.Get("/ai-sdk/{agent}/{session_id}/stream", s.Handle(s.resume))
	s.Mux.Get("/ai-sdk/{agent}/{session_id}/messages", s.Handle(s.getMessages))
	s.Mux.Post("/ai-sdk/{agent}/{session_id}/stop", s.Handle(s.stop))
	return s
}

// sessionID returns the session that the path names.
func sessionID(r *http.Request) (string, error) {
	id := frontend.PathParameter(r, "session_id")
	return id, ids.Check("id", id)
}

// stop cancels the run in progress of a session. Without one it does nothing.
func (s *server) stop(w http.ResponseWriter, r *http.Request, _ string) error {
	id, err := sessionID(r)
	if err != nil {
		return err
	}
	session, stopped, err := s.Stop(r.Context(), id)
	if err != nil {
		return err
	}
	answer := map[string]any{"id": session, "run_id": nil}
	if stopped.ID != "" {
		answer["run_id"], answer["status"] = stopped.ID, stopped.Status
	}
	return frontend.WriteJSON(w, answer)
}
