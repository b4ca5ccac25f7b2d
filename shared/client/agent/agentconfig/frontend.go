package agentconfig

import (
	"encoding/json"
	"strconv"
)

// frontend reads what an AG-UI agent is offered.
func (r *reader) frontend() Frontend {
	var f Frontend
	var tools []json.RawMessage
	r.take("tools", &tools, "an array of objects")
	r.take("forwarded_props", &f.ForwardedProps, "an object")
	if _, ok := f.ForwardedProps[OwnProps]; ok {
		r.fail("forwarded_props/"+OwnProps, "cannot be chosen")
	}
	for i, raw := range tools {
		at := "tools/" + strconv.Itoa(i)
		var tool struct {
			Name        string  `json:"name"`
			Description *string `json:"description"`
		}
		if json.Unmarshal(raw, &tool) != nil || tool.Name == "" || tool.Description == nil {
			r.fail(at, "must be an object with the strings name and description, and parameters, a JSON Schema")
		}
		f.Tools = append(f.Tools, FrontendTool{tool.Name, raw})
	}
	return f
}
