package feedback

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/tasks"
)

// Item is one feedback in its user's partition, by time.
type Item struct {
	PK      string `dynamodbav:"PK"`
	SK      string `dynamodbav:"SK"`
	Task    string `dynamodbav:"t"`
	Session string `dynamodbav:"s,omitempty"`
	Type    string `dynamodbav:"k"`
	Text    string `dynamodbav:"x,omitempty"`
	Created int64  `dynamodbav:"ct"`
	Import  string `dynamodbav:"im,omitempty"` // the import that brought it: it is invisible until that is complete
	eventlog.Attribution
}

// Ref is in the session's log, so that the feedback is deleted with it.
type Ref struct {
	PK   string `dynamodbav:"PK"`
	SK   string `dynamodbav:"SK"`
	User string `dynamodbav:"u"`
}

// FindTask implements task.FeedbackStore.
func (s *Store) FindTask(ctx context.Context, userID, taskID string) (string, error) {
	var found string
	q := table.Query{Index: store.ActivityIndex, Partition: keys.TaskIndexPK(userID, taskID), Descending: true}
	err := s.DB.Pages(ctx, q, func(items []table.Item) (bool, error) {
		for _, item := range items {
			var p tasks.TaskPointer
			visible, err := s.DB.Get(ctx, records.KeyOf(item), &p)
			if err != nil {
				return false, err
			}
			if visible {
				visible, err = s.shows(ctx, userID, &p)
			}
			if err != nil {
				return false, err
			}
			if visible {
				found = p.Session
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil {
		return "", fmt.Errorf("find task %s: %w", taskID, err)
	}
	if found == "" {
		return "", tasks.MissingTask()
	}
	return found, nil
}

// shows reports whether the session of a pointer is visible: an incomplete import
// already has pointers.
func (s *Store) shows(ctx context.Context, userID string, p *tasks.TaskPointer) (bool, error) {
	h, err := s.sessions.Header(ctx, userID, p.Session)
	if errors.Is(err, fault.Of(fault.NotFound)) || errors.Is(err, fault.Of(fault.Forbidden)) {
		return false, nil
	}
	return err == nil && h.Log == p.Log(), err
}

// feedbackTime records when a feedback was first given: its sort key contains the
// time, and a repeated attempt must use the same one.
type feedbackTime struct {
	PK      string `dynamodbav:"PK"`
	SK      string `dynamodbav:"SK"`
	Created int64  `dynamodbav:"ct"`
}

// AddFeedback implements task.FeedbackStore. Its time and the reference in the
// session's log are written first: if the feedback itself does not follow they
// refer to nothing, which no reader sees.
func (s *Store) AddFeedback(ctx context.Context, f task.Feedback) error {
	var h *sessions.Header
	if f.SessionID != "" {
		var err error
		if h, err = s.sessions.Header(ctx, f.Owner(), f.SessionID); err != nil {
			return err
		}
	}
	var err error
	if f.CreatedTime, err = s.takeTime(ctx, f); err != nil {
		return fmt.Errorf("take the time of feedback: %w", err)
	}
	item := Item{
		PK: keys.FeedbackPK(f.UserID), SK: keys.ActivitySK(f.CreatedTime, f.ID),
		Task: f.TaskID, Session: f.SessionID, Type: f.Type, Text: f.Text, Created: f.CreatedTime,
		Attribution: eventlog.Attribution{User: f.UserID},
	}
	if h != nil {
		item.Attribution = h.Attribution().By(nil) // people give feedback, not agents
		k := keys.FeedbackPointer(h.Log, item.SK)
		if err := s.DB.Put(ctx, Ref{PK: k.PK, SK: k.SK, User: f.UserID}); err != nil {
			return fmt.Errorf("refer to feedback: %w", err)
		}
	}
	if err := s.DB.Put(ctx, item); err != nil {
		return fmt.Errorf("store feedback: %w", err)
	}
	return nil
}

// takeTime stores when a feedback was given, and returns when it was given first.
func (s *Store) takeTime(ctx context.Context, f task.Feedback) (int64, error) {
	k := keys.FeedbackTimeKey(f.UserID, f.ID)
	err := s.DB.Put(ctx, feedbackTime{PK: k.PK, SK: k.SK, Created: f.CreatedTime}, table.ItemNotExists())
	if !errors.Is(err, table.ErrConditionFailed) {
		return f.CreatedTime, err
	}
	var earlier feedbackTime
	_, err = records.Found(err, &earlier)
	return earlier.Created, err
}

// MarkTask implements task.FeedbackStore.
func (s *Store) MarkTask(ctx context.Context, f task.Feedback) error {
	return records.Contended(ctx, func() error {
		h, err := s.sessions.Header(ctx, f.Owner(), f.SessionID)
		if err != nil {
			return err
		}
		return s.sessions.NotFoundIfDeleted(ctx, h, s.markTask(ctx, h, f))
	})
}

func (s *Store) markTask(ctx context.Context, h *sessions.Header, f task.Feedback) error {
	if p, err := s.tasks.Pointer(ctx, h, f.TaskID); err != nil || p == nil {
		return cmp.Or(err, tasks.MissingTask())
	}
	p, item, err := s.tasks.FindOwn(ctx, h, f.TaskID)
	if err != nil {
		return err
	}
	content, err := s.tasks.ReadTask(ctx, item)
	if err != nil {
		return err
	}
	metadata := map[string]json.RawMessage{}
	if !jsonx.IsNull(content.Metadata) {
		if err := json.Unmarshal(content.Metadata, &metadata); err != nil {
			return fault.New(fault.Invalid, "the metadata of task %s is not an object", f.TaskID)
		}
	}
	if metadata["feedback"], err = jsonx.Marshal(map[string]any{
		"type": f.Type, "text": f.Text, "submitted": true,
	}); err != nil {
		return err
	}
	if content.Metadata, err = jsonx.Marshal(metadata); err != nil {
		return err
	}
	next := *item
	next.Version, next.Updated, next.Gen = item.Version+1, max(f.CreatedTime, item.Updated), h.ForkCount
	next.Judgement = item.JudgedBy(f.UserID, f.Type, f.Text)
	return s.tasks.PutTask(ctx, h, tasks.TaskWrite{Was: p, Now: p, Old: item, Next: &next}, content)
}

// ListFeedback implements task.FeedbackStore.
func (s *Store) ListFeedback(ctx context.Context, q task.FeedbackQuery) (task.FeedbackPage, error) {
	in := records.Partition(keys.FeedbackPK(q.UserID))
	in.Descending = true
	if q.After != "" {
		in.After = table.Position(table.NewKey(in.Partition, q.After).Item())
	}
	var page task.FeedbackPage
	looked, last := 0, ""
	imports := map[string]bool{}
	err := s.DB.Pages(ctx, in, func(items []table.Item) (bool, error) {
		for _, attrs := range items {
			var f Item
			if err := table.Decode(attrs, &f); err != nil {
				s.LeftOut(ctx, records.KeyOf(attrs), err)
				continue
			}
			if len(page.Feedback) == q.Limit || looked == sessions.ListScan {
				page.Next = last
				return false, nil
			}
			looked, last = looked+1, f.SK
			visible, err := s.complete(ctx, q.UserID, f.Import, imports)
			if err != nil {
				return false, err
			}
			if visible && f.matches(q) {
				page.Feedback = append(page.Feedback, task.Feedback{
					TaskID: f.Task, SessionID: f.Session, Type: f.Type, Text: f.Text, CreatedTime: f.Created,
				})
			}
		}
		return true, nil
	})
	if err != nil {
		return task.FeedbackPage{}, fmt.Errorf("list feedback: %w", err)
	}
	return page, nil
}

func (f *Item) matches(q task.FeedbackQuery) bool {
	return (q.SessionID == "" || f.Session == q.SessionID) &&
		(q.TaskID == "" || f.Task == q.TaskID) &&
		(q.Type == "" || f.Type == q.Type)
}
