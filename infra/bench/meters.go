package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/rethread/rethread/infra/bench/meter"
	"github.com/rethread/rethread/infra/bench/meter/scenario"
	"github.com/rethread/rethread/infra/bench/price"
	dynamodblocal "github.com/rethread/rethread/infra/local/dynamodb-local"
	"github.com/rethread/rethread/infra/test/e2e/host"
)

// recordMeter plays all scenarios, records what they cost, and writes the page of costs. It
// fails if one exceeds its bound.
func recordMeter(ctx context.Context, out io.Writer, root string) error {
	memory, err := memoryOf(root)
	if err != nil {
		return err
	}
	measures, dear := meters(ctx, out, root, scenario.Full())
	if dear != nil && !errors.Is(dear, scenario.ErrDear) {
		return dear
	}
	record := scenario.Record{Date: time.Now().UTC().Format(time.DateOnly), Memory: memory, Measures: measures}
	if err := os.MkdirAll(filepath.Dir(price.MeterFile(root)), 0o750); err != nil {
		return fmt.Errorf("write the measures: %w", err)
	}
	if err := record.WriteFile(price.MeterFile(root)); err != nil {
		return err
	}
	return errors.Join(dear, price.Write(root))
}

// meters plays the scenarios of a plan on a whole system of its own, and prints what they
// cost. The error is scenario.ErrDear if one exceeds its bound.
func meters(ctx context.Context, out io.Writer, root string, plan scenario.Plan) (measures []scenario.Measure, err error) {
	agent := &scenario.Agent{}
	url, stop, err := serve(ctx, agent)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	config, err := scenario.AgentConfig(url)
	if err != nil {
		return nil, err
	}
	engine, err := dynamodblocal.Start(ctx, dynamodblocal.Options{Root: root})
	if err != nil {
		return nil, err
	}
	defer engine.Stop()
	proxy, err := meter.Start(ctx, engine.Endpoint())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, proxy.Close()) }()
	log, logs := &host.Tail{}, &scenario.Logs{}
	h, err := host.Start(ctx, host.Options{
		Binary: filepath.Join(root, "build", "rethread-local"), Root: root, Data: host.InMemory, Output: io.MultiWriter(log, logs),
		Env: []string{"AGENTS=" + config, "DYNAMODB_ENDPOINT=" + proxy.URL, "METRICS=functions"},
	})
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, log)
	}
	defer func() { err = errors.Join(err, h.Stop()) }()
	system := scenario.System{URL: h.URL, WebSocketURL: h.WebSocketURL, Meter: proxy, Agent: agent, Logs: logs, Measured: progress}
	measures, err = scenario.Run(ctx, system, plan)
	if reported := scenario.Report(out, measures); err != nil || reported != nil {
		return nil, errors.Join(fmt.Errorf("%w\n%s", err, log), reported)
	}
	for _, m := range measures {
		err = errors.Join(err, scenario.Check(m))
	}
	return measures, err
}

// progress shows that the scenarios go on, beside the table.
func progress(m scenario.Measure) {
	_, _ = fmt.Fprintf(os.Stderr, "measured after %d turns: %s\n", m.History, m.Scenario)
}

// memoryOf returns the memory of each function in GB.
func memoryOf(root string) (map[string]float64, error) {
	template, err := loadTemplate(root)
	if err != nil {
		return nil, err
	}
	out := map[string]float64{}
	for _, f := range template.Functions {
		out[f.LogicalID] = float64(f.MemoryMB) / 1024
	}
	return out, nil
}
