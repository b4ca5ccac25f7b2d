package task

import "context"

// Link locates a task of the A2A protocol, which callers identify by its id alone.
// The task itself is runs of a session and their output.
type Link struct {
	TaskID    string
	UserID    string // the session's owner
	SessionID string
	Agent     string
	// Runs are the ids of its runs, oldest first: one, plus one for each time that
	// the user answered the agent. It is empty if the task was saved as a whole.
	Runs []string
	// After is the position of the session's log before its first event.
	After int64
	// CreatedTime is in epoch milliseconds.
	CreatedTime int64
	// CancelledTime is when the task was cancelled while it waited for its user; 0
	// if it was not.
	CancelledTime int64
}

// Links finds A2A tasks by id, each among those of its session's owner. It returns
// fault.NotFound for one that does not exist.
type Links interface {
	// AddLink stores a link, which its beginner finds too: the owner, or another
	// user who began it in the owner's session. It replaces a link with the same
	// id.
	AddLink(ctx context.Context, l Link, beginner string) error
	// ExtendLink adds a run to a task.
	ExtendLink(ctx context.Context, userID, taskID, runID string) error
	// CancelLink cancels a task that waits for its user.
	CancelLink(ctx context.Context, userID, taskID string, at int64) error
	// Link returns a task in a session of the user's, or one that the user began.
	Link(ctx context.Context, userID, taskID string) (Link, error)
	// UserLinks returns all tasks that Link finds for a user, the one that began
	// last first.
	UserLinks(ctx context.Context, userID string) ([]Link, error)
}
