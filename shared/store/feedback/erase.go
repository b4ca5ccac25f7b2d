package feedback

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/erasure"
	"github.com/rethread/rethread/shared/store/history"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/tasks"
)

// EraseFeedback removes a user's feedback from the tasks of others, and then the
// feedback itself, and counts it: if it is interrupted, a repeat finds the rest.
func (s *Store) EraseFeedback(ctx context.Context, user string, removed *erasure.Removed) error {
	return s.DB.EachItem(ctx, records.Partition(keys.FeedbackPK(user)), func(item table.Item) error {
		var f Item
		if err := table.Decode(item, &f); err != nil {
			return fmt.Errorf("decode feedback: %w", err)
		}
		if f.Session != "" {
			h, err := s.sessions.AnyHeader(ctx, f.Session)
			if err == nil && h.User != user {
				err = s.unmark(ctx, h, f.Task, &f)
			}
			if err != nil && !errors.Is(err, fault.Of(fault.NotFound)) {
				return fmt.Errorf("take feedback out of a task: %w", err)
			}
		}
		removed.Feedback++
		return s.DB.DeleteItems(ctx, []table.Item{table.NewKey(f.PK, f.SK).Item()})
	})
}

// unmark removes feedback from a task, from its versions kept for forks, and from
// the forks' copies.
func (s *Store) unmark(ctx context.Context, h *sessions.Header, taskID string, f *Item) error {
	if err := s.unmarkOwn(ctx, h, taskID, f); err != nil && !errors.Is(err, fault.Of(fault.NotFound)) {
		return err
	}
	if err := s.unmarkKept(ctx, h.Log, taskID, f); err != nil {
		return err
	}
	children, err := s.history.Children(ctx, h.Log)
	if err != nil {
		return err
	}
	return records.EachOf(ctx, children, func(c history.Child) error {
		fork, err := s.sessions.AnyHeader(ctx, c.Session)
		if errors.Is(err, fault.Of(fault.NotFound)) || err == nil && fork.Log != c.Log() {
			return nil
		}
		if err != nil {
			return err
		}
		return s.unmark(ctx, fork, fork.InheritedID(h.Log, taskID), f)
	})
}

// unmarkOwn changes the task itself, however often others save it concurrently.
func (s *Store) unmarkOwn(ctx context.Context, h *sessions.Header, taskID string, f *Item) error {
	id := h.ID()
	return records.Contended(ctx, func() (err error) {
		if h == nil {
			if h, err = s.sessions.AnyHeader(ctx, id); err != nil {
				return err
			}
		}
		p, item, err := s.tasks.FindOwn(ctx, h, taskID)
		if err != nil {
			return err
		}
		err = s.putUnmarked(ctx, h, p, item, f)
		h = nil // another attempt must read it again
		return err
	})
}

func (s *Store) putUnmarked(ctx context.Context, h *sessions.Header, p *tasks.TaskPointer, item *tasks.TaskItem, f *Item) error {
	content, err := s.tasks.ReadTask(ctx, item)
	if err != nil {
		return err
	}
	digest, next := tasks.DigestOfMark(f.Type, f.Text), *item
	marked := false
	if content.Metadata, marked, err = tasks.WithoutMark(content.Metadata, f.of(item)); err != nil {
		return err
	}
	if !marked && slices.Contains(item.Unjudged, digest) {
		return nil
	}
	if item.Judge == f.user() {
		next.Judge = ""
	}
	next.Unjudged = append(slices.Clone(item.Unjudged), digest)
	next.Version, next.Gen = item.Version+1, h.ForkCount
	return s.tasks.PutTask(ctx, h, tasks.TaskWrite{Was: p, Now: p, Old: item, Next: &next}, content)
}

// of returns a function that reports whether the mark of a task is this feedback,
// and not another user's with the same text.
func (f *Item) of(item *tasks.TaskItem) func(string) bool {
	return func(digest string) bool {
		return digest == tasks.DigestOfMark(f.Type, f.Text) && (item.Judge == "" || item.Judge == f.user())
	}
}

// unmarkKept changes the versions of a task that are kept for forks.
func (s *Store) unmarkKept(ctx context.Context, log, taskID string, f *Item) error {
	return s.DB.EachItem(ctx, records.Prefix(keys.LogPK(log), keys.PrefixKeptTask, true), func(attrs table.Item) error {
		var item tasks.TaskItem
		if err := table.Decode(attrs, &item); err != nil {
			return fmt.Errorf("decode a task: %w", err)
		}
		if _, id, err := keys.TaskOf(item.SK); err != nil || id != taskID || item.Gone {
			return err
		}
		content, err := s.tasks.ReadTask(ctx, &item)
		if err != nil {
			return err
		}
		marked, was := false, item.Body
		if content.Metadata, marked, err = tasks.WithoutMark(content.Metadata, f.of(&item)); err != nil || !marked {
			return err
		}
		if item.Body, err = s.content.Pack(ctx, item.PK, content, 0); err != nil {
			return err
		}
		if err := s.DB.Put(ctx, item, item.SameVersion()); err != nil {
			return records.Ignoring(err, table.ErrConditionFailed) // it was deleted concurrently
		}
		return s.content.Discard(ctx, item.PK, was)
	})
}

// user returns the author of the feedback.
func (f *Item) user() string { return f.PK[len(keys.PrefixFeedback):] }
