package httpagent_test

import (
	"testing"

	"github.com/rethread/rethread/shared/client/agent/agentconfig"
	"github.com/rethread/rethread/shared/client/agent/agenttest"
	"github.com/rethread/rethread/shared/client/agent/httpagent"
	"github.com/rethread/rethread/shared/domain/run"
)

// FuzzAgentStream checks that an agent with an arbitrary stream satisfies the
// contract of run.Agent or fails with an *endpoint.Error.
func FuzzAgentStream(f *testing.F) {
	f.Add("event: item\ndata: {\"item_id\":\"a\",\"author\":\"helper\"}\n\nevent: delta\ndata: {\"item_id\":\"a\",\"delta\":{\"part\":0,\"text\":\"x\"}}\n\n" +
		"event: event\ndata: {\"id\":\"a\",\"author\":\"helper\",\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"x\"}]}}\n\nevent: done\ndata: {}\n\n")
	f.Add(agenttest.ShortAnswer)
	f.Add("event: error\ndata: {\"code\":\"c\",\"message\":\"m\"}\n\n")
	f.Add("data: \xff\n\n")
	f.Add(": only a comment\n\n\r\n\rdata:")
	agenttest.FuzzStream(f, func(url string) run.Agent {
		return httpagent.New(agentconfig.Endpoint{URL: url, Timeouts: agenttest.Patient()})
	})
}
