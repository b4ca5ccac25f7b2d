package run

import (
	"encoding/json"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/session"
)

// usageMember is the member of an event with the usage that its agent reported, in the
// form in which the agent did.
const usageMember = "usage_metadata"

// Usage is the number of tokens of an answer.
type Usage struct {
	Input     int64 // with those that were cached
	Cached    int64
	Output    int64 // with those of reasoning
	Reasoning int64
	Total     int64
}

// reportedUsage has the names of the Responses API, of chat completions, of Gemini, which
// ADK keeps, and of AG-UI.
type reportedUsage struct {
	InputTokens   *int64       `json:"input_tokens"`
	InputDetails  usageDetails `json:"input_tokens_details"`
	OutputTokens  int64        `json:"output_tokens"`
	OutputDetails usageDetails `json:"output_tokens_details"`

	PromptTokens      *int64       `json:"prompt_tokens"`
	PromptDetails     usageDetails `json:"prompt_tokens_details"`
	CompletionTokens  int64        `json:"completion_tokens"`
	CompletionDetails usageDetails `json:"completion_tokens_details"`

	PromptTokenCount     *int64 `json:"prompt_token_count"`
	CachedTokenCount     int64  `json:"cached_content_token_count"`
	CandidatesTokenCount int64  `json:"candidates_token_count"`
	ThoughtsTokenCount   int64  `json:"thoughts_token_count"` // beside the candidates

	AGUIInput     *int64 `json:"inputTokens"`
	AGUICached    int64  `json:"cachedInputTokens"`
	AGUIOutput    int64  `json:"outputTokens"`
	AGUIReasoning int64  `json:"reasoningTokens"`
}

type usageDetails struct {
	Cached    int64 `json:"cached_tokens"`
	Reasoning int64 `json:"reasoning_tokens"`
}

// UsageOf returns the usage that an event's agent reported, the sum if it did so for each
// of several models; ok is false if it reported none, or in an unknown form.
func UsageOf(e session.Event) (u Usage, ok bool) {
	raw := e.Fields[usageMember]
	var each []reportedUsage
	if !jsonx.IsArray(raw) {
		each = make([]reportedUsage, 1)
		ok = json.Unmarshal(raw, &each[0]) == nil
	} else {
		ok = json.Unmarshal(raw, &each) == nil && len(each) > 0
	}
	for _, r := range each {
		one, known := r.usage()
		u, ok = u.Plus(one), ok && known
	}
	if !ok {
		return Usage{}, false
	}
	return u, true
}

func (r reportedUsage) usage() (u Usage, ok bool) {
	switch {
	case r.InputTokens != nil:
		u = Usage{Input: *r.InputTokens, Cached: r.InputDetails.Cached, Output: r.OutputTokens, Reasoning: r.OutputDetails.Reasoning}
	case r.PromptTokens != nil:
		u = Usage{Input: *r.PromptTokens, Cached: r.PromptDetails.Cached, Output: r.CompletionTokens, Reasoning: r.CompletionDetails.Reasoning}
	case r.PromptTokenCount != nil:
		u = Usage{
			Input: *r.PromptTokenCount, Cached: r.CachedTokenCount,
			Output: r.CandidatesTokenCount + r.ThoughtsTokenCount, Reasoning: r.ThoughtsTokenCount,
		}
	case r.AGUIInput != nil:
		u = Usage{Input: *r.AGUIInput, Cached: r.AGUICached, Output: r.AGUIOutput, Reasoning: r.AGUIReasoning}
	default:
		return Usage{}, false
	}
	u.Total = u.Input + u.Output
	return u, true
}

// Plus returns the sum of two usages.
func (u Usage) Plus(other Usage) Usage {
	return Usage{
		Input: u.Input + other.Input, Cached: u.Cached + other.Cached,
		Output: u.Output + other.Output, Reasoning: u.Reasoning + other.Reasoning, Total: u.Total + other.Total,
	}
}
