package sqsapi

import (
	"time"

	"github.com/rethread/rethread/infra/local/queue"
)

// emptyAnswer is an empty answer.
type emptyAnswer struct{}

type deleteRequest struct {
	QueueURL      string `json:"QueueUrl"`
	ReceiptHandle string
}

func (a *API) deleteMessage(in deleteRequest) (any, error) {
	q, err := a.find(in.QueueURL)
	if err != nil {
		return nil, err
	}
	return emptyAnswer{}, q.Delete(in.ReceiptHandle)
}

type deleteEntry struct {
	entryID
	ReceiptHandle string
}

func (a *API) deleteMessageBatch(in batchRequest[deleteEntry]) (any, error) {
	return batch(a, in, func(q *queue.Queue, e deleteEntry) (any, error) {
		return e.entryID, q.Delete(e.ReceiptHandle)
	})
}

// visibility is the common part of a single request and a batch entry.
type visibility struct {
	ReceiptHandle     string
	VisibilityTimeout int
}

func (v visibility) change(q *queue.Queue) error {
	return q.Hide(v.ReceiptHandle, time.Duration(v.VisibilityTimeout)*time.Second)
}

type visibilityRequest struct {
	QueueURL string `json:"QueueUrl"`
	visibility
}

func (a *API) changeVisibility(in visibilityRequest) (any, error) {
	q, err := a.find(in.QueueURL)
	if err != nil {
		return nil, err
	}
	return emptyAnswer{}, in.change(q)
}

type visibilityEntry struct {
	entryID
	visibility
}

func (a *API) changeVisibilityBatch(in batchRequest[visibilityEntry]) (any, error) {
	return batch(a, in, func(q *queue.Queue, e visibilityEntry) (any, error) {
		return e.entryID, e.change(q)
	})
}
