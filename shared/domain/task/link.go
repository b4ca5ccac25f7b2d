package task

import "context"

// Link says where a task of the A2A protocol lives: callers name it by its id
// alone. The task itself is runs of a session and what they produced.
type Link struct {
	TaskID    string
	UserID    string // whose session it is in
	SessionID string
	Agent     string
	// Runs are the ids of its runs, the oldest first: one, and one more each
	// time that the user answered what the agent asked. None: the task was
	// saved as a whole.
	Runs []string
	// After is the position of the session's log before its first event.
	After int64
	// CreatedTime is in epoch milliseconds.
	CreatedTime int64
	// CancelledTime is when the task was cancelled while it waited for its
	// user; 0 where it was not.
	CancelledTime int64
}

// Links finds A2A tasks by their ids, each among those of its session's owner.
// fault.NotFound for one that is not there.
type Links interface {
	// AddLink remembers a task, which its beginner finds as well: the owner, or
	// who else began it in the owner's session. One that is known with that id is
	// replaced.
	AddLink(ctx context.Context, l Link, beginner string) error
	// ExtendLink adds a run to a task.
	ExtendLink(ctx context.Context, userID, taskID, runID string) error
	// CancelLink cancels a task that waits for its user.
	CancelLink(ctx context.Context, userID, taskID string, at int64) error
	// Link is a task in a session of a user's, or one that the user began.
	Link(ctx context.Context, userID, taskID string) (Link, error)
	// UserLinks are all tasks that Link finds for a user, the one that began last
	// first.
	UserLinks(ctx context.Context, userID string) ([]Link, error)
}
