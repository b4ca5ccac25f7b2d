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

// lists checks users' sessions, tasks, artifacts and feedback.
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

// owned checks that a session is listed once, and that a single create made one
// session.
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
		if !imported[s.ID] { // imported sessions have the name of the exported one
			names[s.Name]++
		}
	}
	if err := c.usage(ctx, p, len(ids)); err != nil {
		return err
	}
	for _, t := range c.World.Sessions() {
		if t.Owner == p && c.logs[t.ID] != nil {
			c.expect(ids[t.ID] == 1, "listed", t.ID, "it is listed %d times", ids[t.ID])
		}
	}
	for _, op := range c.World.Ledger.All() {
		if op.User != p.ID || op.Kind != "create" && op.Kind != "fork" {
			continue
		}
		n := names[op.Tokens[0]]
		c.expect(n < 2, "once", op.Session, "%d sessions were made by %v", n, &op)
		c.expect(n == 0 || op.Outcome != ledger.Refused, "refused", op.Session, "the session exists: %v", &op)
	}
	return nil
}

// task checks that a task reads as it was last saved, unless it was rewound.
func (c *Checker) task(ctx context.Context, saved users.Saved) error {
	s := c.logs[saved.Session.ID]
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
	status, body, err := c.World.Get(ctx, saved.Session.Owner, users.Path(saved.Session)+"/tasks/"+saved.ID)
	if err != nil {
		return err
	}
	text := ""
	if status == http.StatusOK {
		text = message(body)
	}
	c.expect(slices.Contains(saved.Texts, text), "tasks", s.session.ID, "%s should be one of %q, and is %q (%d)", saved.ID, saved.Texts, text, status)
	return nil
}

// artifact checks that a version has a unique number and reads as it was put.
func (c *Checker) artifact(ctx context.Context, put users.Put, given map[string]int) error {
	if c.logs[put.Session.ID] == nil {
		return nil
	}
	version := strconv.FormatInt(put.Version, 10)
	given[put.Session.ID+put.Name+version]++
	c.expect(given[put.Session.ID+put.Name+version] == 1, "artifacts", put.Session.ID, "the version %s of %s was given twice", version, put.Name)
	status, body, err := c.World.Get(ctx, put.Session.Owner, users.Path(put.Session)+"/artifacts/"+put.Name+"?version="+version)
	if err != nil {
		return err
	}
	c.expect(status == http.StatusOK && string(body) == put.Body, "artifacts", put.Session.ID, "the version %s of %s reads %d %.100q, and was put as %.100q",
		version, put.Name, status, body, put.Body)
	return nil
}

// feedback checks that accepted feedback is listed once.
func (c *Checker) feedback(ctx context.Context, all []users.Given) error {
	lists := map[*users.Session]map[string]int{}
	for _, f := range all {
		if c.logs[f.Session.ID] == nil {
			continue
		}
		if lists[f.Session] == nil {
			texts := map[string]int{}
			_, err := c.World.Pages(ctx, f.Session.Owner, "/api/v1/feedback?session_id="+url.QueryEscape(f.Session.ID), func(body []byte) (string, error) {
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
			lists[f.Session] = texts
		}
		n := lists[f.Session][f.Text]
		c.expect(n == 1, "feedback", f.Session.ID, "%s of the task %s is listed %d times", f.Text, f.Task, n)
	}
	return nil
}

// message returns the text of a task's only bubble, or the whole body if there is
// another number of bubbles.
func message(body []byte) string {
	var task struct {
		Bubbles []struct{ Message string } `json:"message_bubbles"`
	}
	if json.Unmarshal(body, &task) != nil || len(task.Bubbles) != 1 {
		return string(body)
	}
	return task.Bubbles[0].Message
}

// usage checks that no run slot is in use, and that the number of sessions is
// right.
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
	c.expect(out.Data.Runs.Used == 0, "usage", "", "%s has no run, and uses %d", p.ID, out.Data.Runs.Used)
	c.expect(out.Data.Sessions.Used == sessions, "usage", "", "%s has %d sessions, and uses %d", p.ID, sessions, out.Data.Sessions.Used)
	return nil
}
