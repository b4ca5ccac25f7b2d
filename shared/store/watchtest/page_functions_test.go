package watchtest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/transport/rest"
	"github.com/rethread/rethread/shared/transport/rest/runs"
	"github.com/rethread/rethread/shared/transport/ws"
)

// functions are those through which a watcher follows a session: the WebSocket API's,
// the stream's and that of GET thread. Their posts to connections are recorded.
type functions struct {
	store  *stores.Store
	socket ws.Handler
	fanout *watch.Fanout
	runs   http.Handler
	posts  *posts
}

// posts are the messages sent to the open connection.
type posts struct {
	mu         sync.Mutex
	connection string
	messages   [][]byte
}

func (p *posts) Push(_ context.Context, connection string, message []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if connection != p.connection {
		return watch.ErrGone
	}
	p.messages = append(p.messages, message)
	return nil
}

func (p *posts) Close(context.Context, string) error { return watch.ErrGone }

// open makes another connection the open one, or closes it.
func (p *posts) open(connection string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.connection, p.messages = connection, nil
}

// sent returns the messages since the last call.
func (p *posts) sent() [][]byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := p.messages
	p.messages = nil
	return out
}

func newFunctions(engine table.Engine) *functions {
	log := slog.New(slog.DiscardHandler)
	f := &functions{
		store: stores.New(engine, stores.WithCodec(storetest.Codec()), stores.WithCompaction(smallRanges())), posts: &posts{},
	}
	f.socket = ws.New(ws.Config{
		Gate: access.NewGate(f.store.Shares, time.Now, log), Subscriptions: f.store.Subscriptions, Feed: f.store.Watching, Pusher: f.posts,
		Log: log, Now: time.Now,
	})
	f.fanout = watch.NewFanout(f.store.Subscriptions, f.posts, log, time.Now)
	f.runs = runs.New(rest.Config{
		Runs: f.store.Runs, Sessions: f.store.Sessions, Grants: f.store.Shares, Shares: f.store.Shares, Idempotency: f.store.Idempotency,
		Log: log, Now: time.Now, NewID: uuid.NewString,
	})
	return f
}

// send sends an action to the WebSocket API.
func (f *functions) send(ctx context.Context, connection string, action map[string]string) error {
	body, err := json.Marshal(action)
	if err != nil {
		return err
	}
	_, err = f.socket(ctx, events.APIGatewayWebsocketProxyRequest{
		Body: string(body),
		RequestContext: events.APIGatewayWebsocketProxyRequestContext{
			EventType: "MESSAGE", ConnectionID: connection, RequestID: "r",
			Authorizer: map[string]any{"sub": watched, "exp": fmt.Sprint(time.Now().Add(time.Hour).Unix())},
		},
	})
	return err
}

// page is a page of a thread.
func (f *functions) page(ctx context.Context, session, query string) (status int, body []byte, err error) {
	r, err := http.NewRequestWithContext(
		access.WithCaller(ctx, access.Caller{UserID: watched, ChangesApp: true}), http.MethodGet, "/api/v1/sessions/"+session+"/thread?"+query, http.NoBody)
	if err != nil {
		return 0, nil, err
	}
	w := httptest.NewRecorder()
	f.runs.ServeHTTP(w, r)
	return w.Code, w.Body.Bytes(), nil
}

// shown is what a client shows.
type shown struct {
	Status string
	Items  []map[string]any
}

func shownBy(rt *rapid.T, pages [][]byte) shown {
	var out shown
	for _, page := range pages {
		var answer struct {
			Data struct {
				Status string
				Items  []map[string]any
			}
		}
		if err := json.Unmarshal(page, &answer); err != nil {
			rt.Fatal(err)
		}
		out.Status = answer.Data.Status
		out.Items = append(out.Items, answer.Data.Items...)
	}
	return out
}
