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

// failures returns the ids of the failed messages: those that the function
// reports, if the mapping uses such reports, otherwise all or none. An invalid
// answer, or one that names messages outside the batch, fails the whole batch.
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
	m.warnOfOrder(ctx, messages, failed)
	return failed
}

// warnOfOrder warns of messages of a FIFO queue that are deleted although an
// earlier message of their group failed. Lambda allows this: a function keeps the
// order by also reporting the messages after a failed one.
func (m *mapping) warnOfOrder(ctx context.Context, messages []queue.Received, failed map[string]bool) {
	if !m.queue.Settings().FIFO {
		return
	}
	broken := map[string]bool{}
	for _, message := range messages {
		if failed[message.ID] {
			broken[message.Group] = true
		} else if broken[message.Group] {
			m.opts.Log.WarnContext(ctx, "message deleted although an earlier message of its FIFO group failed; the function must report both as failed to keep the order", "function", m.function.LogicalID,
				"group", message.Group, "id", message.ID)
		}
	}
}
