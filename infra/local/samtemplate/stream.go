package samtemplate

import (
	"time"

	"gopkg.in/yaml.v3"
)

// Where a new mapping starts: with the next record, or with the oldest one in the
// stream.
const (
	StartLatest      = "LATEST"
	StartTrimHorizon = "TRIM_HORIZON"
)

// Lambda's defaults of an event source mapping.
const (
	defaultStreamBatch = 100
	unlimited          = -1
)

// Stream delivers a table's changes to a function.
type Stream struct {
	// Name is the name of the event in the template.
	Name string
	// Table is the logical id of the table.
	Table                 string
	StartingPosition      string
	BatchSize             int
	BatchWindow           time.Duration
	Filters               []string
	BisectOnError         bool
	MaxRetries            int           // -1 means until the record expires
	MaxRecordAge          time.Duration // 0 means the stream's retention
	ParallelizationFactor int
	PartialBatchResponses bool
	// FailureDestination is the ARN of a queue of the template, or empty.
	FailureDestination string
	Enabled            bool
}

type streamProperties struct {
	Stream           string `yaml:"Stream"`
	StartingPosition string `yaml:"StartingPosition"`
	BatchSize        int    `yaml:"BatchSize"`
	Window           int    `yaml:"MaximumBatchingWindowInSeconds"`
	FilterCriteria   struct {
		Filters []struct {
			Pattern string `yaml:"Pattern"`
		} `yaml:"Filters"`
	} `yaml:"FilterCriteria"`
	Bisect        bool     `yaml:"BisectBatchOnFunctionError"`
	Retries       *int     `yaml:"MaximumRetryAttempts"`
	MaxAge        *int     `yaml:"MaximumRecordAgeInSeconds"`
	Parallel      int      `yaml:"ParallelizationFactor"`
	ResponseTypes []string `yaml:"FunctionResponseTypes"`
	Destination   struct {
		OnFailure *destinationProperties `yaml:"OnFailure"`
	} `yaml:"DestinationConfig"`
	Enabled *bool `yaml:"Enabled"`
}

func (r *resolver) buildStream(what, name string, node *yaml.Node) (Stream, error) {
	p := streamProperties{BatchSize: defaultStreamBatch, Parallel: 1}
	if err := decode(node, what, &p); err != nil {
		return Stream{}, err
	}
	table, err := r.logicalID(node, typeTable, p.Stream)
	if err != nil {
		return Stream{}, err
	}
	if p.StartingPosition != StartLatest && p.StartingPosition != StartTrimHorizon {
		return Stream{}, at(node, "%s: StartingPosition must be %s or %s", what, StartLatest, StartTrimHorizon)
	}
	s := Stream{
		Name: name, Table: table, StartingPosition: p.StartingPosition, BatchSize: p.BatchSize,
		BatchWindow: time.Duration(p.Window) * time.Second, BisectOnError: p.Bisect,
		MaxRetries: unlimited, ParallelizationFactor: p.Parallel, Enabled: p.Enabled == nil || *p.Enabled,
	}
	for _, filter := range p.FilterCriteria.Filters {
		s.Filters = append(s.Filters, filter.Pattern)
	}
	if p.Retries != nil {
		s.MaxRetries = *p.Retries
	}
	if p.MaxAge != nil && *p.MaxAge > 0 {
		s.MaxRecordAge = time.Duration(*p.MaxAge) * time.Second
	}
	if s.PartialBatchResponses, err = partialBatches(what, p.ResponseTypes, node); err != nil {
		return s, err
	}
	s.FailureDestination, err = r.destination(node, what, p.Destination.OnFailure)
	return s, err
}
