package archives

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/rethread/rethread/shared/domain/archive"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/feedback"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/tasks"
)

// write stores a part. The keys of its items depend on the document alone, so a
// repeated part overwrites what an interrupted attempt has written.
func (w *importing) write(ctx context.Context) error {
	var items []any
	for _, rec := range w.records {
		if err := w.packEntry(ctx, rec); err != nil {
			return err
		}
		items = append(items, rec.Entry)
	}
	bounds, err := w.bounds(ctx)
	if err != nil {
		return err
	}
	items = append(items, bounds...)
	state := eventlog.Checkpoint{PK: keys.LogPK(w.rec.Log), SK: keys.SkState, Position: w.checked.After.Log.State}
	if state.Body, err = w.s.content.Pack(ctx, state.PK, w.checked.After.Values, 0); err != nil {
		return err
	}
	items = append(items, state)
	for _, t := range w.u.Part.Tasks {
		task, err := w.task(ctx, t)
		if err != nil {
			return err
		}
		items = append(items, task...)
	}
	for i, f := range w.u.Part.Feedback {
		items = append(items, w.feedback(f, i)...)
	}
	for i, a := range w.u.Part.Artifacts {
		item, err := w.artifact(ctx, a, i)
		if err != nil {
			return err
		}
		items = append(items, item)
	}
	w.weigh(items)
	if err := w.s.putAll(ctx, items); err != nil {
		return err
	}
	return w.requests(ctx)
}

// requests stores what agents were sent, for no longer than this deployment keeps it.
func (w *importing) requests(ctx context.Context) error {
	last, now := w.s.runs.LastKept(), w.s.Millis()
	for _, r := range w.u.Part.Requests {
		r.ExpiresTime = min(r.ExpiresTime, last.UnixMilli())
		if r.ExpiresTime <= now {
			continue
		}
		of := run.Ref{UserID: w.u.UserID, SessionID: w.rec.Session, RunID: r.Run}
		if err := w.s.runs.PutSent(ctx, run.SentTo{Ref: of, LogID: w.rec.Log}, r.SentRequest); err != nil {
			return err
		}
	}
	return nil
}

// weigh adds up about how many bytes the part takes as stored.
func (w *importing) weigh(items []any) {
	w.bytes = 0
	for _, item := range items {
		if b, ok := item.(interface{ Stored() int64 }); ok {
			w.bytes += b.Stored()
		}
	}
}

// putAll puts items unconditionally, in any order.
func (s *Store) putAll(ctx context.Context, items []any) error {
	writes := make([]table.Write, len(items))
	for i, item := range items {
		writes[i] = table.Put(item)
	}
	return s.DB.BatchWrite(ctx, writes)
}

func (w *importing) packEntry(ctx context.Context, rec *eventlog.Record) error {
	content := eventlog.EntryBody{Time: rec.When, Task: rec.Events[0].TaskID, Initial: rec.Initial, Conflicts: rec.Conflicts}
	changes := false
	for i, e := range rec.Events {
		content.Events = append(content.Events, e.Own())
		changes = changes || len(rec.Undo[i]) > 0
	}
	if changes {
		content.Undo = rec.Undo
	}
	var err error
	rec.Body, err = w.s.content.Pack(ctx, rec.PK, content, 0)
	return err
}

// bounds returns the lower bounds of the invocations and ids that the part names:
// the positions of their entries, since an entry is read from its beginning.
// Before the first part none can exist.
func (w *importing) bounds(ctx context.Context) ([]any, error) {
	lowest := map[table.Key]int64{}
	note := func(k table.Key, position int64) {
		if _, ok := lowest[k]; !ok {
			lowest[k] = position
		}
	}
	for _, rec := range w.records {
		for _, e := range rec.Events {
			note(keys.InvocationKey(w.rec.Log, e.InvocationID), rec.First)
			if seq, ok := session.PositionOf(e.ID); !ok || seq != e.Seq {
				note(keys.ChosenKey(w.rec.Log, e.ID), rec.First)
			}
			if e.Misnamed() { // the other invocation's events must not miss it
				named, _, _ := session.NamedInvocation(e.ID)
				note(keys.InvocationKey(w.rec.Log, named), rec.First)
			}
		}
	}
	var items []any
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(records.Parallel)
	for k, position := range lowest {
		if w.u.Number == 1 {
			items = append(items, eventlog.LowerBound{PK: k.PK, SK: k.SK, Position: position})
			continue
		}
		group.Go(func() error {
			_, err := w.s.logs.WriteLowerBound(ctx, k, position)
			return err
		})
	}
	return items, group.Wait()
}

// task returns the items of a task: its pointer and the task itself.
func (w *importing) task(ctx context.Context, t archive.Task) ([]any, error) {
	k := keys.TaskPointerKey(w.rec.Log, t.ID)
	p := &tasks.TaskPointer{
		PK: k.PK, SK: k.SK, User: w.u.UserID, Session: w.rec.Session, Position: t.Place, Created: t.CreatedTime,
		First: t.First, Invocations: map[string]tasks.InvocationPosition{},
		GPK: keys.TaskIndexPK(w.u.UserID, t.ID), GSK: keys.ActivitySK(t.CreatedTime, w.rec.Session),
	}
	for id, place := range t.Places {
		p.Invocations[id] = tasks.InvocationPosition{Position: place}
	}
	renamed := w.checked.After.Renamed
	content := tasks.TaskBody{UserMessage: t.UserMessage, Bubbles: renamed(t.Bubbles), Metadata: renamed(t.Metadata)}
	for _, id := range t.Named {
		if content.Invocations == nil {
			content.Invocations = map[string]tasks.InvocationPosition{}
		}
		content.Invocations[id] = p.Invocations[id]
	}
	item := &tasks.TaskItem{PK: k.PK, SK: p.TaskKey().SK, Version: 1, Created: t.CreatedTime, Updated: t.UpdatedTime}
	var err error
	item.Body, err = w.s.content.Pack(ctx, item.PK, content, 0)
	return []any{p, item}, err
}

// feedback returns the items of a feedback. They are not visible before the
// import is complete, and clearing the log removes both.
func (w *importing) feedback(f archive.Feedback, i int) []any {
	id := fmt.Sprintf("%s-%06d-%06d", w.rec.Log, w.u.Number, i) // keeps the order of items with equal times
	item := feedback.Item{
		PK: keys.FeedbackPK(w.u.UserID), SK: keys.ActivitySK(f.CreatedTime, id), Task: f.TaskID, Session: w.rec.Session,
		Type: f.Type, Text: f.Text, Created: f.CreatedTime, Import: w.rec.SK,
	}
	k := keys.FeedbackPointer(w.rec.Log, item.SK)
	return []any{item, feedback.Ref{PK: k.PK, SK: k.SK, User: w.u.UserID}}
}
