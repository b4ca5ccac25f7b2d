package task

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rethread/rethread/shared/base/fault"
)

// The types of bubbles.
const (
	UserBubble     = "user"
	AgentBubble    = "agent"
	ArtifactBubble = "artifact_notification"
)

// Bubble is the part of a message bubble that the rules apply to.
type Bubble struct {
	ID     string
	Type   string
	Text   string
	Status bool // a status bubble is shown while an agent works and never saved
}

// Validate returns a fault for a rule that the bubble breaks; pointer is its JSON
// pointer.
func (b Bubble) Validate(pointer string) error {
	types := []string{UserBubble, AgentBubble, ArtifactBubble}
	switch {
	case b.ID == "":
		return fault.Field(fault.Invalid, pointer+"/id", "must not be empty")
	case !slices.Contains(types, b.Type):
		return fault.Field(fault.Invalid, pointer+"/type", "must be one of %s", strings.Join(types, ", "))
	case b.Status:
		return fault.Field(fault.Invalid, pointer+"/isStatusBubble", "must not be true: status bubbles are not saved")
	case utf8.RuneCountInString(b.Text) > MaxBubbleText:
		return fault.Field(fault.Invalid, pointer+"/text", "must be at most %d characters", MaxBubbleText)
	}
	return nil
}

// CheckUserMessage refuses a user message over its limit.
func CheckUserMessage(pointer, text string) error {
	if utf8.RuneCountInString(text) > MaxUserMessage {
		return fault.Field(fault.Invalid, pointer, "must be at most %d characters", MaxUserMessage)
	}
	return nil
}

// CheckSize refuses a task over 10 MB.
func (t Task) CheckSize() error {
	if len(t.UserMessage)+len(t.Bubbles)+len(t.Metadata) > MaxSize {
		return fault.New(fault.BodyTooLarge, "the task is larger than %d MB", MaxSize>>20)
	}
	return nil
}
