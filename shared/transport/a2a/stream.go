package a2a

import (
	"context"
	"strings"
	"time"

	lib "github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/transport/a2a/convert"
)

// stream tells one listener of a task.
type stream struct {
	*handler

	link  task.Link
	told  *told
	yield func(lib.Event, error) bool
	gone  bool // the listener
}

func (h *handler) newStream(link task.Link, yield func(lib.Event, error) bool) *stream {
	return &stream{handler: h, link: link, told: newTold(link), yield: yield}
}

// stream tells a task as it stands, then what is added to it, and at last the
// status that its run ends with.
func (h *handler) stream(ctx context.Context, link task.Link, yield func(lib.Event, error) bool) {
	t, events, err := h.loadEvents(ctx, link)
	if err != nil {
		yield(nil, err)
		return
	}
	s := h.newStream(link, yield)
	if s.first(t, events) && !settled(t) {
		s.follow(ctx)
	}
}

// first tells the task as it stands.
func (s *stream) first(t *lib.Task, events []session.Event) bool {
	s.told.have(t, events)
	return s.tell(t)
}

func (s *stream) tell(e lib.Event) bool {
	s.gone = s.gone || !s.yield(e, nil)
	return !s.gone
}

// fail tells why the stream ends early, unless nobody reads or its time is up:
// then who wants more subscribes again.
func (s *stream) fail(ctx context.Context, err error) {
	if !s.gone && ctx.Err() == nil {
		s.yield(nil, err)
	}
}

// send tells what of these events is new.
func (s *stream) send(events []session.Event) bool {
	for _, e := range s.told.updates(events) {
		if !s.tell(e) {
			return false
		}
	}
	return true
}

// follow tells the task's last run to its end and returns the task then; false
// where the stream is over.
func (s *stream) follow(ctx context.Context) (*lib.Task, bool) {
	if err := s.handler.follow(ctx, s.link, s.send); err != nil || s.gone {
		s.fail(ctx, err)
		return nil, false
	}
	t, events, err := s.loadEvents(ctx, s.link)
	if err == nil {
		err = s.stillHears(ctx, s.link)
	}
	if err != nil {
		s.fail(ctx, err)
		return nil, false
	}
	ok := s.send(events) && s.tell(&lib.TaskStatusUpdateEvent{
		TaskID: t.ID, ContextID: t.ContextID, Status: t.Status,
		Metadata: map[string]any{convert.InvocationKey: lastRun(s.link).RunID},
	})
	return t, ok
}

func settled(t *lib.Task) bool {
	return t.Status.State.Terminal() || t.Status.State == lib.TaskStateInputRequired
}

// told is what a stream has told of a task's artifacts: by their ids, the texts
// of their parts.
type told struct {
	link  task.Link
	parts map[lib.ArtifactID][]string
	done  map[string]bool // events that were told whole
}

func newTold(link task.Link) *told {
	return &told{link: link, parts: map[lib.ArtifactID][]string{}, done: map[string]bool{}}
}

// have notes what a task says that was sent whole, and the events it is made of.
func (t *told) have(first *lib.Task, events []session.Event) {
	for _, a := range first.Artifacts {
		t.parts[a.ID] = texts(a)
	}
	for _, e := range events {
		t.done[e.ID] = e.Status != session.EventInProgress
	}
}

func texts(a *lib.Artifact) []string {
	out := make([]string, len(a.Parts))
	for i, p := range a.Parts {
		out[i] = p.Text()
	}
	return out
}

// updates is what to tell so that the reader has these events.
func (t *told) updates(events []session.Event) []lib.Event {
	var out []lib.Event
	for _, e := range events {
		if t.done[e.ID] {
			continue
		}
		whole := e.Status != session.EventInProgress
		if update := t.grown(e, whole); update != nil {
			out = append(out, update)
		}
		if whole {
			t.done[e.ID] = true
			if convert.Steps(e) {
				out = append(out, t.step(e))
			}
		}
	}
	return out
}

// step tells how the agent goes about it.
func (t *told) step(e session.Event) lib.Event {
	at := time.UnixMilli(e.CreatedTime).UTC()
	return &lib.TaskStatusUpdateEvent{
		TaskID: lib.TaskID(t.link.TaskID), ContextID: t.link.SessionID,
		Status: lib.TaskStatus{
			State: lib.TaskStateWorking, Message: convert.Message(e, t.link.TaskID), Timestamp: &at,
		},
		Metadata: map[string]any{convert.InvocationKey: e.InvocationID},
	}
}

// grown is how an artifact has grown: what was added to its parts, or all of it
// where that is not how it changed. nil for nothing new.
func (t *told) grown(e session.Event, whole bool) lib.Event {
	a := convert.Artifact(e)
	if a == nil {
		return nil
	}
	before, known := t.parts[a.ID]
	now := texts(a)
	added, continues := addition(before, a)
	if !continues {
		added, known = a.Parts, false
	}
	if len(added) == 0 {
		if !whole {
			return nil
		}
		added = lib.ContentParts{lib.NewTextPart("")}
	}
	t.parts[a.ID] = now
	part := *a
	part.Parts = added
	return &lib.TaskArtifactUpdateEvent{
		TaskID: lib.TaskID(t.link.TaskID), ContextID: t.link.SessionID, Artifact: &part,
		Append: known, LastChunk: whole, Metadata: map[string]any{convert.InvocationKey: e.InvocationID},
	}
}

// addition is what an artifact has beyond the texts of its parts that were told
// before; false where these are not how it begins.
func addition(before []string, a *lib.Artifact) (lib.ContentParts, bool) {
	if len(before) > len(a.Parts) {
		return nil, false
	}
	var added lib.ContentParts
	for i, p := range a.Parts {
		if i >= len(before) {
			added = append(added, p)
			continue
		}
		rest, ok := strings.CutPrefix(p.Text(), before[i])
		if !ok {
			return nil, false
		}
		if rest != "" {
			more := *p
			more.Content = lib.Text(rest)
			added = append(added, &more)
		}
	}
	return added, true
}
