package agui_test

import (
	"testing"

	"github.com/rethread/rethread/shared/client/agent/agentconfig"
	"github.com/rethread/rethread/shared/client/agent/agenttest"
	"github.com/rethread/rethread/shared/client/agent/agui"
	"github.com/rethread/rethread/shared/domain/run"
)

// FuzzAGUIStream is FuzzAgentStream for AG-UI.
func FuzzAGUIStream(f *testing.F) {
	f.Add(aguiStream(runStarted, textBegins, textSays, textEnds, callBegins, callArgs, callEnds, callResult, runFinished))
	f.Add(aguiStream(`STATE_SNAPSHOT "snapshot":{"a":[1]}`, `STATE_DELTA "delta":[{"op":"move","from":"/a/0","path":"/b"},{"op":"test","path":"","value":{}}]`,
		`ACTIVITY_SNAPSHOT "messageId":"p","content":{}`, `ACTIVITY_DELTA "messageId":"p","patch":[{"op":"replace","path":"","value":1}]`, runFinished))
	f.Add(aguiStream(`REASONING_START "messageId":"r"`, `REASONING_ENCRYPTED_VALUE "subtype":"message","entityId":"r","encryptedValue":"x"`,
		`THINKING_TEXT_MESSAGE_START`, `THINKING_TEXT_MESSAGE_CONTENT "delta":"a"`, `CUSTOM "name":"n"`, `RUN_ERROR "code":"c","message":"m"`))
	f.Add(aguiStream(`TEXT_MESSAGE_CHUNK "messageId":"m1","delta":"a"`, `TOOL_CALL_CHUNK "toolCallId":"c","toolCallName":"f","delta":"{"`,
		`MESSAGES_SNAPSHOT "messages":[{"id":"0"},{"id":"m2","role":"assistant","content":"b","toolCalls":[{"id":"c2","function":{"name":"g"}}]},{"role":"tool","toolCallId":"c2"}]`,
		`RUN_FINISHED "outcome":{"type":"interrupt","interrupts":[{"id":"i"}]}`))
	agenttest.FuzzStream(f, func(url string) run.Agent {
		return agui.New(agentconfig.Endpoint{URL: url, Timeouts: agenttest.Patient()}, agentconfig.Frontend{})
	})
}
