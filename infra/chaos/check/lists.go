package check

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/rethread/rethread/infra/chaos/ledger"
	"github.com/rethread/rethread/infra/chaos/users"
)

// lists looks at what people have: sessions, tasks, artifacts and feedback.
func (c *Checker) lists(ctx context.Context) error {
	for _, p := range c.World.Persons {
		if err := c.owned(ctx, p); err != nil {
			return err
		}
	}
	tasks, artifacts, feedback := c.World.Kept()
	for _, saved := range tasks {
		if err := c.task(ctx, saved); err != nil {
			return err
		}
	}
	given := map[string]int{}
	for _, put := range artifacts {
		if err := c.artifact(ctx, put, given); err != nil {
			return err
		}
	}
	return c.feedback(ctx, feedback)
}

// owned: what was created is listed once, and what was created once is there once.
func (c *Checker) owned(ctx context.Context, p *users.Person) error {
	all, status, err := c.World.List(ctx, p, "/api/v1/sessions?limit=50")
	if err = settled(status, err); err != nil {
		return err
	}
	ids, names, imported := map[string]int{}, map[string]int{}, map[string]bool{}
	for _, op := range c.World.Ledger.All() {
		imported[op.Session] = imported[op.Session] || op.Kind == "import"
	}
	for _, raw := range all {
		var s struct{ ID, Name string }
		if err := json.Unmarshal(raw, &s); err != nil {
			return err
		}
		ids[s.ID]++
		if !imported[s.ID] { // these have the name of what was exported
			names[s.Name]++
		}
	}
	if err := c.usage(ctx, p, len(ids)); err != nil {
		return err
	}
	for _, t := range c.World.Talks() {
		if t.Owner == p && c.logs[t.ID] != nil {
			c.hold(ids[t.ID] == 1, "listed", t.ID, "it is listed %d times", ids[t.ID])
		}
	}
	for _, op := range c.World.Ledger.All() {
		if op.User != p.ID || op.Kind != "create" && op.Kind != "fork" {
			continue
		}
		n := names[op.Tokens[0]]
		c.hold(n < 2, "once", op.Session, "there are %d sessions of %v", n, &op)
		c.hold(n == 0 || op.Outcome != ledger.Refused, "refused", op.Session, "the session is there: %v", &op)
	}
	return nil
}

// task: it reads as it was saved last, unless it was rewound.
func (c *Checker) task(ctx context.Context, saved users.Saved) error {
	s := c.logs[saved.Talk.ID]
	if s == nil || len(saved.Texts) == 0 {
		return nil
	}
	shown := false
	for i, e := range s.log.Entries {
		if e.TaskID != saved.ID {
			continue
		}
		if shown = slices.Contains(s.log.Now().View, i); !shown {
			return nil // it was rewound
		}
	}
	status, body, err := c.World.Get(ctx, saved.Talk.Owner, users.Path(saved.Talk)+"/tasks/"+saved.ID)
	if err != nil {
		return err
	}
	text := ""
	if status == http.StatusOK {
		text = message(body)
	}
	c.hold(slices.Contains(saved.Texts, text), "tasks", s.talk.ID, "%s should be one of %q, and is %q (%d)", saved.ID, saved.Texts, text, status)
	return nil
}

// artifact: a version has a number of its own, and reads as it was put.
func (c *Checker) artifact(ctx context.Context, put users.Put, given map[string]int) error {
	if c.logs[put.Talk.ID] == nil {
		return nil
	}
	version := strconv.FormatInt(put.Version, 10)
	given[put.Talk.ID+put.Name+version]++
	c.hold(given[put.Talk.ID+put.Name+version] == 1, "artifacts", put.Talk.ID, "the version %s of %s was given twice", version, put.Name)
	status, body, err := c.World.Get(ctx, put.Talk.Owner, users.Path(put.Talk)+"/artifacts/"+put.Name+"?version="+version)
	if err != nil {
		return err
	}
	c.hold(status == http.StatusOK && string(body) == put.Body, "artifacts", put.Talk.ID, "the version %s of %s reads %d %.100q, and was put as %.100q",
		version, put.Name, status, body, put.Body)
	return nil
}

// feedback: what was accepted is listed, once.
func (c *Checker) feedback(ctx context.Context, all []users.Given) error {
	lists := map[*users.Talk]map[string]int{}
	for _, f := range all {
		if c.logs[f.Talk.ID] == nil {
			continue
		}
		if lists[f.Talk] == nil {
			texts := map[string]int{}
			_, err := c.World.Pages(ctx, f.Talk.Owner, "/api/v1/feedback?session_id="+url.QueryEscape(f.Talk.ID), func(body []byte) (string, error) {
				var out struct {
					Feedback []struct{ Text string }
					Next     *string `json:"next_cursor"`
				}
				err := json.Unmarshal(body, &out)
				for _, given := range out.Feedback {
					texts[given.Text]++
				}
				if out.Next == nil {
					return "", err
				}
				return *out.Next, err
			})
			if err != nil {
				return err
			}
			lists[f.Talk] = texts
		}
		n := lists[f.Talk][f.Text]
		c.hold(n == 1, "feedback", f.Talk.ID, "%s of the task %s is listed %d times", f.Text, f.Task, n)
	}
	return nil
}

// message is what a task's one bubble says; where there is another number of them,
// the whole.
func message(body []byte) string {
	var task struct {
		Bubbles []struct{ Message string } `json:"message_bubbles"`
	}
	if json.Unmarshal(body, &task) != nil || len(task.Bubbles) != 1 {
		return string(body)
	}
	return task.Bubbles[0].Message
}

// usage: no run holds a place any more, and each session one.
func (c *Checker) usage(ctx context.Context, p *users.Person, sessions int) error {
	status, body, err := c.World.Get(ctx, p, "/api/v1/me/usage")
	if err = settled(status, err); err != nil {
		return err
	}
	var out struct {
		Data struct{ Sessions, Runs struct{ Used int } }
	}
	if err := json.Unmarshal(body, &out); err != nil {
		return err
	}
	c.hold(out.Data.Runs.Used == 0, "usage", "", "%s has no run, and uses %d", p.ID, out.Data.Runs.Used)
	c.hold(out.Data.Sessions.Used == sessions, "usage", "", "%s has %d sessions, and uses %d", p.ID, sessions, out.Data.Sessions.Used)
	return nil
}
