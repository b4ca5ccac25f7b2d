package task

import (
	"cmp"
	"context"
	"unicode/utf8"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/ids"
)

// MaxFeedbackText is the maximum length of a feedback's text, in characters.
const MaxFeedbackText = 10_000

// The types of feedback.
const (
	Up   = "up"
	Down = "down"
)

// Feedback is a user's rating of a task. CreatedTime is in epoch milliseconds.
type Feedback struct {
	ID          string `json:"-"`
	UserID      string `json:"-"` // the author
	OwnerID     string `json:"-"` // the session's owner, if it is another user
	TaskID      string `json:"task_id"`
	SessionID   string `json:"session_id"`
	Type        string `json:"type"` // up or down
	Text        string `json:"text"`
	CreatedTime int64  `json:"created_time"`
}

// Owner returns the owner of the task's session.
func (f Feedback) Owner() string { return cmp.Or(f.OwnerID, f.UserID) }

// Validate returns a fault that names the field that breaks a rule.
func (f Feedback) Validate() error {
	if err := ids.Check("/taskId", f.TaskID); err != nil {
		return err
	}
	if err := CheckFeedbackType("/feedbackType", f.Type); err != nil {
		return err
	}
	if utf8.RuneCountInString(f.Text) > MaxFeedbackText {
		return fault.Field(fault.Invalid, "/feedbackText", "must be at most %d characters", MaxFeedbackText)
	}
	return nil
}

// CheckFeedbackType refuses a type that is neither up nor down.
func CheckFeedbackType(pointer, kind string) error {
	if kind != Up && kind != Down {
		return fault.Field(fault.Invalid, pointer, "must be one of up, down")
	}
	return nil
}

// FeedbackQuery selects a page of a user's feedback, latest first. Empty fields do
// not filter.
type FeedbackQuery struct {
	UserID    string
	SessionID string
	TaskID    string
	Type      string
	Limit     int
	After     string
}

// FeedbackPage is a page of feedback; Next is "" at the end. A page may be short,
// or empty, without being the last.
type FeedbackPage struct {
	Feedback []Feedback
	Next     string
}

// FeedbackStore stores feedback.
type FeedbackStore interface {
	// FindTask returns the user's session that contains a task; the latest if
	// several do. It returns fault.NotFound if none does.
	FindTask(ctx context.Context, userID, taskID string) (sessionID string, err error)
	// AddFeedback stores a feedback once for its ID. SessionID, if given, must be a
	// session of the owner's.
	AddFeedback(ctx context.Context, f Feedback) error
	// MarkTask adds the feedback to its task's metadata.
	MarkTask(ctx context.Context, f Feedback) error
	ListFeedback(ctx context.Context, q FeedbackQuery) (FeedbackPage, error)
}
