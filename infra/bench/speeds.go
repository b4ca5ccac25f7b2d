package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/pprof"
	"strings"
	"time"

	"github.com/rethread/rethread/infra/bench/speed"
	dynamodblocal "github.com/rethread/rethread/infra/local/dynamodb-local"
	"github.com/rethread/rethread/infra/local/samtemplate"
	"github.com/rethread/rethread/infra/local/table"
	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/table/dynamo"
)

// speeds measures appends at the store as ratios to bare conditional puts, each scenario
// in an engine of its own: the engine's streams slow down as they grow. With a profile's
// file it writes a profile of the processor's time there.
func speeds(ctx context.Context, out io.Writer, definition samtemplate.Table, what choice) (err error) {
	if what.profile != "" {
		file, err := os.Create(what.profile)
		if err != nil {
			return fmt.Errorf("write a profile: %w", err)
		}
		if err := pprof.StartCPUProfile(file); err != nil {
			return errors.Join(fmt.Errorf("write a profile: %w", err), file.Close())
		}
		defer func() { pprof.StopCPUProfile(); err = errors.Join(err, file.Close()) }()
	}
	var results []speed.Result
	for _, s := range speed.Scenarios() {
		if !strings.HasPrefix(s.Name, what.only) {
			continue
		}
		result, err := speedOf(ctx, definition, s)
		if err != nil {
			return err
		}
		results = append(results, result)
	}
	return speed.Report(out, results)
}

func speedOf(ctx context.Context, definition samtemplate.Table, s speed.Scenario) (speed.Result, error) {
	engine, err := dynamodblocal.Start(ctx, dynamodblocal.Options{})
	if err != nil {
		return speed.Result{}, err
	}
	defer engine.Stop()
	client := table.NewClient(engine.Endpoint(), table.AccessKey)
	if _, err := table.Ensure(ctx, client, definition); err != nil {
		return speed.Result{}, err
	}
	plan := speed.Plan{Slice: 2 * time.Second, Rounds: 4}
	return speed.Measure(ctx, dynamo.New(client, definition.Name, store.Schema()), s, plan)
}
