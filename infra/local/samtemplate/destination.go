package samtemplate

import (
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// Lambda's defaults and limits of asynchronous invocations.
const (
	DefaultAsyncRetries = 2
	DefaultAsyncAge     = 6 * time.Hour
	leastAsyncAge       = time.Minute
)

// AsyncInvoke configures a function's asynchronous invocations.
type AsyncInvoke struct {
	MaxRetries int           // 0 to 2
	MaxAge     time.Duration // 1 minute to 6 hours
	// OnFailure is the ARN of the template's queue that receives records of failures,
	// or empty.
	OnFailure string
}

type asyncProperties struct {
	MaxAge      *int `yaml:"MaximumEventAgeInSeconds"`
	Retries     *int `yaml:"MaximumRetryAttempts"`
	Destination struct {
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
		return a, at(node, "%s: MaximumRetryAttempts must be from 0 to %d", id, DefaultAsyncRetries)
	}
	if a.MaxAge < leastAsyncAge || a.MaxAge > DefaultAsyncAge {
		return a, at(node, "%s: MaximumEventAgeInSeconds must be from 60 to 21600", id)
	}
	var err error
	a.OnFailure, err = r.destination(node, id, p.Destination.OnFailure)
	return a, err
}

// destination reads the ARN of a queue of this template. Without one, SAM would
// create a queue that no program reads.
func (r *resolver) destination(node *yaml.Node, what string, p *destinationProperties) (string, error) {
	switch {
	case p == nil:
		return "", nil
	case p.Type != "SQS":
		return "", at(node, "%s: a destination of Type %q is not supported, only SQS", what, p.Type)
	case strings.HasSuffix(p.Destination, fifoSuffix):
		return "", at(node, "%s: a destination must not be a FIFO queue", what)
	case !strings.HasPrefix(p.Destination, "arn:"):
		return "", at(node, "%s: a destination must be an ARN", what)
	}
	_, err := r.logicalID(node, typeQueue, p.Destination)
	return p.Destination, err
}
