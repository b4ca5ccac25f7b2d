package sqsapi

import (
	"slices"
	"strconv"
)

type attributesRequest struct {
	QueueURL       string `json:"QueueUrl"`
	AttributeNames []string
}

type attributesAnswer struct {
	Attributes map[string]string `json:",omitempty"`
}

// getQueueAttributes returns the numbers of messages and the queue's ARN.
// Everything else is in the template.
func (a *API) getQueueAttributes(in attributesRequest) (any, error) {
	q, err := a.find(in.QueueURL)
	if err != nil {
		return nil, err
	}
	counts := q.Count()
	answer := attributesAnswer{map[string]string{}}
	for name, value := range map[string]string{
		"QueueArn":                              q.Settings().ARN,
		"ApproximateNumberOfMessages":           strconv.Itoa(counts.Visible),
		"ApproximateNumberOfMessagesNotVisible": strconv.Itoa(counts.InFlight),
		"ApproximateNumberOfMessagesDelayed":    strconv.Itoa(counts.Delayed),
	} {
		if slices.Contains(in.AttributeNames, all) || slices.Contains(in.AttributeNames, name) {
			answer.Attributes[name] = value
		}
	}
	return answer, nil
}
