package invoke

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/boot/batch"
	"github.com/rethread/rethread/shared/client/tracing"
	"github.com/rethread/rethread/shared/domain/run"
)

// runnerVariable is the environment variable with the name of the function that executes
// runs.
const runnerVariable = "RUNNER_FUNCTION"

// Runner returns the function that hands a run to a worker.
func Runner(d boot.Deps) func(context.Context, run.Ref) error {
	return Dispatcher(lambda.NewFromConfig(d.AWS), os.Getenv(runnerVariable))
}

// NextQueued begins queued runs and hands them to the runner.
func NextQueued(d boot.Deps) batch.QueuedStarter {
	return run.Next{Store: d.Store.Runs, Hand: Runner(d)}.Start
}

// Dispatcher invokes the function that executes runs, without waiting for it.
func Dispatcher(client *lambda.Client, function string) func(context.Context, run.Ref) error {
	return func(ctx context.Context, ref run.Ref) error {
		if function == "" {
			return errors.New("the environment variable " + runnerVariable + " names no function")
		}
		event, err := json.Marshal(boot.Job{Ref: ref, TraceParent: tracing.Parent(ctx)})
		if err != nil {
			return fmt.Errorf("encode run %s: %w", ref.RunID, err)
		}
		_, err = client.Invoke(ctx, &lambda.InvokeInput{
			FunctionName: &function, InvocationType: types.InvocationTypeEvent, Payload: event,
		})
		if err != nil {
			return fmt.Errorf("hand run %s to %s: %w", ref.RunID, function, err)
		}
		return nil
	}
}
