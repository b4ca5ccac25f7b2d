package samtemplate

import (
	"time"

	"gopkg.in/yaml.v3"
)

// Lambda's defaults and limits of queue mappings.
const (
	defaultQueueBatch = 10
	maxFIFOBatch      = 10 // also of other queues without a batching window
	mostQueueBatch    = 10_000
	maxWindowSeconds  = 300
	minConcurrency    = 2
	maxConcurrency    = 1000
)

// QueueMapping delivers a queue's messages to a function.
type QueueMapping struct {
	// Name is the name of the event in the template.
	Name string
	// Queue is the logical id of the queue.
	Queue       string
	BatchSize   int
	BatchWindow time.Duration
	// MaxConcurrency limits the concurrent batches; 0 means no limit other than the
	// function's.
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
		if *most < minConcurrency || *most > maxConcurrency {
			return m, at(node, "%s: MaximumConcurrency must be from %d to %d", what, minConcurrency, maxConcurrency)
		}
		m.MaxConcurrency = *most
	}
	if p.Window < 0 || p.Window > maxWindowSeconds {
		return m, at(node, "%s: MaximumBatchingWindowInSeconds must be from 0 to %d", what, maxWindowSeconds)
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

// checkQueues checks what depends on several resources: the dead letter queues and
// the functions that read queues.
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
			return at(r.resources[q.LogicalID].node, "%s: its dead letter queue does not exist: the condition is not met", q.LogicalID)
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
				return at(node, "%s.%s: the queue %s does not exist: its condition is not met", f.LogicalID, m.Name, m.Queue)
			}
			if err := m.check(f, q, node); err != nil {
				return err
			}
		}
	}
	return nil
}

// check checks what Lambda checks when a mapping is created.
func (m QueueMapping) check(f Function, q Queue, node *yaml.Node) error {
	what, most := f.LogicalID+"."+m.Name, maxFIFOBatch
	if !q.FIFO && m.BatchWindow > 0 {
		most = mostQueueBatch
	}
	switch {
	case q.FIFO && m.BatchWindow > 0:
		return at(node, "%s: a FIFO queue's mapping must not have a batching window", what)
	case m.BatchSize < 1 || m.BatchSize > most:
		return at(node, "%s: BatchSize must be from 1 to %d; more than %d is possible only with a batching window, which FIFO queues lack",
			what, mostQueueBatch, maxFIFOBatch)
	case q.VisibilityTimeout < f.Timeout:
		return at(node, "%s: the VisibilityTimeout of %s, %s, is less than the Timeout of the function, %s",
			what, q.LogicalID, q.VisibilityTimeout, f.Timeout)
	}
	return nil
}
