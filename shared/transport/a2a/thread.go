package a2a

import (
	"context"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/domain/watch/client"
)

// pages reads the part of a session's thread that begins with the task.
func (f *follower) pages(ctx context.Context, epoch int64) (client.Thread, error) {
	var out client.Thread
	q := run.ThreadQuery{Limit: session.DefaultPage, Resume: session.Resume{Seq: f.link.After, Epoch: epoch}}
	for {
		t, err := f.Runs.Thread(ctx, f.link.UserID, f.link.SessionID, q)
		if err != nil {
			return out, err
		}
		page := client.Thread{Items: t.Items, Offsets: t.Offsets()}
		out = page.Behind(out)
		out.Cursor = watch.Cursor{Epoch: t.Session.Epoch, Seq: t.Seq, Offset: t.Offset}
		out.Status = t.Session.Status
		if t.Run != nil {
			out.RunID, out.Error = t.Run.ID, t.Run.Error
		}
		if t.Next == nil {
			return out, nil
		}
		q.Resume = *t.Next
	}
}
