package users

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/tmaxmax/go-sse"

	"github.com/rethread/rethread/clients/go/watch"
	"github.com/rethread/rethread/clients/go/watch/view"
	"github.com/rethread/rethread/shared/base/retry"
)

// follower keeps a session current over server-sent events, by the client's rules.
type follower struct {
	world   *World
	session *Session
	state   *view.State
	show    func(view.Session)
}

// maxFrame is above the size of any message, in bytes.
const maxFrame = 1 << 20

var errNoStream = errors.New("no stream")

func (f *follower) run(ctx context.Context) error {
	for ctx.Err() == nil {
		if f.state.Deleted() {
			return watch.ErrDeleted
		}
		status, err := f.stream(ctx)
		if status == http.StatusNotFound || status == http.StatusForbidden {
			return fmt.Errorf("%w: %d", watch.ErrNotFound, status)
		}
		_ = err // another stream is opened
		if err := retry.Sleep(ctx, reconnect); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// stream follows one stream until it ends or a message is missing.
func (f *follower) stream(ctx context.Context) (status int, err error) {
	if f.state.NeedsThread() {
		thread, status, err := f.world.Thread(ctx, f.session)
		if err != nil {
			return status, err
		}
		f.state.Replace(thread, time.Now())
		f.show(f.state.Show())
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	query := url.Values{"cursor": {f.state.Cursor().String()}, "token": {f.session.Owner.Token}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.world.sys.URL+f.session.path()+"/watch?"+query.Encode(), nil)
	if err != nil {
		return 0, err
	}
	f.session.Owner.name(req)
	res, err := f.world.http.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close() //nolint:errcheck // the body has been read as far as needed
	if res.StatusCode != http.StatusOK {
		return res.StatusCode, errNoStream
	}
	defer f.state.Lost()
	return 0, f.take(ctx, cancel, res)
}

// take applies the messages; if one stays missing, it cancels the stream.
func (f *follower) take(ctx context.Context, cancel context.CancelFunc, res *http.Response) error {
	frames := make(chan string)
	go func() {
		defer close(frames)
		for event, err := range sse.Read(res.Body, &sse.ReadConfig{MaxEventSize: maxFrame}) {
			if err != nil {
				return
			}
			select {
			case frames <- event.Data:
			case <-ctx.Done():
				return
			}
		}
	}()
	defer cancel()
	for !f.state.NeedsThread() && !f.state.Deleted() {
		var repair <-chan time.Time
		if at, missing := f.state.RepairAt(); missing {
			repair = time.After(time.Until(at))
		}
		select {
		case data, ok := <-frames:
			if !ok {
				return nil
			}
			m, err := view.ParseMessage([]byte(data))
			if err != nil {
				continue // not a message about the session
			}
			f.state.Apply(m, time.Now())
			f.show(f.state.Show())
		case now := <-repair:
			f.state.Repairing(now)
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
