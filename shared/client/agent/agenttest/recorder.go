package agenttest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/client/agent/endpoint"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// Recorder records an agent's output and checks the contract of run.Output.
type Recorder struct {
	T       *testing.T
	Log     []string
	Open    *run.ItemStart
	Content *content.Draft
	Events  []session.Event // complete ones
}

// Emit records an output.
func (r *Recorder) Emit(o run.Output) error {
	switch {
	case o.Item != nil && o.Delta == nil && o.Event == nil && !o.Completes:
		if r.Open != nil {
			r.T.Errorf("item %+v begins while %+v is in progress", o.Item, r.Open)
		}
		r.Open, r.Content = o.Item, content.NewDraft(o.Item.Role)
		r.Log = append(r.Log, strings.TrimSpace(fmt.Sprintf("item %s %s %s", o.Item.ID, o.Item.Author, o.Item.Role)))
	case o.Delta != nil && o.Event == nil && !o.Completes:
		if r.Open == nil {
			r.T.Errorf("delta %+v without an item", o.Delta)
		} else if err := r.Content.Append(*o.Delta, ""); err != nil {
			r.T.Errorf("delta %+v: %v", o.Delta, err)
		}
		raw, err := json.Marshal(o.Delta)
		if err != nil {
			r.T.Error(err)
		}
		r.Log = append(r.Log, "delta "+string(raw))
	case o.Event != nil:
		r.event(o)
	default:
		r.T.Errorf("output %+v", o)
	}
	return nil
}

func (r *Recorder) event(o run.Output) {
	kind := "event "
	if o.Completes {
		kind = "completed "
		if r.Open == nil || r.Open.ID != o.Event.ID || jsonx.IsNull(o.Event.Fields["content"]) {
			r.T.Errorf("%s completes %+v", o.Event.Own(), r.Open)
		}
		r.Open = nil
	}
	if o.Event.InvocationID != "run-1" || o.Event.Author == "" {
		r.T.Errorf("event %s", o.Event.Own())
	}
	r.Events = append(r.Events, *o.Event)
	r.Log = append(r.Log, kind+string(o.Event.Own()))
}

// Text returns the text of all completed events.
func (r *Recorder) Text() string {
	var out strings.Builder
	for _, e := range r.Events {
		var c struct {
			Parts []struct {
				Text    string
				Thought bool
			}
		}
		if err := json.Unmarshal(e.Fields["content"], &c); err != nil {
			r.T.Errorf("content of %s: %v", e.Own(), err)
		}
		for _, p := range c.Parts {
			if !p.Thought {
				out.WriteString(p.Text)
			}
		}
	}
	return out.String()
}

// Contents returns the contents of the completed events, without what each keeps of
// where it came from.
func (r *Recorder) Contents() string {
	var out []string
	for _, e := range r.Events {
		text := strings.TrimPrefix(string(e.Fields["content"]), `{"parts":`)
		out = append(out, strings.TrimSuffix(text, `,"role":"model"}`))
	}
	return strings.Join(out, "\n")
}

// Record runs an agent and returns what it output, with the error of the run.
func Record(t *testing.T, a run.Agent, req run.Request) (*Recorder, error) {
	t.Helper()
	r := &Recorder{T: t}
	err := a.Run(t.Context(), req, r.Emit)
	if err == nil && r.Open != nil {
		t.Errorf("done with %+v in progress", r.Open)
	}
	return r, err
}

// MustRecord is Record for runs that succeed.
func MustRecord(t *testing.T, a run.Agent, req run.Request) *Recorder {
	t.Helper()
	r, err := Record(t, a, req)
	if err != nil {
		t.Fatalf("run: %v\nafter %q", err, r.Log)
	}
	return r
}

// WantError checks the code of an *endpoint.Error and that its message contains a text.
func WantError(t *testing.T, err error, code, says string) {
	t.Helper()
	var failed *endpoint.Error
	if !errors.As(err, &failed) {
		t.Fatalf("got %v, want an agent's error", err)
	}
	if failed.Code != code || !strings.Contains(failed.Message, says) {
		t.Errorf("got %q %q (%s), want %q … %q", failed.Code, failed.Message, failed.Detail, code, says)
	}
	if p := failed.Problem(); p.Code != code || p.Message != failed.Message {
		t.Errorf("problem %+v", p)
	}
}

// ProblemOf returns what a run shows of an error.
func ProblemOf(t *testing.T, err error) *run.Problem {
	t.Helper()
	p, ok := err.(interface{ Problem() *run.Problem })
	if !ok {
		t.Fatalf("%v has no problem", err)
	}
	return p.Problem()
}
