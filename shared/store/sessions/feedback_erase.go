package sessions

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/rethread/rethread/shared/domain/erasure"
	"github.com/rethread/rethread/shared/store/keys"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// judgement records who marked a task with feedback.
type judgement struct {
	Judge string `dynamodbav:"fu,omitempty"`
	// Unjudged are digests of feedback whose users were erased: a client that has
	// read it before must not save it again.
	Unjudged []string `dynamodbav:"fx,omitempty"`
}

// digestOfMark returns the digest that is kept of erased feedback.
func digestOfMark(kind, text string) string {
	sum := sha256.Sum256([]byte(kind + "\x00" + text))
	return hex.EncodeToString(sum[:8])
}

// judgedBy records who marked a task last.
func (j judgement) judgedBy(user, kind, text string) judgement {
	left := slices.DeleteFunc(slices.Clone(j.Unjudged), func(d string) bool { return d == digestOfMark(kind, text) })
	return judgement{Judge: user, Unjudged: left}
}

// withoutErased returns a task's metadata without feedback of erased users.
func (j judgement) withoutErased(metadata json.RawMessage) (json.RawMessage, error) {
	if len(j.Unjudged) == 0 {
		return metadata, nil
	}
	next, _, err := withoutMark(metadata, func(digest string) bool { return slices.Contains(j.Unjudged, digest) })
	return next, err
}

// withoutMark removes the feedback from a task's metadata if meant selects it, and
// reports whether it did.
func withoutMark(metadata json.RawMessage, meant func(digest string) bool) (json.RawMessage, bool, error) {
	var all map[string]json.RawMessage
	var mark struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	known := !session.IsNull(metadata) && json.Unmarshal(metadata, &all) == nil && !session.IsNull(all["feedback"]) &&
		json.Unmarshal(all["feedback"], &mark) == nil
	if !known || !meant(digestOfMark(mark.Type, mark.Text)) {
		return metadata, false, nil
	}
	delete(all, "feedback")
	next, err := jsonx.Marshal(all)
	return next, true, err
}

// eraseFeedback removes a user's feedback from the tasks of others, and then the
// feedback itself, and counts it: if it is interrupted, a repeat finds the rest.
func (s *Store) eraseFeedback(ctx context.Context, user string, removed *erasure.Removed) error {
	return s.db.EachItem(ctx, records.Partition(keys.FeedbackPK(user)), func(item table.Item) error {
		var f feedbackItem
		if err := table.Decode(item, &f); err != nil {
			return fmt.Errorf("decode feedback: %w", err)
		}
		if f.Session != "" {
			h, err := s.anyHeader(ctx, f.Session)
			if err == nil && h.User != user {
				err = s.unmark(ctx, h, f.Task, &f)
			}
			if err != nil && !errors.Is(err, fault.Of(fault.NotFound)) {
				return fmt.Errorf("take feedback out of a task: %w", err)
			}
		}
		removed.Feedback++
		return s.db.DeleteItems(ctx, []table.Item{table.NewKey(f.PK, f.SK).Item()})
	})
}

// unmark removes feedback from a task, from its versions kept for forks, and from
// the forks' copies.
func (s *Store) unmark(ctx context.Context, h *header, taskID string, f *feedbackItem) error {
	if err := s.unmarkOwn(ctx, h, taskID, f); err != nil && !errors.Is(err, fault.Of(fault.NotFound)) {
		return err
	}
	if err := s.unmarkKept(ctx, h.Log, taskID, f); err != nil {
		return err
	}
	children, err := s.children(ctx, h.Log)
	if err != nil {
		return err
	}
	return records.EachOf(ctx, children, func(c child) error {
		fork, err := s.anyHeader(ctx, c.Session)
		if errors.Is(err, fault.Of(fault.NotFound)) || err == nil && fork.Log != c.log() {
			return nil
		}
		if err != nil {
			return err
		}
		return s.unmark(ctx, fork, fork.inheritedID(h.Log, taskID), f)
	})
}

// unmarkOwn changes the task itself, however often others save it concurrently.
func (s *Store) unmarkOwn(ctx context.Context, h *header, taskID string, f *feedbackItem) error {
	id := h.id()
	return records.Contended(ctx, func() (err error) {
		if h == nil {
			if h, err = s.anyHeader(ctx, id); err != nil {
				return err
			}
		}
		p, item, err := s.findOwn(ctx, h, taskID)
		if err != nil {
			return err
		}
		err = s.putUnmarked(ctx, h, p, item, f)
		h = nil // another attempt must read it again
		return err
	})
}

func (s *Store) putUnmarked(ctx context.Context, h *header, p *taskPointer, item *taskItem, f *feedbackItem) error {
	content, err := s.readTask(ctx, item)
	if err != nil {
		return err
	}
	digest, next := digestOfMark(f.Type, f.Text), *item
	marked := false
	if content.Metadata, marked, err = withoutMark(content.Metadata, f.of(item)); err != nil {
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
	return s.putTask(ctx, h, taskWrite{was: p, now: p, old: item, next: &next}, content)
}

// of returns a function that reports whether the mark of a task is this feedback,
// and not another user's with the same text.
func (f *feedbackItem) of(item *taskItem) func(string) bool {
	return func(digest string) bool {
		return digest == digestOfMark(f.Type, f.Text) && (item.Judge == "" || item.Judge == f.user())
	}
}

// unmarkKept changes the versions of a task that are kept for forks.
func (s *Store) unmarkKept(ctx context.Context, log, taskID string, f *feedbackItem) error {
	return s.db.EachItem(ctx, records.Prefix(keys.LogPK(log), keys.PrefixKeptTask, true), func(attrs table.Item) error {
		var item taskItem
		if err := table.Decode(attrs, &item); err != nil {
			return fmt.Errorf("decode a task: %w", err)
		}
		if _, id, err := keys.TaskOf(item.SK); err != nil || id != taskID || item.Gone {
			return err
		}
		content, err := s.readTask(ctx, &item)
		if err != nil {
			return err
		}
		marked, was := false, item.Body
		if content.Metadata, marked, err = withoutMark(content.Metadata, f.of(&item)); err != nil || !marked {
			return err
		}
		if item.Body, err = s.content.Pack(ctx, item.PK, content, 0); err != nil {
			return err
		}
		if err := s.db.Put(ctx, item, item.sameVersion()); err != nil {
			return records.Ignoring(err, table.ErrConditionFailed) // it was deleted concurrently
		}
		return s.content.Discard(ctx, item.PK, was)
	})
}

// user returns the author of the feedback.
func (f *feedbackItem) user() string { return f.PK[len(keys.PrefixFeedback):] }
