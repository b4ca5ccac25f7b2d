package responsesconvert

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/run"
)

// takeToolChoice reads which tools may be called. Without an agent that obeys it, only
// the default and none, if there are no tools, can be held.
func (r *Request) takeToolChoice(o jsonx.Object, obeyed map[string]bool) error {
	raw := o.Members["tool_choice"]
	var mode string
	if json.Unmarshal(raw, &mode) == nil {
		if !slices.Contains([]string{"none", "auto", "required"}, mode) {
			return fault.Field(fault.Invalid, "/tool_choice", "must be none, auto, required, a function or allowed tools")
		}
		if mode == "auto" {
			return nil
		}
	}
	if !obeyed["tool_choice"] {
		return unsupported("/tool_choice", "is not supported by this agent")
	}
	r.Shown["tool_choice"] = raw
	if mode != "" {
		r.Offer.ToolChoice = raw
		return nil
	}
	choice, err := o.Object("tool_choice")
	if err != nil {
		return err
	}
	kind, err := choice.RequiredText("type")
	if err != nil {
		return err
	}
	switch kind {
	case "function":
		_, err := choice.RequiredText("name")
		r.Offer.ToolChoice = raw
		return err
	case "allowed_tools":
		return nil // checkTools reads it, when the tools are known
	}
	return unsupported("/tool_choice/type", "must be function or allowed_tools")
}

// checkTools checks the choice of tools against the tools. Only allowed tools are
// offered, so an agent cannot call another one.
func (r *Request) checkTools() error {
	raw := r.Shown["tool_choice"]
	if !jsonx.IsObject(raw) {
		return nil
	}
	var choice struct {
		Type, Name, Mode string
		Tools            []struct{ Type, Name string }
	}
	if json.Unmarshal(raw, &choice) != nil {
		return fault.Field(fault.Malformed, "/tool_choice", "must be a choice of tools")
	}
	offered := map[string]json.RawMessage{}
	for _, tool := range r.Offer.Tools {
		var f run.FrontEndTool
		if err := json.Unmarshal(tool, &f); err != nil {
			return err
		}
		offered[f.Name] = tool
	}
	if choice.Type == "function" {
		if offered[choice.Name] == nil {
			return fault.Field(fault.Invalid, "/tool_choice/name", "must be one of the tools: %s", choice.Name)
		}
		return nil
	}
	if !slices.Contains([]string{"", "none", "auto", "required"}, choice.Mode) || len(choice.Tools) == 0 {
		return fault.Field(fault.Invalid, "/tool_choice", "must have tools, and a mode none, auto or required")
	}
	if choice.Mode != "" {
		mode, err := jsonx.Marshal(choice.Mode)
		if err != nil {
			return err
		}
		r.Offer.ToolChoice = mode
	}
	allowed := map[string]bool{}
	for i, tool := range choice.Tools {
		if tool.Type != "function" || offered[tool.Name] == nil {
			return fault.Field(fault.Invalid, pointer("/tool_choice/tools", i), "must be one of the tools")
		}
		allowed[tool.Name] = true
	}
	maps.DeleteFunc(offered, func(name string, _ json.RawMessage) bool { return !allowed[name] })
	r.Offer.Tools = slices.DeleteFunc(r.Offer.Tools, func(tool json.RawMessage) bool {
		var f run.FrontEndTool
		return json.Unmarshal(tool, &f) != nil || !allowed[f.Name]
	})
	return nil
}
