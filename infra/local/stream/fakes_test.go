package stream_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rethread/rethread/infra/local/lambda"
	"github.com/rethread/rethread/infra/local/samtemplate"
	"github.com/rethread/rethread/infra/local/stream"
	"github.com/rethread/rethread/infra/local/stream/reader"
)

const (
	streamARN = "arn:aws:dynamodb:us-east-1:0:table/table/stream/then"
	queueARN  = "arn:aws:sqs:us-east-1:0:queue"
)

// fakeLog is an in-memory stream.
type fakeLog struct {
	mu      sync.Mutex
	shards  []reader.Shard
	records map[string][]*reader.Record
	last    int
	changed chan struct{}
}

func newLog(shards ...reader.Shard) *fakeLog {
	if shards == nil {
		shards = []reader.Shard{{ID: "shard"}}
	}
	return &fakeLog{shards: shards, records: map[string][]*reader.Record{}, changed: make(chan struct{})}
}

// add writes changes of items to a shard and returns their sequence numbers.
func (l *fakeLog) add(shard string, items ...string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var sequences []string
	for _, item := range items {
		l.last++
		sequence := fmt.Sprintf("%04d", l.last)
		data := `{"eventName":"INSERT","dynamodb":{"Keys":{"PK":{"S":"` + item + `"}},"SequenceNumber":"` + sequence + `"}}`
		l.records[shard] = append(l.records[shard], reader.NewRecord(sequence, item, time.Now(), []byte(data)))
		sequences = append(sequences, sequence)
	}
	close(l.changed)
	l.changed = make(chan struct{})
	return sequences
}

// end closes a shard and opens its children.
func (l *fakeLog) end(shard string, children ...reader.Shard) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.shards {
		l.shards[i].Closed = l.shards[i].Closed || l.shards[i].ID == shard
	}
	l.shards = append(l.shards, children...)
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *fakeLog) ARN() string { return streamARN }

func (l *fakeLog) Shards(context.Context) ([]reader.Shard, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.shards), nil
}

func (l *fakeLog) End(_ context.Context, shard string) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if records := l.records[shard]; len(records) > 0 {
		return records[len(records)-1].Sequence, nil
	}
	return "", nil
}

func (l *fakeLog) Read(ctx context.Context, shard, after string) (reader.Page, error) {
	for {
		page, changed := l.read(shard, after)
		if len(page.Records) > 0 || page.Closed {
			return page, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return reader.Page{}, ctx.Err()
		}
	}
}

func (l *fakeLog) read(shard, after string) (page reader.Page, changed chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, record := range l.records[shard] {
		if record.Sequence > after {
			page.Records = append(page.Records, record)
		}
	}
	page.Closed = slices.ContainsFunc(l.shards, func(s reader.Shard) bool { return s.ID == shard && s.Closed })
	return page, l.changed
}

// call is an invocation with its records' sequence numbers and items.
type call struct {
	at        time.Duration // since the start
	sequences []string
	items     []string
}

// fakeInvoker returns the test's answers.
type fakeInvoker struct {
	answer func(ctx context.Context, c call) (*lambda.Result, error)
	began  time.Time

	mu    sync.Mutex
	calls []call
}

func (f *fakeInvoker) Invoke(ctx context.Context, function string, payload []byte) (*lambda.Result, error) {
	if function != "Fn" || len(payload) > lambda.MaxRequestBytes {
		return nil, fmt.Errorf("invoked %s with %d bytes", function, len(payload))
	}
	var event struct {
		Records []struct {
			Change struct {
				SequenceNumber string
				Keys           struct{ PK struct{ S string } }
			} `json:"dynamodb"`
		}
	}
	if err := json.Unmarshal(payload, &event); err != nil {
		return nil, err
	}
	c := call{at: time.Since(f.began)}
	for _, record := range event.Records {
		c.sequences = append(c.sequences, record.Change.SequenceNumber)
		c.items = append(c.items, record.Change.Keys.PK.S)
	}
	f.mu.Lock()
	f.calls = append(f.calls, c)
	f.mu.Unlock()
	if f.answer == nil {
		return &lambda.Result{RequestID: "request", Payload: []byte("null")}, nil
	}
	return f.answer(ctx, c)
}

// all lists the invocations.
func (f *fakeInvoker) all() []call {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.calls)
}

// batches lists the sequence numbers of each invocation.
func (f *fakeInvoker) batches() [][]string {
	var batches [][]string
	for _, c := range f.all() {
		batches = append(batches, c.sequences)
	}
	return batches
}

// fakeDestination records what is delivered to it.
type fakeDestination struct {
	mu     sync.Mutex
	bodies []string
}

func (f *fakeDestination) Deliver(_ context.Context, arn string, body []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if arn != queueARN {
		return fmt.Errorf("delivered to %s", arn)
	}
	f.bodies = append(f.bodies, string(body))
	return nil
}

func (f *fakeDestination) all() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.bodies)
}

// succeed, fail and report are answers of a function.
func succeed() (*lambda.Result, error) {
	return &lambda.Result{RequestID: "request", Payload: []byte(`{"batchItemFailures":[]}`)}, nil
}

func fail() (*lambda.Result, error) {
	return &lambda.Result{RequestID: "request", Payload: []byte(`{"errorMessage":"no"}`), FunctionError: "Unhandled"}, nil
}

func report(sequences ...string) (*lambda.Result, error) {
	var failures []map[string]string
	for _, sequence := range sequences {
		failures = append(failures, map[string]string{"itemIdentifier": sequence})
	}
	payload, err := json.Marshal(map[string]any{"batchItemFailures": failures})
	return &lambda.Result{RequestID: "request", Payload: payload}, err
}

// rig is a mapping that runs on fakes.
type rig struct {
	log         *fakeLog
	invoker     *fakeInvoker
	destination *fakeDestination
	stop        func()
}

// mapping is the default mapping of tests.
func mapping() samtemplate.Stream {
	return samtemplate.Stream{
		Name: "Changes", Table: "Table", StartingPosition: samtemplate.StartTrimHorizon, BatchSize: 100,
		MaxRetries: -1, ParallelizationFactor: 1, Enabled: true, FailureDestination: queueARN,
	}
}

// mustRun starts a mapping that ends with the test or by stop.
func mustRun(t testing.TB, log *fakeLog, settings samtemplate.Stream, answer func(context.Context, call) (*lambda.Result, error)) *rig {
	t.Helper()
	return mustRunFrom(t, "", log, settings, answer)
}

func mustRunFrom(t testing.TB, checkpoints string, log *fakeLog, settings samtemplate.Stream,
	answer func(context.Context, call) (*lambda.Result, error),
) *rig {
	t.Helper()
	r := &rig{log: log, destination: &fakeDestination{}, invoker: &fakeInvoker{answer: answer, began: time.Now()}}
	opts := options(checkpoints, log, settings, r.invoker)
	opts.Destinations = r.destination
	source, err := stream.New(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- source.Run(ctx) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return r
}

func options(checkpoints string, log *fakeLog, settings samtemplate.Stream, invoker *fakeInvoker) stream.Options {
	return stream.Options{
		Functions: []samtemplate.Function{{LogicalID: "Fn", Name: "function", Streams: []samtemplate.Stream{settings}}},
		Tables:    []samtemplate.Table{{LogicalID: "Table", Name: "table"}},
		Open:      func(context.Context, string) (stream.Log, error) { return log, nil },
		Invoker:   invoker,
		Region:    "us-east-1", Account: "0", Checkpoints: checkpoints, Log: slog.New(slog.DiscardHandler),
	}
}
