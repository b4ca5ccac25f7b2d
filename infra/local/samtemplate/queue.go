package samtemplate

import (
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// SQS's defaults of a queue.
const (
	defaultRetention         = 4 * 24 * time.Hour
	defaultVisibilityTimeout = 30 * time.Second
)

// fifoSuffix ends the names of FIFO queues only.
const fifoSuffix = ".fifo"

// Queue is an SQS queue.
type Queue struct {
	LogicalID string
	Name      string
	ARN       string
	URL       string
	// Retention is how long a message is kept; 0 means forever.
	Retention time.Duration
	// VisibilityTimeout is how long a received message stays hidden.
	VisibilityTimeout time.Duration
	// FIFO means that messages of a group are delivered in order, one batch at a time,
	// and that duplicates are dropped.
	FIFO bool
	// GroupDeduplication compares deduplication ids within a group only; it requires
	// FIFO.
	GroupDeduplication bool
	// Redrive moves messages that were received too often; nil disables it.
	Redrive *Redrive
}

// Redrive moves messages to a dead letter queue.
type Redrive struct {
	// Queue is the logical id of the dead letter queue.
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
	Key               any `yaml:"KmsMasterKeyId"`
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
		return nil, at(node, "%s: maxReceiveCount must be from 1 to 1000", id)
	}
	if q.FIFO != strings.HasSuffix(target, fifoSuffix) {
		return nil, at(node, "%s: the dead letter queue of a FIFO queue must be a FIFO queue, that of a standard queue a standard queue", id)
	}
	return &Redrive{Queue: other, MaxReceives: receives}, nil
}

// check checks SQS's limits.
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
			return at(node, "%s: %s must be from %d to %d", id, limit.property, limit.least, limit.most)
		}
	}
	switch {
	case !p.FIFO && p.Scope != "":
		return at(node, "%s: only a FIFO queue has deduplication", id)
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
