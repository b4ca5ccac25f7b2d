package tasks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
)

// TaskPointer is the position of a task in the session. It is written first, so it
// decides which of two first saves created the task.
type TaskPointer struct {
	PK       string `dynamodbav:"PK"`
	SK       string `dynamodbav:"SK"`
	User     string `dynamodbav:"u"`
	Session  string `dynamodbav:"s"`
	Position int64  `dynamodbav:"p"` // seq of the task's first invocation
	Created  int64  `dynamodbav:"ct"`
	First    string `dynamodbav:"f"` // the invocation at Position
	// Invocations are the positions of the task's invocations, and Marker is the
	// latest rewind before the last of them was looked up.
	Invocations map[string]InvocationPosition `dynamodbav:"i"`
	Marker      int64                         `dynamodbav:"mk,omitempty"`
	// CopiedAt is the seq at which a fork took the task over from its source: an
	// item of the fork's own must stay there, to cover the source's.
	CopiedAt int64  `dynamodbav:"ad,omitempty"`
	GPK      string `dynamodbav:"GPK"`
	GSK      string `dynamodbav:"GSK"`
}

const (
	pointerPosition = "p"
	pointerFirst    = "f"
	pointerCreated  = "ct"
)

// InvocationPosition is the position at which an invocation begins; Log is "" for
// the task's own log.
type InvocationPosition struct {
	Log      string `dynamodbav:"l,omitempty" json:"l,omitempty"`
	Position int64  `dynamodbav:"p" json:"p"`
}

func (p *TaskPointer) id() string { return p.SK[len(keys.PrefixTaskPointer):] }

func (p *TaskPointer) key() table.Key { return table.NewKey(p.PK, p.SK) }

// Log returns the log of the task's session.
func (p *TaskPointer) Log() string { return p.PK[len(keys.PrefixLog):] }

// TaskKey returns the key of the task itself.
func (p *TaskPointer) TaskKey() table.Key { return keys.TaskKey(p.Log(), p.Position, p.id()) }

// unmoved is the condition that the pointer is unchanged since it was read.
func (p *TaskPointer) unmoved() table.Condition {
	return table.And(
		table.Equal(table.Path{pointerPosition}, p.Position),
		table.Equal(table.Path{pointerFirst}, p.First),
		table.Equal(table.Path{pointerCreated}, p.Created),
	)
}

// TaskItem is the task itself, ordered by position.
type TaskItem struct {
	PK      string `dynamodbav:"PK"`
	SK      string `dynamodbav:"SK"`
	Version int64  `dynamodbav:"v"`
	Created int64  `dynamodbav:"ct"`
	Updated int64  `dynamodbav:"ut"`
	Marker  int64  `dynamodbav:"mk,omitempty"` // as in the pointer
	Gen     int64  `dynamodbav:"g,omitempty"`  // how often the session had been forked when it was written
	// Until is set on a version that is kept for the forks with a higher generation
	// than Gen and at most Until.
	Until int64 `dynamodbav:"gu,omitempty"`
	// Gone covers what a fork took over, or keeps a save from creating the task here
	// that has begun before; Expires, in epoch seconds, is when no such save is left.
	Gone    bool  `dynamodbav:"gone,omitempty"`
	Expires int64 `dynamodbav:"expires,omitempty"`
	records.Body
	// Saved is the latest version that a caller saved: other changes also increment
	// the version.
	Saved int64 `dynamodbav:"tv,omitempty"`
	Judgement
	eventlog.Attribution
}

const (
	taskVersion = "v"
	taskCreated = "ct"
)

func (item *TaskItem) key() table.Key { return table.NewKey(item.PK, item.SK) }

// SameVersion is the condition that the item is still the one that was read.
func (item *TaskItem) SameVersion() table.Condition {
	return table.And(
		table.Equal(table.Path{taskVersion}, item.Version),
		table.Equal(table.Path{taskCreated}, item.Created),
	)
}

// TaskBody is the content of a task.
type TaskBody struct {
	UserMessage json.RawMessage               `json:"um,omitempty"`
	Bubbles     json.RawMessage               `json:"mb"`
	Metadata    json.RawMessage               `json:"md,omitempty"`
	Invocations map[string]InvocationPosition `json:"iv,omitempty"`
}

// ReadTask decodes a task as its own session stores it.
func (s *reader) ReadTask(ctx context.Context, item *TaskItem) (TaskBody, error) {
	var content TaskBody
	if err := s.content.Unpack(ctx, item.PK, item.Body, &content); err != nil {
		return TaskBody{}, fmt.Errorf("task %s: %w", item.SK, err)
	}
	return content, nil
}

func (b TaskBody) task(sessionID, id string, item *TaskItem) task.Task {
	return task.Task{
		ID: id, SessionID: sessionID,
		UserMessage: b.UserMessage, Bubbles: b.Bubbles, Metadata: b.Metadata,
		CreatedTime: item.Created, UpdatedTime: item.Updated,
	}
}

// Shown returns a task as the session shows it: without the messages of invocations
// that are hidden.
func (s *reader) Shown(
	ctx context.Context, h *sessions.Header, view *View, seen TaskSeen,
) (task.Task, error) {
	id, item := seen.Id, seen.Item
	content, err := s.ReadTask(ctx, item)
	if err != nil {
		return task.Task{}, err
	}
	var hidden []string
	for _, name := range slices.Sorted(maps.Keys(content.Invocations)) {
		at := content.Invocations[name]
		if at.Log == "" {
			at.Log = item.PK[len(keys.PrefixLog):]
		}
		shown, err := view.shows(at.Log, at.Position)
		if err != nil {
			return task.Task{}, err
		}
		if !shown {
			hidden = append(hidden, name)
		}
	}
	if content.Bubbles, err = task.Without(content.Bubbles, hidden); err != nil {
		return task.Task{}, fmt.Errorf("task %s: %w", id, errors.Join(table.ErrUnreadable, err))
	}
	if item.PK != keys.LogPK(h.Log) {
		content.Bubbles = session.RewriteForFork(content.Bubbles, h.ID(), func(string) string { return id })
		content.Metadata = session.RewriteForFork(content.Metadata, h.ID(), func(string) string { return id })
	}
	t := content.task(h.ID(), id, item)
	t.Place, t.TakenOver = seen.Seq, seen.Seq <= h.Taken()
	return t, nil
}

// MissingTask returns the fault of a task that does not exist.
func MissingTask() error { return fault.Missing("Task") }

// Judgement records who marked a task with feedback.
type Judgement struct {
	Judge string `dynamodbav:"fu,omitempty"`
	// Unjudged are digests of feedback whose users were erased: a client that has
	// read it before must not save it again.
	Unjudged []string `dynamodbav:"fx,omitempty"`
}

// DigestOfMark returns the digest that is kept of erased feedback.
func DigestOfMark(kind, text string) string {
	sum := sha256.Sum256([]byte(kind + "\x00" + text))
	return hex.EncodeToString(sum[:8])
}

// JudgedBy records who marked a task last.
func (j Judgement) JudgedBy(user, kind, text string) Judgement {
	left := slices.DeleteFunc(slices.Clone(j.Unjudged), func(d string) bool { return d == DigestOfMark(kind, text) })
	return Judgement{Judge: user, Unjudged: left}
}

// withoutErased returns a task's metadata without feedback of erased users.
func (j Judgement) withoutErased(metadata json.RawMessage) (json.RawMessage, error) {
	if len(j.Unjudged) == 0 {
		return metadata, nil
	}
	next, _, err := WithoutMark(metadata, func(digest string) bool { return slices.Contains(j.Unjudged, digest) })
	return next, err
}

// WithoutMark removes the feedback from a task's metadata if meant selects it, and
// reports whether it did.
func WithoutMark(metadata json.RawMessage, meant func(digest string) bool) (json.RawMessage, bool, error) {
	var all map[string]json.RawMessage
	var mark struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	known := !jsonx.IsNull(metadata) && json.Unmarshal(metadata, &all) == nil && !jsonx.IsNull(all["feedback"]) &&
		json.Unmarshal(all["feedback"], &mark) == nil
	if !known || !meant(DigestOfMark(mark.Type, mark.Text)) {
		return metadata, false, nil
	}
	delete(all, "feedback")
	next, err := jsonx.Marshal(all)
	return next, true, err
}
