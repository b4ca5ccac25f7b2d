package feed

import (
	"bytes"
	"encoding/json"

	"github.com/rethread/rethread/infra/local/lambda"
	"github.com/rethread/rethread/infra/local/queue"
)

// Lambda's limit of 6 MB for an event, including this envelope.
const (
	payloadHead = `{"Records":[`
	payloadTail = `]}`
)

// batch is a batch of messages for one invocation.
type batch struct {
	messages []queue.Received
	records  bytes.Buffer
	full     bool // the next message did not fit
}

// add adds a message, unless the event would become too large. The first message
// always fits, because a message has at most 1 MiB.
func (b *batch) add(message queue.Received, record []byte) bool {
	size := len(payloadHead) + b.records.Len() + len(",") + len(record) + len(payloadTail)
	if size > lambda.MaxRequestBytes && len(b.messages) > 0 {
		b.full = true
		return false
	}
	if len(b.messages) > 0 {
		b.records.WriteByte(',')
	}
	b.records.Write(record)
	b.messages = append(b.messages, message)
	return true
}

// payload is the function's event.
func (b *batch) payload() []byte {
	return append(append([]byte(payloadHead), b.records.Bytes()...), payloadTail...)
}

// record is a message in Lambda's event, as documented in "Using Lambda with
// Amazon SQS".
type record struct {
	MessageID         string               `json:"messageId"`
	ReceiptHandle     string               `json:"receiptHandle"`
	Body              string               `json:"body"`
	Attributes        map[string]string    `json:"attributes"`
	MessageAttributes map[string]attribute `json:"messageAttributes"`
	BodyDigest        string               `json:"md5OfBody"`
	AttributesDigest  string               `json:"md5OfMessageAttributes,omitempty"`
	EventSource       string               `json:"eventSource"`
	EventSourceARN    string               `json:"eventSourceARN"`
	Region            string               `json:"awsRegion"`
}

// attribute includes two lists that SQS never fills.
type attribute struct {
	StringValue      string   `json:"stringValue,omitempty"`
	BinaryValue      []byte   `json:"binaryValue,omitempty"`
	StringListValues []string `json:"stringListValues"`
	BinaryListValues [][]byte `json:"binaryListValues"`
	DataType         string   `json:"dataType"`
}

func (m *mapping) record(message queue.Received) []byte {
	r := record{
		MessageID: message.ID, ReceiptHandle: message.Receipt, Body: message.Body,
		Attributes: message.System(), MessageAttributes: map[string]attribute{},
		BodyDigest: message.BodyDigest(), AttributesDigest: message.AttributesDigest(),
		EventSource: "aws:sqs", EventSourceARN: m.queue.Settings().ARN, Region: m.opts.Region,
	}
	for name, a := range message.Attributes {
		r.MessageAttributes[name] = attribute{
			StringValue: a.StringValue, BinaryValue: a.BinaryValue, DataType: a.DataType,
			StringListValues: []string{}, BinaryListValues: [][]byte{},
		}
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false) // would turn one byte into six
	_ = encoder.Encode(r)        // strings always encode
	return bytes.TrimSpace(out.Bytes())
}
