package chat

import (
	"encoding/json"
)

// completion is one chunk of a completion, or a whole one.
type completion struct {
	Choices []struct {
		Delta        delta  `json:"delta"`
		Message      delta  `json:"message"` // instead of delta in a whole completion
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage json.RawMessage `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// delta is what a chunk adds, or a whole message. Thinking is not part of
// OpenAI's API: DeepSeek and vLLM call it reasoning_content, OpenRouter reasoning,
// and some servers send both with the same text.
type delta struct {
	Content          messageContent    `json:"content"`
	Refusal          string            `json:"refusal"`
	ReasoningContent string            `json:"reasoning_content"`
	Reasoning        string            `json:"reasoning"`
	ReasoningDetails []json.RawMessage `json:"reasoning_details"`
	ToolCalls        []toolCall        `json:"tool_calls"`
}

// thinking returns the thinking and the member that contains it; "" for a part of
// the content.
func (d delta) thinking() (text, member string) {
	switch {
	case d.ReasoningContent != "":
		return d.ReasoningContent, "reasoning_content"
	case d.Reasoning != "":
		return d.Reasoning, "reasoning"
	}
	return d.Content.thought, ""
}
