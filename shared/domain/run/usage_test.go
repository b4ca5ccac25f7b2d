package run_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

func TestUsageOf(t *testing.T) {
	want := run.Usage{Input: 10, Cached: 4, Output: 7, Reasoning: 2, Total: 17}
	for name, c := range map[string]struct {
		reported string
		want     run.Usage
	}{
		"the Responses API": {`{"input_tokens":10,"input_tokens_details":{"cached_tokens":4},"output_tokens":7,"output_tokens_details":{"reasoning_tokens":2},"total_tokens":17}`, want},
		"chat completions":  {`{"prompt_tokens":10,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens":7,"completion_tokens_details":{"reasoning_tokens":2}}`, want},
		"without details":   {`{"prompt_tokens":1,"completion_tokens":2,"prompt_tokens_details":null}`, run.Usage{Input: 1, Output: 2, Total: 3}},
		"Gemini, whose thoughts are beside the candidates": {`{"prompt_token_count":10,"cached_content_token_count":4,"candidates_token_count":5,"thoughts_token_count":2}`, want},
		"AG-UI, for two models":                            {`[{"inputTokens":9,"cachedInputTokens":4,"outputTokens":7,"reasoningTokens":2},{"inputTokens":1}]`, want},
		"none":                                             {``, run.Usage{}},
		"null":                                             {`null`, run.Usage{}},
		"an empty list":                                    {`[]`, run.Usage{}},
		"an unknown form":                                  {`{"tokens":5}`, run.Usage{}},
		"a list with one":                                  {`[{"inputTokens":9},{"totalTokens":3}]`, run.Usage{}},
		"text for a number":                                {`{"input_tokens":"10"}`, run.Usage{}},
		"numbers for usages":                               {`[1]`, run.Usage{}},
	} {
		t.Run(name, func(t *testing.T) {
			raw := `{"invocation_id":"i","author":"x"}`
			if c.reported != "" {
				raw = `{"invocation_id":"i","author":"x","usage_metadata":` + c.reported + `}`
			}
			e, err := session.ParseEvent([]byte(raw), "")
			if err != nil {
				t.Fatal(err)
			}
			got, ok := run.UsageOf(e)
			if diff := cmp.Diff(c.want, got); diff != "" || ok != (c.want != run.Usage{}) {
				t.Errorf("ok is %v (-want +got):\n%s", ok, diff)
			}
		})
	}
}
