package samtemplate

import (
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// What Lambda does with asynchronous invocations where the template says nothing,
// and the most it allows.
const (
	DefaultAsyncRetries = 2
	DefaultAsyncAge     = 6 * time.Hour
	leastAsyncAge       = time.Minute
)

// AsyncInvoke says how a function's asynchronous invocations go.
type AsyncInvoke struct {
	MaxRetries int           // 0 to 2
	MaxAge     time.Duration // 1 minute to 6 hours
	// OnSuccess and OnFailure are the ARNs of the queues, topics or functions of
	// the template that are told how they ended, or empty.
	OnSuccess, OnFailure string
}

type asyncProperties struct {
	MaxAge      *int `yaml:"MaximumEventAgeInSeconds"`
	Retries     *int `yaml:"MaximumRetryAttempts"`
	Destination struct {
		OnSuccess *destinationProperties `yaml:"OnSuccess"`
		OnFailure *destinationProperties `yaml:"OnFailure"`
	} `yaml:"DestinationConfig"`
}

type destinationProperties struct {
	Type        string `yaml:"Type"`
	Destination string `yaml:"Destination"`
}

func (r *resolver) buildAsync(id string, node *yaml.Node, p asyncProperties) (AsyncInvoke, error) {
	a := AsyncInvoke{MaxRetries: DefaultAsyncRetries, MaxAge: DefaultAsyncAge}
	if p.Retries != nil {
		a.MaxRetries = *p.Retries
	}
	if p.MaxAge != nil {
		a.MaxAge = time.Duration(*p.MaxAge) * time.Second
	}
	if a.MaxRetries < 0 || a.MaxRetries > DefaultAsyncRetries {
		return a, at(node, "%s: MaximumRetryAttempts goes from 0 to %d", id, DefaultAsyncRetries)
	}
	if a.MaxAge < leastAsyncAge || a.MaxAge > DefaultAsyncAge {
		return a, at(node, "%s: MaximumEventAgeInSeconds goes from 60 to 21600", id)
	}
	var err error
	if a.OnSuccess, err = r.destination(node, id, p.Destination.OnSuccess, "SQS", "SNS", "Lambda"); err != nil {
		return a, err
	}
	a.OnFailure, err = r.destination(node, id, p.Destination.OnFailure, "SQS", "SNS", "Lambda")
	return a, err
}

// destination reads the ARN of a destination, which must be of a kind that may
// stand there and in this template: SAM would make up a queue that nobody reads
// where the template names none.
func (r *resolver) destination(node *yaml.Node, what string, p *destinationProperties, kinds ...string) (string, error) {
	if p == nil {
		return "", nil
	}
	if !slices.Contains(kinds, p.Type) {
		return "", at(node, "%s: a destination's Type must be one of %s, not %q", what, strings.Join(kinds, ", "), p.Type)
	}
	if strings.HasSuffix(p.Destination, fifoSuffix) {
		return "", at(node, "%s: a destination must not be a FIFO queue", what)
	}
	if !strings.HasPrefix(p.Destination, "arn:") {
		return "", at(node, "%s: a destination must be an ARN", what)
	}
	typ := map[string]string{"SQS": typeQueue, "SNS": typeTopic, "Lambda": typeFunction}[p.Type]
	if _, err := r.logicalID(node, typ, p.Destination); err != nil {
		return "", err
	}
	return p.Destination, nil
}
