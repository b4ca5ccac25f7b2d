package follow

import (
	"context"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
)

// readThread reads the part of a session's thread that begins at the
// target's position, and the cursor from which to follow it.
func (f *follower) readThread(ctx context.Context, epoch int64) (*view, watch.Cursor, error) {
	out := &view{}
	q := run.ThreadQuery{Limit: session.DefaultPage, Resume: session.Resume{Seq: f.target.After, Epoch: epoch}}
	for {
		t, err := f.Runs.Thread(ctx, f.target.UserID, f.target.SessionID, q)
		if err != nil {
			return nil, watch.Cursor{}, err
		}
		for _, e := range t.Items {
			out.items = append(out.items, newViewItem(e))
		}
		out.status = t.Session.Status
		if t.Run != nil {
			out.runID = t.Run.ID
		}
		if t.Next == nil {
			return out, watch.Cursor{Epoch: t.Session.Epoch, Seq: t.Seq, Offset: t.Offset}, nil
		}
		q.Resume = *t.Next
	}
}
