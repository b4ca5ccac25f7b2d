package responses_test

import (
	"testing"

	"github.com/rethread/rethread/shared/client/agent/agentconfig"
	"github.com/rethread/rethread/shared/client/agent/agenttest"
	"github.com/rethread/rethread/shared/client/agent/responses"
	"github.com/rethread/rethread/shared/domain/run"
)

// FuzzResponseStream is FuzzAgentStream for the Responses API.
func FuzzResponseStream(f *testing.F) {
	f.Add(responseStream(created, `response.output_text.delta "output_index":0,"content_index":0,"delta":"a"`,
		wroteItem(0, messageSaying(`{"type":"output_text","text":"a"}`)), completed))
	f.Add(responseStream(wroteItem(0, reasoned), `response.output_item.added "output_index":1,"item":`+called,
		`response.function_call_arguments.delta "output_index":1,"delta":"{}"`, wroteItem(1, called), completed))
	f.Add(responseStream(wroteItem(-1, `{"type":"web_search_call"}`), `error "code":429,"message":"m"`))
	f.Add(responseStream(`response.failed "response":{"error":[]}`) + "data: [DONE]\n\n")
	agenttest.FuzzStream(f, func(url string) run.Agent {
		return responses.New(agentconfig.Endpoint{URL: url, Timeouts: agenttest.Patient()}, agentconfig.Chat{Model: "m"})
	})
}
