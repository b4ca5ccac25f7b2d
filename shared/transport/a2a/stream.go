package a2a

import (
	"context"
	"strings"
	"time"

	lib "github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/transport/a2a/a2aconvert"
)

// stream sends the events of a task to one listener.
type stream struct {
	*handler

	link   task.Link
	sent   *sent
	yield  func(lib.Event, error) bool
	closed bool // by the listener
}

func (h *handler) newStream(link task.Link, yield func(lib.Event, error) bool) *stream {
	return &stream{handler: h, link: link, sent: newSent(link), yield: yield}
}

// stream sends the current task, then every update, and finally the status with
// which its run ends.
func (h *handler) stream(ctx context.Context, link task.Link, yield func(lib.Event, error) bool) {
	t, events, err := h.loadEvents(ctx, link)
	if err != nil {
		yield(nil, err)
		return
	}
	s := h.newStream(link, yield)
	if s.sendTask(t, events) && !settled(t) {
		s.follow(ctx)
	}
}

// sendTask sends the current task.
func (s *stream) sendTask(t *lib.Task, events []session.Event) bool {
	s.sent.record(t, events)
	return s.send(t)
}

func (s *stream) send(e lib.Event) bool {
	s.closed = s.closed || !s.yield(e, nil)
	return !s.closed
}

// fail reports why the stream ends early, unless the listener has left or the
// time is up: then a client that needs more subscribes again.
func (s *stream) fail(ctx context.Context, err error) {
	if !s.closed && ctx.Err() == nil {
		s.yield(nil, err)
	}
}

// sendNew sends what is new in these events.
func (s *stream) sendNew(events []session.Event) bool {
	for _, e := range s.sent.updates(events) {
		if !s.send(e) {
			return false
		}
	}
	return true
}

// follow sends the task's last run to its end and returns the final task; false
// if the stream is over.
func (s *stream) follow(ctx context.Context) (*lib.Task, bool) {
	if err := s.handler.follow(ctx, s.link, s.sendNew); err != nil || s.closed {
		s.fail(ctx, err)
		return nil, false
	}
	t, events, err := s.loadEvents(ctx, s.link)
	if err == nil {
		err = s.recheck(ctx, s.link, access.Watch)
	}
	if err != nil {
		s.fail(ctx, err)
		return nil, false
	}
	ok := s.sendNew(events) && s.send(&lib.TaskStatusUpdateEvent{
		TaskID: t.ID, ContextID: t.ContextID, Status: t.Status,
		Metadata: map[string]any{a2aconvert.InvocationKey: lastRun(s.link).RunID},
	})
	return t, ok
}

func settled(t *lib.Task) bool {
	return t.Status.State.Terminal() || t.Status.State == lib.TaskStateInputRequired
}

// sent records what a stream has sent of a task: the texts of the artifacts'
// parts, by artifact id.
type sent struct {
	link  task.Link
	parts map[lib.ArtifactID][]string
	done  map[string]bool // events that were sent in their final form
}

func newSent(link task.Link) *sent {
	return &sent{link: link, parts: map[lib.ArtifactID][]string{}, done: map[string]bool{}}
}

// record notes a task that was sent, and the events it consists of.
func (s *sent) record(first *lib.Task, events []session.Event) {
	for _, a := range first.Artifacts {
		s.parts[a.ID] = texts(a)
	}
	for _, e := range events {
		s.done[e.ID] = e.Status != session.EventInProgress
	}
}

func texts(a *lib.Artifact) []string {
	out := make([]string, len(a.Parts))
	for i, p := range a.Parts {
		out[i] = p.Text()
	}
	return out
}

// updates returns the updates that bring the reader to these events.
func (s *sent) updates(events []session.Event) []lib.Event {
	var out []lib.Event
	for _, e := range events {
		if s.done[e.ID] {
			continue
		}
		whole := e.Status != session.EventInProgress
		if update := s.artifactUpdate(e, whole); update != nil {
			out = append(out, update)
		}
		if whole {
			s.done[e.ID] = true
			if a2aconvert.Steps(e) {
				out = append(out, s.stepUpdate(e))
			}
		}
	}
	return out
}

// stepUpdate returns the update with an intermediate step of the agent.
func (s *sent) stepUpdate(e session.Event) lib.Event {
	at := time.UnixMilli(e.CreatedTime).UTC()
	return &lib.TaskStatusUpdateEvent{
		TaskID: lib.TaskID(s.link.TaskID), ContextID: s.link.SessionID,
		Status: lib.TaskStatus{
			State: lib.TaskStateWorking, Message: a2aconvert.Message(e, s.link.TaskID), Timestamp: &at,
		},
		Metadata: map[string]any{a2aconvert.InvocationKey: e.InvocationID},
	}
}

// artifactUpdate returns the parts added to an artifact, or all of it if it was
// not only extended; nil without a change. The last update has all parts again:
// some clients keep only that one, others assemble the parts before.
func (s *sent) artifactUpdate(e session.Event, whole bool) lib.Event {
	a := a2aconvert.Artifact(e)
	if a == nil {
		return nil
	}
	before, known := s.parts[a.ID]
	added, continues := addition(before, a)
	switch {
	case whole || !continues:
		added, known = a.Parts, false
	case len(added) == 0:
		return nil
	}
	s.parts[a.ID] = texts(a)
	part := *a
	part.Parts = added
	return &lib.TaskArtifactUpdateEvent{
		TaskID: lib.TaskID(s.link.TaskID), ContextID: s.link.SessionID, Artifact: &part,
		Append: known, LastChunk: whole, Metadata: map[string]any{a2aconvert.InvocationKey: e.InvocationID},
	}
}

// addition returns what an artifact has beyond the texts of its parts that were
// sent before; false if it does not begin with them.
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
