package adk_test

import (
	"testing"

	"github.com/rethread/rethread/shared/client/agent/adk"
	"github.com/rethread/rethread/shared/client/agent/agentconfig"
	"github.com/rethread/rethread/shared/client/agent/agenttest"
	"github.com/rethread/rethread/shared/domain/run"
)

// FuzzADKStream is FuzzAgentStream for ADK's API server.
func FuzzADKStream(f *testing.F) {
	f.Add(adkStream(adkSaid("e1", `{"text":"a"}`, `,"partial":true`), adkSaid("e2", `{"text":"b"}`, `,"branch":"x"`), adkSaid("e1", `{"text":"ab","thoughtSignature":"_-8="}`)))
	f.Add(adkStream(adkSaid("e1", `{"functionCall":{"id":"c","name":"f","args":{}}}`, `,"longRunningToolIds":["c"]`), adkSaid("e1", "", `,"actions":{"artifactDelta":{"a":1e9}}`)))
	f.Add(adkStream(adkSaid("e1", "", `,"errorCode":"SAFETY"`), `{"error":{},"error_details":{"error_type":"E"}}`))
	agenttest.FuzzStream(f, func(url string) run.Agent {
		return adk.New(agentconfig.Endpoint{URL: url, Timeouts: agenttest.Patient()}, "app")
	})
}
