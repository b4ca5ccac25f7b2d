package openresponses

import (
	"net/http"
	"strings"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/transport/frontend"
)

func model(name string) map[string]any {
	return map[string]any{"id": name, "object": "model", "created": 0, "owned_by": "rethread"}
}

// getModels lists the configured agents.
func (s *server) getModels(w http.ResponseWriter, r *http.Request) error {
	data := []any{}
	for _, name := range s.agents.AgentNames() {
		if s.agents.MayCall(r.Context(), name) {
			data = append(data, model(name))
		}
	}
	return frontend.WriteJSON(w, map[string]any{"object": "list", "data": data})
}

// getModel returns an agent; "~" may replace the "/" of its name.
func (s *server) getModel(w http.ResponseWriter, r *http.Request) error {
	name := frontend.PathParameter(r, "model")
	if !s.agents.HasAgent(name) {
		name = strings.Replace(name, "~", "/", 1)
	}
	if !s.agents.HasAgent(name) {
		return noModel(fault.Field(fault.AgentNotFound, "model", "is no agent: %s", name))
	}
	if !s.agents.MayCall(r.Context(), name) {
		return notCallable("model")
	}
	return frontend.WriteJSON(w, model(name))
}

// notCallable refuses a request for an agent that its caller may not call.
func notCallable(at string) error {
	return noModel(fault.Field(fault.AgentForbidden, at, "is an agent that you may not call"))
}
