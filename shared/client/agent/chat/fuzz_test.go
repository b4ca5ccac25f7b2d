package chat_test

import (
	"testing"

	"github.com/rethread/rethread/shared/client/agent/agentconfig"
	"github.com/rethread/rethread/shared/client/agent/agenttest"
	"github.com/rethread/rethread/shared/client/agent/chat"
	"github.com/rethread/rethread/shared/domain/run"
)

// FuzzChatStream is FuzzAgentStream for chat completions.
func FuzzChatStream(f *testing.F) {
	f.Add(agenttest.Chunks(`{"choices":[{"delta":{"role":"assistant","content":"a"}}]}`, `{"choices":[{"delta":{"content":"b"},"finish_reason":"stop"}],"usage":{"total_tokens":3}}`, "[DONE]"))
	f.Add(agenttest.Chunks(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"1","function":{"name":"f","arguments":"{"}}]}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]},"finish_reason":"tool_calls"}]}`, "[DONE]"))
	f.Add(agenttest.Chunks(`{"choices":[{"delta":{"reasoning_content":"h"}}]}`, `{"error":{"message":"m","code":429}}`))
	f.Add(agenttest.Chunks(`{"choices":[{"delta":{"content":"\ud800"},"finish_reason":"stop"}]}`))
	f.Add(agenttest.Chunks(`{"choices":[{"delta":{"content":[{"type":"text","text":"a"},{"type":"thinking","thinking":[{"text":"h"}]},5]}}]}`))
	f.Add(agenttest.Chunks(`{"choices":[{"delta":{"tool_calls":[{"function":{"name":"f","sign":1},"extra_content":{}}]},"finish_reason":"stop"}]}`))
	f.Add(agenttest.Chunks(`{"choices":[{"delta":null,"index":-1}]}`, `null`, `[]`))
	agenttest.FuzzStream(f, func(url string) run.Agent {
		return chat.New(agentconfig.Endpoint{URL: url, Timeouts: agenttest.Patient()}, agentconfig.Chat{Model: "m"})
	})
}
