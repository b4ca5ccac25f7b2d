package samtemplate

import (
	"time"

	"gopkg.in/yaml.v3"
)

// What Lambda does with a queue where the template says nothing, and the most it
// allows.
const (
	defaultQueueBatch = 10
	mostFIFOBatch     = 10 // and of other queues, where the mapping has no window
	mostQueueBatch    = 10_000
	mostWindowSeconds = 300
	leastConcurrency  = 2
	mostConcurrency   = 1000
)

// QueueMapping feeds a queue's messages to a function.
type QueueMapping struct {
	// Name is the event's in the template.
	Name string
	// Queue is the logical id of the queue.
	Queue       string
	BatchSize   int
	BatchWindow time.Duration
	// MaxConcurrency is how many batches may be under way at once; zero means as
	// many as the function takes.
	MaxConcurrency        int
	PartialBatchResponses bool
	Enabled               bool
}

type queueMappingProperties struct {
	Queue         string   `yaml:"Queue"`
	BatchSize     int      `yaml:"BatchSize"`
	Window        int      `yaml:"MaximumBatchingWindowInSeconds"`
	ResponseTypes []string `yaml:"FunctionResponseTypes"`
	Scaling       struct {
		MaxConcurrency *int `yaml:"MaximumConcurrency"`
	} `yaml:"ScalingConfig"`
	Enabled *bool `yaml:"Enabled"`
}

func (r *resolver) buildQueueMapping(what, name string, node *yaml.Node) (QueueMapping, error) {
	p := queueMappingProperties{BatchSize: defaultQueueBatch}
	if err := decode(node, what, &p); err != nil {
		return QueueMapping{}, err
	}
	queue, err := r.logicalID(node, typeQueue, p.Queue)
	if err != nil {
		return QueueMapping{}, err
	}
	m := QueueMapping{
		Name: name, Queue: queue, BatchSize: p.BatchSize, BatchWindow: time.Duration(p.Window) * time.Second,
		Enabled: p.Enabled == nil || *p.Enabled,
	}
	if most := p.Scaling.MaxConcurrency; most != nil {
		if *most < leastConcurrency || *most > mostConcurrency {
			return m, at(node, "%s: MaximumConcurrency goes from %d to %d", what, leastConcurrency, mostConcurrency)
		}
		m.MaxConcurrency = *most
	}
	if p.Window < 0 || p.Window > mostWindowSeconds {
		return m, at(node, "%s: MaximumBatchingWindowInSeconds goes from 0 to %d", what, mostWindowSeconds)
	}
	m.PartialBatchResponses, err = partialBatches(what, p.ResponseTypes, node)
	return m, err
}

// partialBatches reads FunctionResponseTypes.
func partialBatches(what string, kinds []string, node *yaml.Node) (bool, error) {
	for _, kind := range kinds {
		if kind != "ReportBatchItemFailures" {
			return false, at(node, "%s: response type %s is not supported", what, kind)
		}
	}
	return len(kinds) > 0, nil
}

// checkQueues checks what depends on several resources: where queues move their
// messages, and who reads them.
func checkQueues(r *resolver, t *Template) error {
	queues := map[string]Queue{}
	for _, q := range t.Queues {
		queues[q.LogicalID] = q
	}
	for _, q := range t.Queues {
		if q.Redrive == nil {
			continue
		}
		if _, ok := queues[q.Redrive.Queue]; !ok {
			return at(r.resources[q.LogicalID].node, "%s: its dead letter queue is not there under its condition", q.LogicalID)
		}
	}
	return checkQueueMappings(r, t.Functions, queues)
}

func checkQueueMappings(r *resolver, functions []Function, queues map[string]Queue) error {
	for _, f := range functions {
		for _, m := range f.Queues {
			node := r.resources[f.LogicalID].node
			q, ok := queues[m.Queue]
			if !ok {
				return at(node, "%s.%s: the queue %s is not there under its condition", f.LogicalID, m.Name, m.Queue)
			}
			if err := m.check(f, q, node); err != nil {
				return err
			}
		}
	}
	return nil
}

// check is what Lambda checks when it makes a mapping.
func (m QueueMapping) check(f Function, q Queue, node *yaml.Node) error {
	what, most := f.LogicalID+"."+m.Name, mostFIFOBatch
	if !q.FIFO && m.BatchWindow > 0 {
		most = mostQueueBatch
	}
	switch {
	case q.FIFO && m.BatchWindow > 0:
		return at(node, "%s: a FIFO queue's mapping has no batching window", what)
	case m.BatchSize < 1 || m.BatchSize > most:
		return at(node, "%s: BatchSize goes from 1 to %d, and beyond %d only with a batching window, which FIFO queues lack",
			what, mostQueueBatch, mostFIFOBatch)
	case q.VisibilityTimeout < f.Timeout:
		return at(node, "%s: the VisibilityTimeout of %s, %s, is less than the Timeout of the function, %s",
			what, q.LogicalID, q.VisibilityTimeout, f.Timeout)
	}
	return nil
}
