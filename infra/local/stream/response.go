package stream

import (
	"encoding/json"

	"github.com/rethread/rethread/infra/local/lambda"
)

type batchResponse struct {
	Failures []struct {
		ID string `json:"itemIdentifier"`
	} `json:"batchItemFailures"`
}

// accepted returns the number of leading records that the function has processed:
// those before the lowest one that it reports as failed, if the mapping uses such
// reports. An invalid answer, or one that names records outside the batch, fails
// the whole batch.
func (m *mapping) accepted(result *lambda.Result, entries []*entry) int {
	if result.FunctionError != "" {
		return 0
	}
	if !m.PartialBatchResponses || len(result.Payload) == 0 {
		return len(entries)
	}
	var response batchResponse
	if err := json.Unmarshal(result.Payload, &response); err != nil {
		return 0
	}
	places := make(map[string]int, len(entries))
	for i, e := range entries {
		places[e.Sequence] = i
	}
	lowest := len(entries)
	for _, failed := range response.Failures {
		place, ok := places[failed.ID]
		if !ok {
			return 0
		}
		lowest = min(lowest, place)
	}
	return lowest
}
