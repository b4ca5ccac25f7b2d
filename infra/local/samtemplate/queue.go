package samtemplate

import (
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// What a queue does where the template says nothing.
const (
	defaultRetention         = 4 * 24 * time.Hour
	defaultVisibilityTimeout = 30 * time.Second
)

// fifoSuffix ends the names of FIFO queues, and of no others.
const fifoSuffix = ".fifo"

// Queue is an SQS queue.
type Queue struct {
	LogicalID string
	Name      string
	ARN       string
	URL       string
	// Retention is how long a message is kept; zero means for good.
	Retention time.Duration
	// VisibilityTimeout is how long a message that was received stays hidden.
	VisibilityTimeout time.Duration
	// FIFO says that messages of a group are handed out in order, one receiver at
	// a time, and that a message sent again is dropped.
	FIFO bool
	// GroupDeduplication compares deduplication ids within their group only, which
	// is a FIFO queue's.
	GroupDeduplication bool
	// Redrive says where messages go that are received over and over; nil means
	// nowhere.
	Redrive *Redrive
}

// Redrive moves messages to another queue.
type Redrive struct {
	// Queue is the logical id of the other one.
	Queue       string
	MaxReceives int
}

type queueProperties struct {
	Retention  *int   `yaml:"MessageRetentionPeriod"`
	Visibility *int   `yaml:"VisibilityTimeout"`
	FIFO       bool   `yaml:"FifoQueue"`
	Scope      string `yaml:"DeduplicationScope"`
	Redrive    *struct {
		Target      string `yaml:"deadLetterTargetArn"`
		MaxReceives int    `yaml:"maxReceiveCount"`
	} `yaml:"RedrivePolicy"`

	ManagedEncryption any `yaml:"SqsManagedSseEnabled"`
	Tags              any `yaml:"Tags"`
	ThroughputLimit   any `yaml:"FifoThroughputLimit"`
}

func buildQueue(r *resolver, id string, entry resource) (Queue, error) {
	var p queueProperties
	if err := r.properties(id, entry, "", &p); err != nil {
		return Queue{}, err
	}
	name, err := r.physicalName(id, entry)
	if err != nil {
		return Queue{}, err
	}
	if err := p.check(id, entry.node); err != nil {
		return Queue{}, err
	}
	q := Queue{
		LogicalID: id, Name: name, ARN: r.arn("sqs", name), URL: r.queueURL(name),
		Retention: seconds(p.Retention, defaultRetention), VisibilityTimeout: seconds(p.Visibility, defaultVisibilityTimeout),
		FIFO: p.FIFO, GroupDeduplication: p.Scope == "messageGroup",
	}
	if p.Redrive == nil {
		return q, nil
	}
	q.Redrive, err = r.buildRedrive(id, q, p.Redrive.Target, p.Redrive.MaxReceives, entry.node)
	return q, err
}

func (r *resolver) buildRedrive(id string, q Queue, target string, receives int, node *yaml.Node) (*Redrive, error) {
	other, err := r.logicalID(node, typeQueue, target)
	if err != nil {
		return nil, err
	}
	if receives < 1 || receives > 1000 {
		return nil, at(node, "%s: maxReceiveCount goes from 1 to 1000", id)
	}
	if q.FIFO != strings.HasSuffix(target, fifoSuffix) {
		return nil, at(node, "%s: the dead letter queue of a FIFO queue must be one, and of another queue must not", id)
	}
	return &Redrive{Queue: other, MaxReceives: receives}, nil
}

// check knows what SQS allows.
func (p queueProperties) check(id string, node *yaml.Node) error {
	for _, limit := range []struct {
		property    string
		value       *int
		least, most int
	}{
		{"MessageRetentionPeriod", p.Retention, 60, 1_209_600},
		{"VisibilityTimeout", p.Visibility, 0, 43_200},
	} {
		if limit.value != nil && (*limit.value < limit.least || *limit.value > limit.most) {
			return at(node, "%s: %s goes from %d to %d", id, limit.property, limit.least, limit.most)
		}
	}
	switch {
	case !p.FIFO && p.Scope != "":
		return at(node, "%s: only a FIFO queue deduplicates", id)
	case p.Scope != "" && p.Scope != "queue" && p.Scope != "messageGroup":
		return at(node, "%s: DeduplicationScope must be queue or messageGroup", id)
	}
	return nil
}

func seconds(value *int, otherwise time.Duration) time.Duration {
	if value == nil {
		return otherwise
	}
	return time.Duration(*value) * time.Second
}
