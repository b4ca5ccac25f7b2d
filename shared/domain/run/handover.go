package run

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
)

// failTime bounds the end of a run that no worker accepted.
const failTime = 5 * time.Second

// Ender ends runs.
type Ender interface {
	End(ctx context.Context, ref Ref, status Status, problem *Problem) (Run, error)
}

// FailStart ends a run that no worker accepted, even if the request that started it has
// been given up. It returns false if the run is already over, because it was cancelled,
// merged into another run, or executed after all.
func FailStart(ctx context.Context, s Ender, log *slog.Logger, ref Ref, cause error) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), failTime)
	defer cancel()
	log.ErrorContext(ctx, "no worker accepted a run", "error", cause)
	failed, err := failStart(ctx, s, ref)
	if err != nil {
		log.ErrorContext(ctx, "a run without a worker was not ended; it ends when its lease expires", "error", err)
	}
	return failed
}

func failStart(ctx context.Context, s Ender, ref Ref) (bool, error) {
	_, err := s.End(ctx, ref, Failed, NewProblem(CodeStart, "The run could not be handed to a worker."))
	if errors.Is(err, fault.Of(fault.Conflict)) {
		return false, nil
	}
	return true, err
}
