// Package agui is the transport of AG-UI, the protocol between front ends and
// agents: a server for each configured agent, over the same sessions and runs as the
// other transports. A thread is a session. A stream reads its run from the table, so
// any instance can send it again, and the run outlives the request.
package agui

import (
	"net/http"

	"github.com/rethread/rethread/shared/domain/ids"
	"github.com/rethread/rethread/shared/transport/agui/aguiconvert"
	"github.com/rethread/rethread/shared/transport/frontend"
)

// server answers the requests for all agents.
type server struct{ *frontend.Server }

// New returns the server for all agents.
func New(c frontend.Config) http.Handler {
	s := &server{frontend.NewServer(c, "agui")}
	s.Mux.Post("/agui/{agent}", s.Handle(s.postRun))
	s.Mux.Post("/agui/{agent}/connect", s.Handle(s.postConnect))
	s.Mux.Get("/agui/{agent}/threads/{thread_id}", s.Handle(s.getThread))
	s.Mux.Post("/agui/{agent}/threads/{thread_id}/stop", s.Handle(s.stop))
	return s
}

// readInput reads RunAgentInput from the body.
func readInput(w http.ResponseWriter, r *http.Request) (aguiconvert.Input, error) {
	body, err := frontend.ReadBody(w, r)
	if err != nil {
		return aguiconvert.Input{}, err
	}
	return aguiconvert.ParseInput(body)
}

// stop cancels the run in progress of a thread. Without one it does nothing.
func (s *server) stop(w http.ResponseWriter, r *http.Request, _ string) error {
	id := frontend.PathParameter(r, "thread_id")
	if err := ids.Check("threadId", id); err != nil {
		return err
	}
	thread, stopped, err := s.Stop(r.Context(), id)
	if err != nil {
		return err
	}
	answer := map[string]any{"threadId": thread, "runId": nil}
	if stopped.ID != "" {
		answer["runId"], answer["status"] = stopped.ID, stopped.Status
	}
	return frontend.WriteJSON(w, answer)
}
