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

// getQueueAttributes knows what changes, how many messages there are, and how
// others name the queue. The rest the template says.
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
