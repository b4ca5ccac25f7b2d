package feed

import (
	"context"
	"encoding/json"

	"github.com/rethread/rethread/infra/local/lambda"
	"github.com/rethread/rethread/infra/local/queue"
)

type batchResponse struct {
	Failures []struct {
		ID string `json:"itemIdentifier"`
	} `json:"batchItemFailures"`
}

// failures are the ids of the messages that the function is not done with: those
// that it reports, if the mapping asks for such reports, else all or none. An
// answer that is not understood, or that names what was not in the batch, fails
// the whole batch.
func (m *mapping) failures(ctx context.Context, result *lambda.Result, messages []queue.Received) map[string]bool {
	all := make(map[string]bool, len(messages))
	for _, message := range messages {
		all[message.ID] = true
	}
	if result.FunctionError != "" {
		return all
	}
	if !m.PartialBatchResponses || len(result.Payload) == 0 {
		return nil
	}
	var response batchResponse
	if err := json.Unmarshal(result.Payload, &response); err != nil {
		return all
	}
	failed := map[string]bool{}
	for _, failure := range response.Failures {
		if !all[failure.ID] {
			return all
		}
		failed[failure.ID] = true
	}
	m.warnOfDisorder(ctx, messages, failed)
	return failed
}

// warnOfDisorder finds messages of a FIFO queue that would be deleted though one
// before them in their group failed. Lambda lets that happen: a function keeps
// the order by reporting those behind a failed one as well.
func (m *mapping) warnOfDisorder(ctx context.Context, messages []queue.Received, failed map[string]bool) {
	if !m.queue.Settings().FIFO {
		return
	}
	broken := map[string]bool{}
	for _, message := range messages {
		if failed[message.ID] {
			broken[message.Group] = true
		} else if broken[message.Group] {
			m.opts.Log.WarnContext(ctx, "a function has overtaken a failed message of its group", "function", m.function.LogicalID,
				"group", message.Group, "id", message.ID)
		}
	}
}
