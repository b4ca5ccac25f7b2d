package sqsapi

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rethread/rethread/infra/local/queue"
)

// Limits of receiving.
const (
	mostReceived = 10
	maxWait      = 20
	maxHidden    = 43_200
	all          = "All"
)

type receiveRequest struct {
	QueueURL          string `json:"QueueUrl"`
	Most              *int   `json:"MaxNumberOfMessages"`
	VisibilityTimeout *int
	WaitTimeSeconds   *int
	// The requested attributes; AttributeNames is the older name of
	// MessageSystemAttributeNames.
	AttributeNames, MessageSystemAttributeNames, MessageAttributeNames []string
}

type receiveAnswer struct {
	Messages []message `json:",omitempty"`
}

type message struct {
	MessageID         string `json:"MessageId"`
	ReceiptHandle     string
	Body              string
	BodyDigest        string               `json:"MD5OfBody"`
	AttributesDigest  string               `json:"MD5OfMessageAttributes,omitempty"`
	Attributes        map[string]string    `json:",omitempty"`
	MessageAttributes map[string]attribute `json:",omitempty"`
}

func (a *API) receiveMessage(ctx context.Context, in receiveRequest) (any, error) {
	q, err := a.find(in.QueueURL)
	if err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	most, hide, wait := 1, q.Settings().VisibilityTimeout, time.Duration(0)
	if in.Most != nil {
		most = *in.Most
	}
	if in.VisibilityTimeout != nil {
		hide = time.Duration(*in.VisibilityTimeout) * time.Second
	}
	if in.WaitTimeSeconds != nil {
		wait = time.Duration(*in.WaitTimeSeconds) * time.Second
	}
	taken := q.Take(most, hide)
	if len(taken) == 0 && wait > 0 {
		waiting, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		taken, _ = q.Receive(waiting, most, hide) // an empty answer is valid if nothing arrived in time
	}
	if ctx.Err() != nil { // the caller disconnected and did not get the messages
		q.Return(taken...)
	}
	return in.answer(taken), nil
}

func (in receiveRequest) check() error {
	for _, limit := range []struct {
		name        string
		value       *int
		least, most int
	}{
		{"MaxNumberOfMessages", in.Most, 1, mostReceived},
		{"VisibilityTimeout", in.VisibilityTimeout, 0, maxHidden},
		{"WaitTimeSeconds", in.WaitTimeSeconds, 0, maxWait},
	} {
		if limit.value != nil && (*limit.value < limit.least || *limit.value > limit.most) {
			return queue.Refuse(queue.CodeInvalidValue, "Value %d for parameter %s is invalid. Reason: Must be between %d and %d, if provided.",
				*limit.value, limit.name, limit.least, limit.most)
		}
	}
	return nil
}

func (in receiveRequest) answer(taken []queue.Received) receiveAnswer {
	system := slices.Concat(in.AttributeNames, in.MessageSystemAttributeNames)
	var answer receiveAnswer
	for _, m := range taken {
		out := message{MessageID: m.ID, ReceiptHandle: m.Receipt, Body: m.Body, BodyDigest: m.BodyDigest(), Attributes: m.System()}
		maps.DeleteFunc(out.Attributes, func(name, _ string) bool {
			return !slices.Contains(system, all) && !slices.Contains(system, name)
		})
		chosen := m.Message
		chosen.Attributes = maps.Clone(m.Attributes)
		maps.DeleteFunc(chosen.Attributes, func(name string, _ queue.Attribute) bool { return !in.wants(name) })
		out.AttributesDigest = chosen.AttributesDigest()
		for name, value := range chosen.Attributes {
			if out.MessageAttributes == nil {
				out.MessageAttributes = map[string]attribute{}
			}
			out.MessageAttributes[name] = attribute(value)
		}
		answer.Messages = append(answer.Messages, out)
	}
	return answer
}

// wants reports whether a message attribute is requested: by its name, by a prefix
// such as foo.*, or with all.
func (in receiveRequest) wants(name string) bool {
	return slices.ContainsFunc(in.MessageAttributeNames, func(asked string) bool {
		prefix, many := strings.CutSuffix(asked, ".*")
		return asked == all || asked == name || many && strings.HasPrefix(name, prefix)
	})
}
