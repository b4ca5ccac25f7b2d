package responsesconvert

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

// Response is a run as a response.
type Response struct {
	ID  ID
	Run run.Run
	// Own is the run's events, of which the inputs have the record of the request.
	Own []session.Event
}

// Statuses of responses.
const (
	StatusQueued     = "queued"
	StatusInProgress = "in_progress"
	StatusCompleted  = "completed"
	StatusFailed     = "failed"
	StatusCancelled  = "cancelled"
	StatusIncomplete = "incomplete"
)

// status returns the response's status, and why it is incomplete.
func (r Response) status() (status string, reason any) {
	switch r.Run.Status {
	case run.Waiting:
		return StatusQueued, nil
	case run.InProgress:
		return StatusInProgress, nil
	case run.Failed:
		return StatusFailed, nil
	case run.Cancelled:
		return StatusCancelled, nil
	case run.Completed:
	}
	switch conversation.CutOff(r.Own) {
	case conversation.CutLength:
		return StatusIncomplete, "max_output_tokens"
	case conversation.CutFilter:
		return StatusIncomplete, "content_filter"
	}
	return StatusCompleted, nil
}

// Object returns the response with its output so far.
func (r Response) Object() map[string]any {
	status, reason := r.status()
	out := r.object(status, Output(r.Own, r.Run.Status.Final()))
	out["usage"] = r.usage()
	if reason != nil {
		out["incomplete_details"] = map[string]any{"reason": reason}
	}
	if status == StatusCompleted && r.Run.EndedTime != nil {
		out["completed_at"] = *r.Run.EndedTime / 1000
	}
	if status == StatusFailed {
		out["error"] = r.Run.Failure()
	}
	return out
}

// begun returns the response without any output.
func (r Response) begun(status string) map[string]any { return r.object(status, []Item{}) }

func (r Response) object(status string, output []Item) map[string]any {
	shown := RunRecord(r.Own).Shown
	out := map[string]any{
		"id": r.ID.String(), "object": "response", "created_at": r.Run.StartedTime / 1000, "completed_at": nil,
		"status": status, "incomplete_details": nil, "error": nil, "model": r.Run.Agent,
		"conversation": map[string]any{"id": r.ID.SessionID}, "output": output, "usage": nil,
		"previous_response_id": nil, "instructions": nil, "metadata": map[string]any{}, "background": false,
		"tools": []any{}, "tool_choice": "auto", "parallel_tool_calls": true, "max_tool_calls": nil, "max_output_tokens": nil,
		"temperature": 1, "top_p": 1, "presence_penalty": 0, "frequency_penalty": 0, "top_logprobs": 0,
		"truncation": "disabled", "service_tier": "default", "store": true, "safety_identifier": nil, "prompt_cache_key": nil,
	}
	for _, name := range slices.Sorted(maps.Keys(shown)) {
		out[name] = shown[name]
	}
	out["text"] = textOptions(shown["text"])
	out["reasoning"] = reasoningOptions(shown["reasoning"])
	return out
}

// textOptions returns the options of the text with the defaults that the specification
// requires.
func textOptions(shown json.RawMessage) map[string]any {
	out := map[string]any{"format": map[string]any{"type": "text"}}
	var given map[string]json.RawMessage
	if json.Unmarshal(shown, &given) != nil {
		return out
	}
	for name, value := range given {
		out[name] = value
	}
	var format map[string]any
	if json.Unmarshal(given["format"], &format) == nil && format["type"] == "json_schema" {
		full := map[string]any{"description": nil, "strict": false}
		maps.Copy(full, format)
		full["schema"] = schemaOf(given["format"])
		out["format"] = full
	}
	return out
}

// schemaOf returns the schema of a format as it was sent.
func schemaOf(format json.RawMessage) json.RawMessage {
	var f struct{ Schema json.RawMessage }
	if json.Unmarshal(format, &f) != nil || f.Schema == nil {
		return json.RawMessage("null")
	}
	return f.Schema
}

func reasoningOptions(shown json.RawMessage) map[string]any {
	out := map[string]any{"effort": nil, "summary": nil}
	var given map[string]json.RawMessage
	if json.Unmarshal(shown, &given) == nil {
		for name, value := range given {
			out[name] = value
		}
	}
	return out
}

// usage returns the tokens that the agent reported; nil if it reported none.
func (r Response) usage() any {
	var sum run.Usage
	reported := false
	for _, e := range r.Own {
		if u, ok := run.UsageOf(e); ok && !conversation.IsInput(e) {
			sum, reported = sum.Plus(u), true
		}
	}
	if !reported {
		return nil
	}
	return map[string]any{
		"input_tokens": sum.Input, "input_tokens_details": map[string]any{"cached_tokens": sum.Cached},
		"output_tokens": sum.Output, "output_tokens_details": map[string]any{"reasoning_tokens": sum.Reasoning},
		"total_tokens": sum.Total,
	}
}
