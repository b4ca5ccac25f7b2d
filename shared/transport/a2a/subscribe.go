package a2a

import (
	"context"
	"iter"

	lib "github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/rethread/rethread/shared/domain/access"
)

// SubscribeToTask implements a2asrv.RequestHandler: it sends the current task,
// then everything that happens to it until it is over. While the task waits for
// input, so does the stream.
func (h *handler) SubscribeToTask(ctx context.Context, req *lib.SubscribeToTaskRequest) iter.Seq2[lib.Event, error] {
	return func(yield func(lib.Event, error) bool) {
		link, err := h.link(ctx, req.ID, access.Watch)
		if err != nil {
			yield(nil, err)
			return
		}
		t, events, err := h.loadEvents(ctx, link)
		if err != nil {
			yield(nil, err)
			return
		}
		if t.Status.State.Terminal() {
			yield(nil, lib.NewError(lib.ErrUnsupportedOperation, "the task is over: get it instead"))
			return
		}
		err = h.WithLease(ctx, func(ctx context.Context) error {
			s := h.newStream(link, yield)
			if s.sendTask(t, events) {
				s.followRuns(ctx, t)
			}
			return nil
		})
		if err != nil {
			yield(nil, err)
		}
	}
}

// followRuns sends the runs of a task one after the other.
func (s *stream) followRuns(ctx context.Context, t *lib.Task) {
	for ok := true; ok && !t.Status.State.Terminal(); {
		if t.Status.State == lib.TaskStateInputRequired {
			var err error
			if s.link, err = s.awaitReply(ctx, s.link); err != nil {
				s.fail(ctx, err)
				return
			}
		}
		t, ok = s.follow(ctx)
	}
}
