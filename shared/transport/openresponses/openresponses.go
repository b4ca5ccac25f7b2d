// Package openresponses is the transport of Open Responses, and of what OpenAI's
// Responses, Conversations and Models APIs have beyond it, over the same sessions and
// runs as the other transports. A model is an agent, a conversation a session, and a
// response a run.
package openresponses

import (
	"net/http"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/transport/frontend"
)

// Agents are the configured agents.
type Agents interface {
	frontend.Agents
	// AgentNames returns the names of all agents, sorted.
	AgentNames() []string
	// Obeys returns the names of the parameters of a front end that an agent obeys.
	Obeys(agent string) map[string]bool
	// ClientTools returns the names of an agent's own functions whose calls the client
	// answers.
	ClientTools(agent string) []string
}

// server answers the requests for all agents.
type server struct {
	*frontend.Server

	agents Agents
}

// New returns the server for all agents.
func New(c frontend.Config, agents Agents) http.Handler {
	s := &server{frontend.NewServer(c, "responses"), agents}
	m := s.Mux
	m.NotFound(s.handle(func(http.ResponseWriter, *http.Request) error {
		return fault.New(fault.RouteNotFound, "Page not found")
	}))
	m.MethodNotAllowed(s.handle(func(http.ResponseWriter, *http.Request) error {
		return fault.New(fault.RouteNotFound, "Page not found")
	}))
	m.Post("/v1/responses", s.handle(s.postResponse))
	m.Get("/v1/responses/{response_id}", s.handle(s.getResponse))
	m.Delete("/v1/responses/{response_id}", s.handle(s.deleteResponse))
	m.Post("/v1/responses/{response_id}/cancel", s.handle(s.cancelResponse))
	m.Get("/v1/responses/{response_id}/input_items", s.handle(s.getInputItems))
	m.Post("/v1/conversations", s.handle(s.postConversation))
	m.Get("/v1/conversations/{conversation_id}", s.handle(s.getConversation))
	m.Post("/v1/conversations/{conversation_id}", s.handle(s.updateConversation))
	m.Delete("/v1/conversations/{conversation_id}", s.handle(s.deleteConversation))
	m.Get("/v1/conversations/{conversation_id}/items", s.handle(s.getItems))
	m.Post("/v1/conversations/{conversation_id}/items", s.handle(s.postItems))
	m.Get("/v1/conversations/{conversation_id}/items/{item_id}", s.handle(s.getItem))
	m.Delete("/v1/conversations/{conversation_id}/items/{item_id}", s.handle(s.deleteItem))
	m.Get("/v1/models", s.handle(s.getModels))
	m.Get("/v1/models/{model}", s.handle(s.getModel))
	return s
}
