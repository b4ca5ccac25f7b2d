package samtemplate

import "time"

// What a queue does where the template says nothing.
const (
	defaultRetention         = 4 * 24 * time.Hour
	defaultVisibilityTimeout = 30 * time.Second
)

// Queue is an SQS queue.
type Queue struct {
	LogicalID string
	Name      string
	ARN       string
	// Retention is how long a message is kept.
	Retention time.Duration
	// VisibilityTimeout is how long a message that was received stays hidden.
	VisibilityTimeout time.Duration
	// Delay is how long a new message stays hidden.
	Delay time.Duration
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
	QueueName  string `yaml:"QueueName"`
	Retention  *int   `yaml:"MessageRetentionPeriod"`
	Visibility *int   `yaml:"VisibilityTimeout"`
	Delay      int    `yaml:"DelaySeconds"`
	Redrive    *struct {
		Target      string `yaml:"deadLetterTargetArn"`
		MaxReceives int    `yaml:"maxReceiveCount"`
	} `yaml:"RedrivePolicy"`

	KmsDataKeyReuse    any `yaml:"KmsDataKeyReusePeriodSeconds"`
	KmsMasterKey       any `yaml:"KmsMasterKeyId"`
	MaximumMessageSize any `yaml:"MaximumMessageSize"`
	ReceiveWaitTime    any `yaml:"ReceiveMessageWaitTimeSeconds"`
	RedriveAllowPolicy any `yaml:"RedriveAllowPolicy"`
	ManagedEncryption  any `yaml:"SqsManagedSseEnabled"`
	Tags               any `yaml:"Tags"`
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
	q := Queue{
		LogicalID: id, Name: name, ARN: r.arn("sqs", name), Delay: time.Duration(p.Delay) * time.Second,
		Retention: defaultRetention, VisibilityTimeout: defaultVisibilityTimeout,
	}
	if p.Retention != nil {
		q.Retention = time.Duration(*p.Retention) * time.Second
	}
	if p.Visibility != nil {
		q.VisibilityTimeout = time.Duration(*p.Visibility) * time.Second
	}
	if p.Redrive == nil {
		return q, nil
	}
	target, err := r.logicalID(entry.node, typeQueue, p.Redrive.Target)
	q.Redrive = &Redrive{Queue: target, MaxReceives: p.Redrive.MaxReceives}
	return q, err
}

func buildTopic(r *resolver, id string, entry resource) (Topic, error) {
	name, err := r.physicalName(id, entry)
	return Topic{LogicalID: id, Name: name, ARN: r.arn("sns", name)}, err
}
