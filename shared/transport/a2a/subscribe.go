package a2a

import (
	"context"
	"iter"

	lib "github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/rethread/rethread/shared/domain/access"
)

// SubscribeToTask implements a2asrv.RequestHandler: it tells a task as it
// stands, then all that happens to it until it is over. Where it waits for its
// user, so does the stream.
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
		err = h.whileCounted(ctx, func(ctx context.Context) {
			s := h.newStream(link, yield)
			if s.first(t, events) {
				s.untilOver(ctx, t)
			}
		})
		if err != nil {
			yield(nil, err)
		}
	}
}

// untilOver tells one run of a task after the other.
func (s *stream) untilOver(ctx context.Context, t *lib.Task) {
	for ok := true; ok && !t.Status.State.Terminal(); {
		if t.Status.State == lib.TaskStateInputRequired {
			var err error
			if s.link, err = s.awaitAnswer(ctx, s.link); err != nil {
				s.fail(ctx, err)
				return
			}
		}
		t, ok = s.follow(ctx)
	}
}
