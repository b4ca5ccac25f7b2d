package tasks

import (
	"encoding/json"
	"strconv"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/ids"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/transport/rest"
)

func saveOf(c *rest.Call, sessionID string) (task.Save, error) {
	body, err := c.Object()
	if err != nil {
		return task.Save{}, err
	}
	return Save(body, c.User, sessionID)
}

// Save reads the body of a save. Message, bubbles and metadata are stored as they were
// sent, without the white space between tokens.
func Save(o rest.Object, user, sessionID string) (task.Save, error) {
	save := task.Save{SessionID: sessionID, UserID: user, Task: task.Task{SessionID: sessionID}}
	var broken fault.Broken
	var err error
	save.Task.ID, err = o.RequiredText("task_id")
	if broken.Add(err) {
		broken.Add(ids.CheckNew(o.Pointer("task_id"), save.Task.ID))
	}
	save.Task.UserMessage, err = userMessage(o)
	broken.Add(err)
	broken.Add(checkBubbles(o))
	save.Task.Metadata, err = taskMetadata(o)
	broken.Add(err)
	if err := broken.Err(); err != nil {
		return task.Save{}, err
	}
	if save.Task.Bubbles, err = o.Raw("message_bubbles"); err != nil {
		return task.Save{}, err
	}
	if save.Invocations, err = task.CheckedInvocations(save.Task.Bubbles); err != nil {
		return task.Save{}, err
	}
	return save, save.Task.CheckSize()
}

// optional is a member that may be null; null and absent members are not
// checked.
func optional(o rest.Object, name string, check func() error) (json.RawMessage, error) {
	raw, err := o.Raw(name)
	if err != nil || jsonx.IsNull(raw) {
		return raw, err
	}
	return raw, check()
}

func userMessage(o rest.Object) (json.RawMessage, error) {
	return optional(o, "user_message", func() error {
		text, err := o.Text("user_message")
		if err != nil {
			return err
		}
		return task.CheckUserMessage(o.Pointer("user_message"), text)
	})
}

func taskMetadata(o rest.Object) (json.RawMessage, error) {
	return optional(o, "task_metadata", func() error {
		metadata, err := o.Member("task_metadata")
		if err != nil {
			return err
		}
		_, err = optional(metadata, "feedback", func() error {
			feedback, err := metadata.Member("feedback")
			if err != nil {
				return err
			}
			kind, err := feedback.Text("type")
			if err != nil {
				return err
			}
			return task.CheckFeedbackType(feedback.Pointer("type"), kind)
		})
		return err
	})
}

func checkBubbles(o rest.Object) error {
	if !o.Has("message_bubbles") {
		return rest.Malformed(o.Pointer("message_bubbles"), "is required")
	}
	items, err := o.Array("message_bubbles")
	if err != nil {
		return err
	}
	switch n := len(items); {
	case n == 0:
		return rest.FieldFault(fault.Invalid, o.Pointer("message_bubbles"), "cannot be empty")
	case n > task.MaxBubbles:
		return rest.FieldFault(fault.Invalid, o.Pointer("message_bubbles"), "cannot hold more than %d bubbles", task.MaxBubbles)
	}
	var broken fault.Broken
	for i, raw := range items {
		bubble, err := rest.ParseObject(raw, o.Pointer("message_bubbles")+"/"+strconv.Itoa(i))
		if broken.Add(err) {
			broken.Add(checkBubble(bubble))
		}
	}
	return broken.Err()
}

// checkBubble checks the types of a bubble's known members and then its rules.
func checkBubble(o rest.Object) (err error) {
	var b task.Bubble
	if b.ID, err = o.RequiredText("id"); err != nil {
		return err
	}
	if b.Type, err = o.RequiredText("type"); err != nil {
		return err
	}
	if b.Text, err = o.Text("text"); err != nil {
		return err
	}
	if b.Status, err = o.Boolean("isStatusBubble"); err != nil {
		return err
	}
	if _, err = o.Boolean("isError"); err != nil {
		return err
	}
	for _, name := range []string{"parts", "files", "uploadedFiles"} {
		if _, err = o.Array(name); err != nil {
			return err
		}
	}
	artifact, err := o.Member("artifactNotification")
	if err != nil {
		return err
	}
	if _, err = artifact.Text("name"); err != nil {
		return err
	}
	if _, err = artifact.Integer("version"); err != nil {
		return err
	}
	return b.Validate(o.At)
}
