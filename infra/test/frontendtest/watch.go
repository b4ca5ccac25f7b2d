package frontendtest

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/transport/follow"
	"github.com/rethread/rethread/shared/transport/ws/subscription"
)

// watch is a follow.WatchFunc whose connections deliver what a session missed, and are
// cut by the next write.
func (r *Rig) watch(ctx context.Context, _ access.Caller, sessionID string, from watch.Cursor) (follow.Watcher, error) {
	r.mu.Lock()
	changed := r.changed
	r.mu.Unlock()
	missed, err := r.Store.Watching.CatchUp(ctx, Alice, sessionID, watch.From{Cursor: &from})
	if err != nil {
		return nil, err
	}
	c := &connection{changed: changed}
	for _, m := range missed {
		m.Subscription, m.SessionID = "stream", sessionID
		if m.Item != nil {
			e := *m.Item
			e.SessionID = sessionID
			m.Item = &e
		}
		text, err := watch.Frame(m, sessionID)
		if err != nil {
			return nil, err
		}
		var out subscription.Message
		if err := json.Unmarshal(text, &out); err != nil {
			return nil, err
		}
		out.Text = text
		c.queue = append(c.queue, out)
	}
	return c, nil
}

type connection struct {
	queue   []subscription.Message
	changed chan struct{}
}

var errCut = errors.New("the connection was cut")

func (c *connection) Next(ctx context.Context) (subscription.Message, error) {
	if len(c.queue) > 0 {
		m := c.queue[0]
		c.queue = c.queue[1:]
		return m, nil
	}
	select {
	case <-c.changed:
		return subscription.Message{}, errCut
	case <-ctx.Done():
		return subscription.Message{}, context.Cause(ctx)
	}
}

func (*connection) Close() {}
