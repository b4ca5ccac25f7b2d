package a2a

import (
	"cmp"

	"github.com/rethread/rethread/shared/client/agent/endpoint"
	"github.com/rethread/rethread/shared/domain/run"
)

// untilSettled takes results until the task is over or waits for its user.
func (c *call) untilSettled(r result) error {
	if err := c.take(r); err != nil {
		return err
	}
	if c.settled() {
		return endpoint.ErrStop
	}
	return nil
}

func (c *call) settled() bool { return c.replied || c.state.final() || c.state.paused() }

// take handles one result.
func (c *call) take(r result) error {
	c.updates++
	switch {
	case r.Message != nil:
		c.identify(r.Message.ContextID, r.Message.TaskID)
		c.replied = true
		return c.items.say(r.Message.ID, r.Message.Parts, false)
	case r.Task != nil:
		return c.takeTask(r.Task)
	case r.ArtifactUpdate != nil:
		u := r.ArtifactUpdate
		c.identify(u.ContextID, u.TaskID)
		c.moved = true
		return c.items.say(u.Artifact.ID, u.Artifact.Parts, u.Append)
	}
	c.identify(r.StatusUpdate.ContextID, r.StatusUpdate.TaskID)
	c.moved = true
	return c.takeStatus(*r.StatusUpdate.Status, r.StatusUpdate.Metadata)
}

func (c *call) identify(contextID, taskID string) {
	c.contextID = cmp.Or(contextID, c.contextID, c.past.record.ContextID)
	c.taskID = cmp.Or(taskID, c.taskID)
}

// takeTask handles the whole task: messages since the run's, and artifacts.
func (c *call) takeTask(t *task) error {
	c.identify(t.ContextID, t.ID)
	if c.stale(t) {
		c.updates-- // not news
		return nil
	}
	ours := false
	for _, m := range t.History {
		if ours && !m.fromUser() {
			if err := c.items.say(m.ID, m.Parts, false); err != nil {
				return err
			}
		}
		ours = ours || m.ID == c.messageID
	}
	// The message of a task at work comes first: it is part of the history as soon as
	// there is another status, and must not depend on when the task is asked for.
	if m := t.Status.Message; m != nil && !t.Status.State.final() && !t.Status.State.paused() {
		if err := c.items.say(m.ID, m.Parts, false); err != nil {
			return err
		}
	}
	for _, a := range t.Artifacts {
		if err := c.items.say(a.ID, a.Parts, false); err != nil {
			return err
		}
	}
	return c.takeStatus(t.Status, nil)
}

// stale reports whether a task that was continued still has the question that the
// run's message answers.
func (c *call) stale(t *task) bool {
	if c.moved || t.ID != c.past.record.TaskID || !t.Status.State.paused() {
		c.moved = true
		return false
	}
	if m := t.Status.Message; m != nil {
		_, known := c.past.said[m.ID]
		return known
	}
	return true
}

// takeStatus handles a task's status. That of a failed task is the error.
func (c *call) takeStatus(s status, metadata metadata) error {
	c.state = s.State
	switch s.State {
	case stateFailed:
		return c.failure(run.CodeAgent, s.Message, metadata)
	case stateRejected:
		return c.failure("rejected", s.Message, metadata)
	case stateCanceled:
		return c.failure(endpoint.CodeAgentCancelled, s.Message, metadata)
	default:
		if s.Message == nil {
			return nil
		}
		return c.items.say(s.Message.ID, s.Message.Parts, false)
	}
}

// failure returns the error of a task that did not complete, after completing what
// came before it.
func (c *call) failure(code string, m *message, metadata metadata) error {
	text := ""
	if m != nil {
		code = cmp.Or(m.Metadata.text("error_code", "adk_error_code"), metadata.text("adk_error_code"), code)
		for _, p := range m.Parts {
			if p.Text != nil {
				text += *p.Text + " "
			}
		}
	}
	if text == "" && code == endpoint.CodeAgentCancelled {
		text = "the agent canceled its task"
	}
	if err := c.items.complete(); err != nil {
		return err
	}
	return endpoint.Reported(code, c.agent.endpoint.Redact(text))
}
