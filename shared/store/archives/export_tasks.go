package archives

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rethread/rethread/shared/domain/archive"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/feedback"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/tasks"
)

// tasks exports all tasks, those that rewinds have hidden included.
func (x *exporting) tasks(ctx context.Context) error {
	whole, err := x.s.tasks.View(ctx, x.h, x.h.Whole)
	if err != nil {
		return err
	}
	inherited, err := x.s.sessions.Timeline(ctx, x.h.Inherited)
	if err != nil {
		return err
	}
	taken, err := x.s.tasks.View(ctx, x.h, x.h.Inherited)
	if err != nil {
		return err
	}
	return x.s.tasks.VisitTasks(ctx, x.h, whole, "", 0, func(seen tasks.TaskSeen) (bool, error) {
		t, err := x.task(ctx, seen, inherited, taken)
		if err != nil {
			return false, fmt.Errorf("task %s: %w", seen.Id, err)
		}
		return true, x.to.Task(t)
	})
}

// task returns a task of the document. inherited is what the session took over, taken the view
// of that.
func (x *exporting) task(
	ctx context.Context, seen tasks.TaskSeen, inherited session.Timeline, taken *tasks.View,
) (archive.Task, error) {
	content, err := x.s.tasks.ReadTask(ctx, seen.Item)
	if err != nil {
		return archive.Task{}, err
	}
	out := archive.Task{
		ID: seen.Id, UserMessage: content.UserMessage, Bubbles: content.Bubbles, Metadata: content.Metadata,
		CreatedTime: seen.Item.Created, UpdatedTime: seen.Item.Updated, Place: seen.Seq,
		Named: slices.Sorted(maps.Keys(content.Invocations)),
	}
	spots, log := content.Invocations, strings.TrimPrefix(seen.Item.PK, keys.PrefixLog)
	if log == x.h.Log {
		var p tasks.TaskPointer
		found, err := x.s.DB.Get(ctx, keys.TaskPointerKey(x.h.Log, seen.Id), &p)
		if err != nil {
			return out, err
		}
		if !found {
			return out, errors.New("its pointer is missing")
		}
		spots, out.First = p.Invocations, p.First
	} else { // as copying it to the fork would make it
		t, err := x.s.tasks.Shown(ctx, x.h, taken, seen)
		if err != nil {
			return out, err
		}
		out.Bubbles, out.Metadata = t.Bubbles, t.Metadata
	}
	if len(spots) > 0 {
		out.Places = map[string]int64{}
	}
	for id, at := range spots {
		if at.Log == "" {
			at.Log = log
		}
		out.Places[id] = x.seqOf(inherited, at)
	}
	return out, nil
}

// seqOf returns a position in the session's numbers, 0 if the session does not show
// it.
func (x *exporting) seqOf(inherited session.Timeline, at tasks.InvocationPosition) int64 {
	if at.Log == x.h.Log {
		return at.Position
	}
	for _, r := range inherited {
		if r.Log == at.Log && r.Holds(at.Position) {
			return r.Seq + at.Position - r.From
		}
	}
	return 0
}

// feedback exports the feedback on the session's tasks, oldest first.
func (x *exporting) feedback(ctx context.Context) error {
	q := records.Prefix(keys.LogPK(x.h.Log), keys.PrefixFeedback, true)
	return x.s.DB.Pages(ctx, q, func(refs []table.Item) (bool, error) {
		for _, attrs := range refs {
			var ref feedback.Ref
			if err := table.Decode(attrs, &ref); err != nil {
				return false, fmt.Errorf("decode a reference to feedback: %w", err)
			}
			var f feedback.Item
			k := table.NewKey(keys.FeedbackPK(ref.User), strings.TrimPrefix(ref.SK, keys.PrefixFeedback))
			found, err := x.s.DB.Get(ctx, k, &f)
			if err != nil {
				return false, err
			}
			if !found {
				continue // the request that gave it did not get that far
			}
			if err := x.to.Feedback(archive.Feedback{
				TaskID: f.Task, Type: f.Type, Text: f.Text, CreatedTime: f.Created,
			}); err != nil {
				return false, err
			}
		}
		return true, nil
	})
}
