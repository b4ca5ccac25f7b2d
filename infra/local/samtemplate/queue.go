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
	defaultMessageBytes      = 1 << 20
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
	// Delay is how long a new message stays hidden.
	Delay time.Duration
	// ReceiveWait is how long a receiver waits for a message unless it says otherwise.
	ReceiveWait time.Duration
	// MaxMessageBytes is for a body and its attributes.
	MaxMessageBytes int
	// FIFO says that messages of a group are handed out in order, one receiver at
	// a time, and that a message sent again is dropped.
	FIFO bool
	// ContentDeduplication takes a message's body for its deduplication id where
	// the sender gives none, and GroupDeduplication compares ids within their
	// group only. Both are a FIFO queue's.
	ContentDeduplication, GroupDeduplication bool
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

// Topic is an SNS topic.
type Topic struct {
	LogicalID string
	Name      string
	ARN       string
}

type queueProperties struct {
	QueueName    string `yaml:"QueueName"`
	Retention    *int   `yaml:"MessageRetentionPeriod"`
	Visibility   *int   `yaml:"VisibilityTimeout"`
	Delay        int    `yaml:"DelaySeconds"`
	Wait         int    `yaml:"ReceiveMessageWaitTimeSeconds"`
	MessageBytes *int   `yaml:"MaximumMessageSize"`
	FIFO         bool   `yaml:"FifoQueue"`
	ByContent    bool   `yaml:"ContentBasedDeduplication"`
	Scope        string `yaml:"DeduplicationScope"`
	Redrive      *struct {
		Target      string `yaml:"deadLetterTargetArn"`
		MaxReceives int    `yaml:"maxReceiveCount"`
	} `yaml:"RedrivePolicy"`

	KmsDataKeyReuse    any `yaml:"KmsDataKeyReusePeriodSeconds"`
	KmsMasterKey       any `yaml:"KmsMasterKeyId"`
	ManagedEncryption  any `yaml:"SqsManagedSseEnabled"`
	RedriveAllowPolicy any `yaml:"RedriveAllowPolicy"`
	Tags               any `yaml:"Tags"`
	ThroughputLimit    any `yaml:"FifoThroughputLimit"`
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
	if err := p.check(id, name, entry.node); err != nil {
		return Queue{}, err
	}
	q := Queue{
		LogicalID: id, Name: name, ARN: r.arn("sqs", name), URL: r.queueURL(name),
		Retention: seconds(p.Retention, defaultRetention), VisibilityTimeout: seconds(p.Visibility, defaultVisibilityTimeout),
		Delay: seconds(&p.Delay, 0), ReceiveWait: seconds(&p.Wait, 0), MaxMessageBytes: defaultMessageBytes,
		FIFO: p.FIFO, ContentDeduplication: p.ByContent, GroupDeduplication: p.Scope == "messageGroup",
	}
	if p.MessageBytes != nil {
		q.MaxMessageBytes = *p.MessageBytes
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
func (p queueProperties) check(id, name string, node *yaml.Node) error {
	for _, limit := range []struct {
		property    string
		value       *int
		least, most int
	}{
		{"MessageRetentionPeriod", p.Retention, 60, 1_209_600},
		{"VisibilityTimeout", p.Visibility, 0, 43_200},
		{"DelaySeconds", &p.Delay, 0, 900},
		{"ReceiveMessageWaitTimeSeconds", &p.Wait, 0, 20},
		{"MaximumMessageSize", p.MessageBytes, 1 << 10, 1 << 20},
	} {
		if limit.value != nil && (*limit.value < limit.least || *limit.value > limit.most) {
			return at(node, "%s: %s goes from %d to %d", id, limit.property, limit.least, limit.most)
		}
	}
	switch {
	case p.FIFO != strings.HasSuffix(name, fifoSuffix):
		return at(node, "%s: the name of a FIFO queue, and of no other, ends in %s", id, fifoSuffix)
	case !p.FIFO && (p.ByContent || p.Scope != ""):
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

func buildTopic(r *resolver, id string, entry resource) (Topic, error) {
	name, err := r.physicalName(id, entry)
	return Topic{LogicalID: id, Name: name, ARN: r.arn("sns", name)}, err
}
