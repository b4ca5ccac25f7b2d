package endings_test

import (
	"encoding/json"
	"testing"

	"github.com/rethread/rethread/infra/test/frontendtest"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
)

// ofItem returns the end that an item of the agent tells.
func ofItem(t *testing.T, e session.Event) end {
	t.Helper()
	var content struct {
		Parts []struct {
			Text string
			Call *struct{} `json:"function_call"`
		}
	}
	var reason string
	var problem run.Problem
	for name, into := range map[string]any{"content": &content, "finish_reason": &reason, "error": &problem} {
		if raw := e.Fields[name]; raw != nil {
			if err := json.Unmarshal(raw, into); err != nil {
				t.Fatal(err)
			}
		}
	}
	out := end{how: "completed"}
	for _, p := range content.Parts {
		out.said += p.Text
		if p.Call != nil {
			out.how = "asks"
		}
	}
	if how := map[string]string{"length": "truncated", "content_filter": "refused"}[reason]; how != "" {
		out.how = how
	}
	if e.Status == session.EventFailed {
		if out.how = "failed"; problem.Code == run.CodeCancelled {
			out.how = "cancelled"
		}
	}
	if e.Status == session.EventInProgress {
		out.how = "nothing"
	}
	return out
}

// last returns the end that the last item of an agent tells.
func last(t *testing.T, items []session.Event) end {
	t.Helper()
	out := end{how: "gone"}
	for _, e := range items {
		if e.Author == "helper" {
			out = ofItem(t, e)
		}
	}
	return out
}

// thread is a session as REST and watchers have it: streams are what a watcher gets that
// has begun before the run, or in its middle. The run is started over AG-UI.
func thread() protocol {
	read := func(t *testing.T, r *frontendtest.Rig) run.Thread {
		t.Helper()
		got, err := r.Store.Runs.Thread(t.Context(), frontendtest.Alice, "s", run.ThreadQuery{Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	watching := func(t *testing.T, r *frontendtest.Rig, driver *frontendtest.Stream) *reader {
		t.Helper()
		now := read(t, r)
		at := watch.Cursor{Epoch: now.Session.Epoch, Seq: now.Seq, Offset: now.Offset}
		items := now.Items
		return &reader{Stream: driver, read: func(t *testing.T) end {
			t.Helper()
			missed, err := r.Store.Watching.CatchUp(t.Context(), frontendtest.Alice, "s", watch.From{Cursor: &at})
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range missed {
				switch {
				case m.Type == watch.Rewound, m.Type == watch.Reload:
					return end{how: "gone"}
				case m.Item != nil:
					items = append(items, *m.Item)
				}
			}
			return last(t, items)
		}}
	}
	return protocol{
		name: "the thread",
		start: func(t *testing.T, r *frontendtest.Rig, queued bool) *reader {
			t.Helper()
			watcher := watching(t, r, nil)
			driver := overAGUI().start(t, r, queued)
			watcher.Stream, watcher.fold = driver.Stream, driver.fold
			return watcher
		},
		resume: func(t *testing.T, r *frontendtest.Rig, _ *reader) *reader {
			t.Helper()
			watcher := watching(t, r, nil)
			driver := overAGUI().resume(t, r, nil)
			watcher.Stream, watcher.fold = driver.Stream, driver.fold
			return watcher
		},
		poll: func(t *testing.T, r *frontendtest.Rig, _ *reader) end { t.Helper(); return last(t, read(t, r).Items) },
		reload: func(t *testing.T, r *frontendtest.Rig, _ *reader) end {
			t.Helper()
			page, err := r.Store.Sessions.Events(t.Context(), frontendtest.Alice, "s", session.EventQuery{View: session.Effective, Limit: 100})
			if err != nil {
				t.Fatal(err)
			}
			return last(t, page.Events)
		},
	}
}
