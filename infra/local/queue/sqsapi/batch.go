package sqsapi

import (
	"errors"
	"strings"

	"github.com/rethread/rethread/infra/local/queue"
)

// Limits of batches.
const (
	mostEntries   = 10
	maxBatchBytes = 1 << 20
	maxEntryID    = 80
)

// Error codes of batches that are refused as a whole.
const (
	codeEmpty       = "EmptyBatchRequest"
	codeInvalidID   = "InvalidBatchEntryId"
	codeNotDistinct = "BatchEntryIdsNotDistinct"
	codeTooLong     = "BatchRequestTooLong"
	codeTooMany     = "TooManyEntriesInBatchRequest"
)

type batchRequest[E entry] struct {
	QueueURL string `json:"QueueUrl"`
	Entries  []E
}

type entry interface{ id() string }

type entryID struct {
	ID string `json:"Id"`
}

func (e entryID) id() string { return e.ID }

type batchAnswer struct {
	Successful []any
	Failed     []failedEntry
}

type failedEntry struct {
	ID          string `json:"Id"`
	Code        string
	Message     string
	SenderFault bool
}

// batch processes the entries one by one; some may fail.
func batch[E entry](a *API, in batchRequest[E], do func(*queue.Queue, E) (any, error)) (any, error) {
	q, err := a.find(in.QueueURL)
	if err != nil {
		return nil, err
	}
	if err := checkEntries(in.Entries); err != nil {
		return nil, err
	}
	answer := batchAnswer{Successful: []any{}, Failed: []failedEntry{}}
	for _, e := range in.Entries {
		done, err := do(q, e)
		var refusal *queue.Error
		switch {
		case errors.As(err, &refusal):
			answer.Failed = append(answer.Failed, failedEntry{e.id(), refusal.Code, refusal.Message, true})
		case err != nil:
			return nil, err
		default:
			answer.Successful = append(answer.Successful, done)
		}
	}
	return answer, nil
}

func checkEntries[E entry](entries []E) error {
	switch {
	case len(entries) == 0:
		return queue.Refuse(codeEmpty, "There should be at least one entry in the request.")
	case len(entries) > mostEntries:
		return queue.Refuse(codeTooMany, "Maximum number of entries per request are %d. You have sent %d.", mostEntries, len(entries))
	}
	seen := map[string]bool{}
	for _, e := range entries {
		id := e.id()
		if id == "" || len(id) > maxEntryID || strings.ContainsFunc(id, isForbiddenInID) {
			return queue.Refuse(codeInvalidID,
				"A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at most 80 letters long.")
		}
		if seen[id] {
			return queue.Refuse(codeNotDistinct, "Id %s repeated.", id)
		}
		seen[id] = true
	}
	return nil
}

func isForbiddenInID(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
}
