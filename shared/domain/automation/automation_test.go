package automation_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/automation"
	"github.com/rethread/rethread/shared/domain/notification"
)

// review starts a reviewer after negative feedback.
func review() automation.Automation {
	return automation.Automation{
		ID: "au1", UserID: "alice", Name: "review", Status: automation.Active,
		On: automation.Trigger{Types: []string{"feedback.created"}},
		Do: automation.Action{Agent: "reviewer", Session: automation.Same, Input: "Look at {{task_id}}."},
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*automation.Automation)
		at     string
	}{
		"a whole one":           {func(*automation.Automation) {}, ""},
		"all types of a family": {func(a *automation.Automation) { a.On.Types = []string{"run.*", "feedback.*"} }, ""},
		"all placeholders": {func(a *automation.Automation) {
			a.Do.Input = "{{" + strings.Join(automation.Placeholders(), "}}{{ ") + "}}"
		}, ""},
		"braces without a placeholder": {func(a *automation.Automation) { a.Do.Input = `{"a": {"b": 1}} {{ {x} }` }, ""},
		"a deletion, elsewhere":        {func(a *automation.Automation) { a.On.Types, a.Do.Session = []string{"session.deleted"}, automation.New }, ""},
		"a deletion, there":            {func(a *automation.Automation) { a.On.Types = []string{"session.deleted"} }, "/do/session"},
		"no type":                      {func(a *automation.Automation) { a.On.Types = nil }, "/on/types"},
		"an unknown type":              {func(a *automation.Automation) { a.On.Types = []string{"run.started", "run.paused"} }, "/on/types/1"},
		"a type of A2A's alone":        {func(a *automation.Automation) { a.On.Types = []string{"item.completed"} }, "/on/types/0"},
		"a type twice":                 {func(a *automation.Automation) { a.On.Types = []string{"run.*", "run.*"} }, "/on/types/1"},
		"an agent that is no id":       {func(a *automation.Automation) { a.On.Agents = []string{"a/b/c"} }, "/on/agents/0"},
		"an invalid session":           {func(a *automation.Automation) { a.On.SessionIDs = []string{""} }, "/on/session_ids/0"},
		"an unknown feedback":          {func(a *automation.Automation) { a.On.FeedbackTypes = []string{"sideways"} }, "/on/feedback_types/0"},
		"an invalid feedback type":     {func(a *automation.Automation) { a.On.Types, a.On.FeedbackTypes = []string{"run.*"}, []string{"up"} }, "/on/feedback_types"},
		"too many filters": {func(a *automation.Automation) {
			for i := range automation.MaxFilters + 1 {
				a.On.SessionIDs = append(a.On.SessionIDs, fmt.Sprint(i))
			}
		}, "/on/session_ids"},
		"no agent":                   {func(a *automation.Automation) { a.Do.Agent = "" }, "/do/agent"},
		"an unknown kind of session": {func(a *automation.Automation) { a.Do.Session = "other" }, "/do/session"},
		"an unknown on_active":       {func(a *automation.Automation) { a.Do.OnActive = "queue" }, "/do/on_active"},
		"nothing to ask":             {func(a *automation.Automation) { a.Do.Input = "" }, "/do/input"},
		"an input that is too long":  {func(a *automation.Automation) { a.Do.Input = strings.Repeat("ä", automation.MaxInput+1) }, "/do/input"},
		"an unknown placeholder":     {func(a *automation.Automation) { a.Do.Input = "{{type}} {{text}}" }, "/do/input"},
		"a long name":                {func(a *automation.Automation) { a.Name = strings.Repeat("a", automation.MaxName+1) }, "/name"},
		"a broken name":              {func(a *automation.Automation) { a.Name = "\xff" }, "/name"},
		"another status":             {func(a *automation.Automation) { a.Status = "resting" }, "/status"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := review()
			test.change(&a)
			err := a.Validate()
			var f *fault.Error
			if test.at == "" && err == nil || errors.As(err, &f) && f.Violations[0].Pointer == test.at {
				return
			}
			t.Errorf("%v, not at %q", err, test.at)
		})
	}
}

func TestChange(t *testing.T) {
	t.Parallel()
	active, disabled, name := automation.Active, automation.Disabled, "other"
	a := review()
	paused, err := automation.Change{Status: &disabled, Name: &name}.Apply(a, 7)
	if err != nil || paused.DisabledReason != automation.Paused || paused.Name != name || paused.UpdatedTime != 7 || paused.Version != 1 {
		t.Errorf("%+v, %v", paused, err)
	}
	paused.DisabledReason = automation.Runaway
	if still, err := (automation.Change{Status: &disabled}).Apply(paused, 8); err != nil || still.DisabledReason != automation.Runaway {
		t.Errorf("%+v, %v", still, err)
	}
	if again, err := (automation.Change{Status: &active}).Apply(paused, 6); err != nil || again.DisabledReason != "" || again.UpdatedTime != 7 {
		t.Errorf("%+v, %v", again, err)
	}
	if _, err := (automation.Change{Do: &automation.Action{}}).Apply(a, 7); err == nil {
		t.Error("a change that breaks a rule is taken")
	}
}

func TestWants(t *testing.T) {
	t.Parallel()
	down := notification.Event{
		Type: notification.FeedbackCreated, UserID: "alice", SessionID: "s", Agent: "helper", TaskID: "t", Feedback: "down",
	}
	for name, test := range map[string]struct {
		automation func(*automation.Automation)
		event      func(*notification.Event)
		want       bool
	}{
		"the event":                                {want: true},
		"another user's":                           {event: func(e *notification.Event) { e.UserID = "bob" }},
		"another type":                             {event: func(e *notification.Event) { e.Type = notification.TaskSaved }},
		"a family":                                 {automation: func(a *automation.Automation) { a.On.Types = []string{"feedback.*"} }, want: true},
		"while it is disabled":                     {automation: func(a *automation.Automation) { a.Status = automation.Disabled }},
		"an agent it names":                        {automation: func(a *automation.Automation) { a.On.Agents = []string{"x", "helper"} }, want: true},
		"another agent":                            {automation: func(a *automation.Automation) { a.On.Agents = []string{"x"} }},
		"a session it names":                       {automation: func(a *automation.Automation) { a.On.SessionIDs = []string{"s"} }, want: true},
		"another session":                          {automation: func(a *automation.Automation) { a.On.SessionIDs = []string{"t"} }},
		"a feedback it names":                      {automation: func(a *automation.Automation) { a.On.FeedbackTypes = []string{"down"} }, want: true},
		"another feedback type":                    {automation: func(a *automation.Automation) { a.On.FeedbackTypes = []string{"up"} }},
		"an event caused by other automations":     {event: func(e *notification.Event) { e.Chain = []string{"au2", "au3"} }, want: true},
		"an event caused by the automation itself": {event: func(e *notification.Event) { e.Chain = []string{"au1"} }},
		"an event caused by the automation itself, indirectly": {event: func(e *notification.Event) { e.Chain = []string{"au1", "au2"} }},
		"an event caused by three automations":                 {event: func(e *notification.Event) { e.Chain = []string{"au2", "au3", "au4"} }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, e := review(), down
			if test.automation != nil {
				test.automation(&a)
			}
			if test.event != nil {
				test.event(&e)
			}
			if got := a.Wants(e); got != test.want {
				t.Errorf("%v", got)
			}
		})
	}
}

// Whatever automations exist and whichever acts first, the chain that begins with
// one event ends, and none acts twice.
func TestWants_comes_to_an_end(t *testing.T) {
	t.Parallel()
	property.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(rt, "automations")
		pending := []notification.Event{{Type: notification.RunCompleted, UserID: "alice", SessionID: "s"}}
		acted := 0
		for len(pending) > 0 {
			e := pending[0]
			pending = pending[1:]
			for i := range n {
				a := review()
				a.ID, a.On.Types = fmt.Sprint("au", i), []string{"run.*"}
				if !a.Wants(e) {
					continue
				}
				acted++
				next := e
				next.Chain = append(append([]string{}, e.Chain...), a.ID)
				pending = append(pending, next)
			}
		}
		if most := n + n*(n-1) + n*(n-1)*(n-2); acted > most {
			rt.Fatalf("%d automations acted %d times", n, acted)
		}
	})
}

func TestRuns(t *testing.T) {
	t.Parallel()
	var runs automation.Runs
	for i := range automation.MaxRuns {
		next, ok := runs.Add(fmt.Sprint(i), int64(i))
		if !ok {
			t.Fatalf("run %d is one too many", i)
		}
		runs = next
	}
	if _, ok := runs.Add("again", 60); ok {
		t.Error("one more is not too many")
	}
	if again, ok := runs.Add("7", 60); !ok || len(again) != automation.MaxRuns {
		t.Error("one that is counted is counted again")
	}
	later := automation.RunsWithin.Milliseconds()
	if after, ok := runs.Add("later", later); !ok || len(after) != automation.MaxRuns {
		t.Errorf("%v, %d", ok, len(after))
	}
	if after, ok := runs.Add("later", 2*later); !ok || len(after) != 1 {
		t.Errorf("%v, %d", ok, len(after))
	}
}

func TestRender(t *testing.T) {
	t.Parallel()
	e := notification.Event{
		ID: "e1", Type: notification.ArtifactSaved, SessionID: "s1", Agent: "helper", Artifact: "{{type}}", Time: 1735776000007,
	}
	for input, want := range map[string]string{
		"plain": "plain",
		"{{type}} of {{ session_id }} by {{agent}}, {{run_id}}.": "artifact.saved of s1 by helper, .",
		"{{artifact}} {{version}} at {{time}}":                   "{{type}} 0 at 2025-01-02T00:00:00Z",
		"{{{type}}}":                                             "{artifact.saved}",
	} {
		if diff := cmp.Diff(want, automation.Action{Input: input}.Render(e)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", input, diff)
		}
	}
}
