package sqsapi

import (
	"time"

	"github.com/rethread/rethread/infra/local/queue"
)

type attribute struct {
	DataType    string
	StringValue string `json:",omitempty"`
	BinaryValue []byte `json:",omitempty"`
}

type sendRequest struct {
	QueueURL string `json:"QueueUrl"`
	draft
}

// draft is the common part of a single message and a batch entry.
type draft struct {
	MessageBody            string
	MessageAttributes      map[string]attribute
	DelaySeconds           *int
	MessageGroupID         string `json:"MessageGroupId"`
	MessageDeduplicationID string `json:"MessageDeduplicationId"`
}

func (d draft) build() queue.Draft {
	out := queue.Draft{Body: d.MessageBody, Group: d.MessageGroupID, Deduplication: d.MessageDeduplicationID}
	for name, a := range d.MessageAttributes {
		if out.Attributes == nil {
			out.Attributes = map[string]queue.Attribute{}
		}
		out.Attributes[name] = queue.Attribute(a)
	}
	if d.DelaySeconds != nil {
		out.Delay = time.Duration(*d.DelaySeconds) * time.Second
	}
	return out
}

type sendAnswer struct {
	ID               string `json:"Id,omitempty"` // in batches
	MessageID        string `json:"MessageId"`
	BodyDigest       string `json:"MD5OfMessageBody"`
	AttributesDigest string `json:"MD5OfMessageAttributes,omitempty"`
	SequenceNumber   string `json:",omitempty"`
}

func answerSend(id string, m queue.Message) sendAnswer {
	return sendAnswer{
		ID: id, MessageID: m.ID, BodyDigest: m.BodyDigest(), AttributesDigest: m.AttributesDigest(), SequenceNumber: m.Sequence,
	}
}

func (a *API) sendMessage(in sendRequest) (any, error) {
	q, err := a.find(in.QueueURL)
	if err != nil {
		return nil, err
	}
	m, err := q.Send(in.build())
	if err != nil {
		return nil, err
	}
	return answerSend("", m), nil
}

type sendEntry struct {
	entryID
	draft
}

func (a *API) sendMessageBatch(in batchRequest[sendEntry]) (any, error) {
	size := 0
	for _, e := range in.Entries {
		size += e.build().Size()
	}
	if size > maxBatchBytes {
		return nil, queue.Refuse(codeTooLong, "Batch requests cannot be longer than %d bytes. You have sent %d bytes.", maxBatchBytes, size)
	}
	return batch(a, in, func(q *queue.Queue, e sendEntry) (any, error) {
		m, err := q.Send(e.build())
		return answerSend(e.ID, m), err
	})
}
