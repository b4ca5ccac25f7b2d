package rest

import (
	"encoding/json"
	"strconv"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
)

// taskSave reads the body of a save. Message, bubbles and metadata are kept as
// they came, only without the white space between tokens.
func (c *call) taskSave(sessionID string) (task.Save, error) {
	body, err := c.object()
	if err != nil {
		return task.Save{}, err
	}
	return body.taskSave(c.user, sessionID)
}

func (o object) taskSave(user, sessionID string) (task.Save, error) {
	save := task.Save{SessionID: sessionID, UserID: user, Task: task.Task{SessionID: sessionID}}
	var err error
	if save.Task.ID, err = o.requiredText("task_id"); err != nil {
		return task.Save{}, err
	}
	if err := fault.CheckNewID(o.pointer("task_id"), save.Task.ID); err != nil {
		return task.Save{}, err
	}
	if save.Task.UserMessage, err = o.userMessage(); err != nil {
		return task.Save{}, err
	}
	if err := o.checkBubbles(); err != nil {
		return task.Save{}, err
	}
	if save.Task.Bubbles, err = o.raw("message_bubbles"); err != nil {
		return task.Save{}, err
	}
	if save.Task.Metadata, err = o.taskMetadata(); err != nil {
		return task.Save{}, err
	}
	if save.Invocations, err = task.Invocations(save.Task.Bubbles); err != nil {
		return task.Save{}, err
	}
	return save, save.Task.CheckSize()
}

// optional is a member that may be null: then, or absent, there is nothing to
// check.
func (o object) optional(name string, check func() error) (json.RawMessage, error) {
	raw, err := o.raw(name)
	if err != nil || session.IsNull(raw) {
		return raw, err
	}
	return raw, check()
}

func (o object) userMessage() (json.RawMessage, error) {
	return o.optional("user_message", func() error {
		text, err := o.text("user_message")
		if err != nil {
			return err
		}
		return task.CheckUserMessage(o.pointer("user_message"), text)
	})
}

func (o object) taskMetadata() (json.RawMessage, error) {
	return o.optional("task_metadata", func() error {
		metadata, err := o.object("task_metadata")
		if err != nil {
			return err
		}
		_, err = metadata.optional("feedback", func() error {
			feedback, err := metadata.object("feedback")
			if err != nil {
				return err
			}
			kind, err := feedback.text("type")
			if err != nil {
				return err
			}
			return task.CheckFeedbackType(feedback.pointer("type"), kind)
		})
		return err
	})
}

func (o object) checkBubbles() error {
	if !o.has("message_bubbles") {
		return malformed(o.pointer("message_bubbles"), "is required")
	}
	items, err := o.array("message_bubbles")
	if err != nil {
		return err
	}
	switch n := len(items); {
	case n == 0:
		return fieldFault(fault.Invalid, o.pointer("message_bubbles"), "cannot be empty")
	case n > task.MaxBubbles:
		return fieldFault(fault.Invalid, o.pointer("message_bubbles"), "cannot hold more than %d bubbles", task.MaxBubbles)
	}
	for i, raw := range items {
		bubble, err := parseObject(raw, o.pointer("message_bubbles")+"/"+strconv.Itoa(i))
		if err != nil {
			return err
		}
		if err := bubble.checkBubble(); err != nil {
			return err
		}
	}
	return nil
}

// checkBubble checks the types of the members that a bubble is known to have,
// and then its rules.
func (o object) checkBubble() (err error) {
	var b task.Bubble
	if b.ID, err = o.requiredText("id"); err != nil {
		return err
	}
	if b.Type, err = o.requiredText("type"); err != nil {
		return err
	}
	if b.Text, err = o.text("text"); err != nil {
		return err
	}
	if b.Status, err = o.boolean("isStatusBubble"); err != nil {
		return err
	}
	if _, err = o.boolean("isError"); err != nil {
		return err
	}
	for _, name := range []string{"parts", "files", "uploadedFiles"} {
		if _, err = o.array(name); err != nil {
			return err
		}
	}
	artifact, err := o.object("artifactNotification")
	if err != nil {
		return err
	}
	if _, err = artifact.text("name"); err != nil {
		return err
	}
	if _, err = artifact.integer("version"); err != nil {
		return err
	}
	return b.Validate(o.at)
}
