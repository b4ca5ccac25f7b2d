package content_test

import (
	"encoding/json"
	"testing"

	"github.com/rethread/rethread/shared/domain/content"
)

func TestSnakeCase(t *testing.T) {
	t.Parallel()
	cases := map[string]string{
		`{"invocationId":"i","longRunningToolIds":["aB"]}`:                        `{"invocation_id":"i","long_running_tool_ids":["aB"]}`,
		`{"groundingMetadata":{"groundingChunks":[{"retrievedContext":{}}]}}`:     `{"grounding_metadata":{"grounding_chunks":[{"retrieved_context":{}}]}}`,
		`{"content":{"parts":[{"functionCall":{"args":{"aB":{"cD":1}}}}]}}`:       `{"content":{"parts":[{"function_call":{"args":{"aB":{"cD":1}}}}]}}`,
		`{"content":{"parts":[{"functionResponse":{"response":{"aB":1}}}]}}`:      `{"content":{"parts":[{"function_response":{"response":{"aB":1}}}]}}`,
		`{"content":{"parts":[{"text":"t","partMetadata":{"aB":1}}]}}`:            `{"content":{"parts":[{"part_metadata":{"aB":1},"text":"t"}]}}`,
		`{"content":{"parts":[{"inlineData":{"mimeType":"a/b","data":"_-8="}}]}}`: `{"content":{"parts":[{"inline_data":{"data":"/+8=","mime_type":"a/b"}}]}}`,
		`{"actions":{"stateDelta":{"aB":{"cD":1}},"transferToAgent":"a"}}`:        `{"actions":{"state_delta":{"aB":{"cD":1}},"transfer_to_agent":"a"}}`,
		`{"customMetadata":{"aB":1}}`:                                             `{"custom_metadata":{"aB":1}}`,
		`{"actions":{"requestedToolConfirmations":{"adk-aB":{"toolName":"x"}}}}`:  `{"actions":{"requested_tool_confirmations":{"adk-aB":{"tool_name":"x"}}}}`,
		`"aB"`: `"aB"`, `[{"aB":1}]`: `[{"a_b":1}]`, `{"n":12345678901234567890}`: `{"n":12345678901234567890}`,
	}
	for given, want := range cases {
		if got := string(content.SnakeCase(json.RawMessage(given))); got != want {
			t.Errorf("%s\n got %s\nwant %s", given, got, want)
		}
	}
	if len(cases) < 12 {
		t.Errorf("only %d cases", len(cases))
	}
}
