package provider

import (
	"encoding/json"

	"github.com/rethread/rethread/shared/domain/run"
)

// Tools returns the tools of a request to a model: the configured ones and, in the form
// that wrap gives them, those of the front end whose names no configured one has.
func Tools(configured json.RawMessage, req run.Request, wrap func(run.FrontEndTool) any) []any {
	var tools []any
	known := map[string]bool{}
	var own []json.RawMessage
	if json.Unmarshal(configured, &own) != nil {
		own = nil // there are none: a configuration is checked when it is read
	}
	for _, raw := range own {
		var named struct {
			Name     string
			Function struct{ Name string }
		}
		if json.Unmarshal(raw, &named) == nil {
			known[named.Name], known[named.Function.Name] = true, true
		}
		tools = append(tools, raw)
	}
	offered, _ := req.FrontEnd().Functions(known)
	for _, t := range offered {
		tools = append(tools, wrap(t))
	}
	return tools
}
