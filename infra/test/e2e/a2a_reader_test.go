package e2e_test

import (
	"iter"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// reader assembles a task from its stream, like any client.
type reader struct {
	first *a2a.Task
	last  a2a.TaskState
	parts map[a2a.ArtifactID]string
	order []a2a.ArtifactID
}

func newReader() *reader { return &reader{parts: map[a2a.ArtifactID]string{}} }

func (r *reader) take(event a2a.Event) {
	switch e := event.(type) {
	case *a2a.Task: // the complete task
		r.first, r.last = e, e.Status.State
		for _, a := range e.Artifacts {
			r.add(a, false)
		}
	case *a2a.TaskArtifactUpdateEvent:
		r.add(e.Artifact, e.Append)
	case *a2a.TaskStatusUpdateEvent:
		r.last = e.Status.State
	}
}

func (r *reader) add(a *a2a.Artifact, appends bool) {
	if _, known := r.parts[a.ID]; !known {
		r.order = append(r.order, a.ID)
	}
	if !appends {
		r.parts[a.ID] = ""
	}
	for _, p := range a.Parts {
		r.parts[a.ID] += p.Text()
	}
}

// text is the text of the artifacts, in the order of their arrival.
func (r *reader) text() string {
	var out strings.Builder
	for _, id := range r.order {
		out.WriteString(r.parts[id])
	}
	return out.String()
}

func (r *reader) over() bool { return r.last.Terminal() }

// mustStream reads a stream to its end and returns the text of the artifacts,
// assembled by a reader, and the last state.
func mustStream(t *testing.T, events iter.Seq2[a2a.Event, error]) (first *a2a.Task, text string, last a2a.TaskState) {
	t.Helper()
	r := newReader()
	for event, err := range events {
		if err != nil {
			t.Fatal(err)
		}
		r.take(event)
	}
	return r.first, r.text(), r.last
}

// artifactText is the text of a task's artifacts.
func artifactText(t *a2a.Task) string {
	r := newReader()
	r.take(t)
	return r.text()
}
