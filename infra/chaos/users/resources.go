package users

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/rethread/rethread/infra/chaos/ledger"
)

// Saved is a task as last saved, by the only device that saves it.
type Saved struct {
	Session *Session
	ID      string
	// Texts are the texts that may be shown: the last acknowledged one, and those
	// saved later with an unknown outcome. "" means no task.
	Texts []string
}

// Put is an acknowledged version of an artifact.
type Put struct {
	Session *Session
	Name    string
	Version int64
	Body    string
}

// Given is acknowledged feedback.
type Given struct {
	Session *Session
	Text    string
	Task    string
}

// saveTask saves a task, a new or an existing one, or deletes it.
func (d *device) saveTask(ctx context.Context, t *Session) {
	saved := d.saved(t)
	token := d.token()
	c := Call{Method: http.MethodPost, Path: t.path() + "/tasks", Repeat: true, Body: M{
		"task_id": saved.ID, "message_bubbles": []M{{"id": "b", "type": "user", "message": token}},
	}}
	kind := "task"
	if saved.Texts[0] != "" && d.chance(8) {
		c = Call{Method: http.MethodDelete, Path: t.path() + "/tasks/" + saved.ID, Repeat: true}
		kind, token = "task-delete", ""
	}
	a := d.perform(ctx, ledger.Op{Kind: kind, Session: t.ID, Detail: saved.ID + " " + token}, c, nil)
	d.mu.Lock()
	defer d.mu.Unlock()
	switch a.Outcome {
	case ledger.Acked:
		saved.Texts = []string{token}
	case ledger.Unknown:
		saved.Texts = append(saved.Texts, token)
	case ledger.Refused:
	}
}

// saved returns a task of the session that only this device saves.
func (d *device) saved(t *Session) *Saved {
	d.mu.Lock()
	defer d.mu.Unlock()
	mine := fmt.Sprintf("-%d", d.number)
	for _, s := range d.keptTasks {
		if s.Session == t && strings.HasSuffix(s.ID, mine) && !d.chance(3) {
			return s
		}
	}
	s := &Saved{Session: t, ID: fmt.Sprintf("task-%d%s", d.tokens.Add(1), mine), Texts: []string{""}}
	d.keptTasks = append(d.keptTasks, s)
	return s
}

// Kept returns the tasks, artifacts and feedback of the round.
func (w *World) Kept() (tasks []Saved, artifacts []Put, feedback []Given) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.keptTasks {
		tasks = append(tasks, *s)
	}
	for _, p := range w.kept {
		artifacts = append(artifacts, *p)
	}
	for _, g := range w.feedback {
		feedback = append(feedback, *g)
	}
	return tasks, artifacts, feedback
}

// putArtifact stores a version of an artifact.
func (d *device) putArtifact(ctx context.Context, t *Session) {
	token := d.token()
	name := fmt.Sprintf("file%d.txt", d.random.IntN(2))
	body := token + d.padding()
	c := Call{Method: http.MethodPut, Path: t.path() + "/artifacts/" + name, Body: []byte(body), Type: "text/plain"}
	d.perform(ctx, ledger.Op{Kind: "artifact", Session: t.ID, Detail: name + " " + token}, c, func(a Answer) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.kept = append(d.kept, &Put{t, name, parseAnswer(a).Data.Version, body})
	})
}

// feedback gives feedback on a task.
func (d *device) feedback(ctx context.Context, t *Session) {
	saved := d.saved(t)
	d.mu.Lock()
	there := len(saved.Texts) == 1 && saved.Texts[0] != ""
	d.mu.Unlock()
	if !there {
		return
	}
	token := d.token()
	c := Call{Method: http.MethodPost, Path: api + "/feedback", Key: d.id(), Repeat: true, Body: M{
		"sessionId": t.ID, "taskId": saved.ID, "feedbackType": "up", "feedbackText": token,
	}}
	d.perform(ctx, ledger.Op{Kind: "feedback", Session: t.ID, Tokens: []string{token}, Detail: saved.ID}, c, func(Answer) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.World.feedback = append(d.World.feedback, &Given{t, token, saved.ID})
	})
}

// rename renames the session.
func (d *device) rename(ctx context.Context, t *Session) {
	d.perform(ctx, ledger.Op{Kind: "rename", Session: t.ID},
		Call{Method: http.MethodPatch, Path: t.path(), Body: M{"metadata": M{"note": d.token()}}, Repeat: true}, nil)
}
