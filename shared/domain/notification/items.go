package notification

import (
	"github.com/rethread/rethread/shared/domain/artifact"
)

// Session is a new session: created, imported or forked. Times are epoch
// milliseconds.
type Session struct {
	By                Attribution
	Log               string
	Created, Imported int64 // Imported is 0 unless it was imported
	Fork              *Fork // nil unless it is a fork
}

// Fork is the origin of a fork.
type Fork struct {
	Source string // the forked session
	Before string // the invocation before which it was forked, "" for all
}

// OfSession returns the event for a new session.
func OfSession(s Session) Event {
	typ := SessionCreated
	if s.Fork != nil {
		typ = SessionForked
	}
	e := s.By.event(typ, s.Log+".created", max(s.Created, s.Imported))
	e.Log = s.Log
	if s.Fork != nil {
		e.Source, e.Before = s.Fork.Source, s.Fork.Before
	}
	return e
}

// OfDeletion returns the event for the deletion of a session, at a time in epoch
// milliseconds. The session's parts have no events of their own.
func OfDeletion(by Attribution, log string, deleted int64) Event {
	e := by.event(SessionDeleted, log+".deleted", deleted)
	e.Log = log
	return e
}

// Task is a task before and after a write. Times are epoch milliseconds.
type Task struct {
	By          Attribution
	Log, TaskID string
	Updated     int64
	Was, Now    TaskVersion
}

// TaskVersion identifies a version of a task. Saved is the latest version that a
// caller saved: other changes also increment the version.
type TaskVersion struct {
	Version, Saved, Created int64
}

// OfTask returns the events for a task: one for each version that a caller saved.
func OfTask(t Task) []Event {
	if t.Now.Saved != t.Now.Version || t.Now.Saved == t.Was.Saved && t.Now.Created == t.Was.Created {
		return nil
	}
	id := factID("task", t.Log, t.TaskID, t.Now.Created, t.Now.Version)
	e := t.By.event(TaskSaved, id, t.Updated)
	e.Log, e.TaskID = t.Log, t.TaskID
	return []Event{e}
}

// Artifact is a version of an artifact that a caller put. Its content was stored
// before it.
type Artifact struct {
	By      Attribution
	Log     string // "" for one that the user's sessions share
	Name    string // without prefix
	Version int64
	Created int64 // in epoch milliseconds
	// Partition, Key and Nonce name the put among all others.
	Partition, Key, Nonce string
}

// OfArtifact returns the event for a version of an artifact.
func OfArtifact(a Artifact) Event {
	e := a.By.event(ArtifactSaved, factID("artifact", a.Partition, a.Key, a.Nonce), a.Created)
	e.Log, e.Artifact, e.Version = a.Log, a.Name, a.Version
	if a.Log == "" {
		e.Artifact = artifact.UserPrefix + a.Name
	}
	return e
}

// Feedback is a feedback without its text, which receivers do not get.
type Feedback struct {
	By               Attribution
	ID, TaskID, Type string
	Created          int64 // in epoch milliseconds
}

// OfFeedback returns the event for a feedback.
func OfFeedback(f Feedback) Event {
	e := f.By.event(FeedbackCreated, "feedback."+f.ID, f.Created)
	e.TaskID, e.Feedback = f.TaskID, f.Type
	return e
}

// OfCancelledTask returns the event for an A2A task that was cancelled while it
// waited for its user, at a time in epoch milliseconds; no log contains that.
func OfCancelledTask(userID, sessionID, taskID string, cancelled int64) Event {
	return Event{
		ID: "cancelled." + sessionID + "." + taskID, Type: TaskCancelled,
		UserID: userID, SessionID: sessionID, RunID: taskID, Time: cancelled,
	}
}
