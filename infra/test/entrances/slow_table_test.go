package entrances_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/hooks"
	"github.com/rethread/rethread/shared/transport/ws"
)

const (
	// functionTime is how long a function may take for a request.
	functionTime = 29 * time.Second
	// clientTries is how often the table's client sends a request.
	clientTries = 5
	// lostTime is after how long an answer is taken for lost.
	lostTime = 10 * time.Second
)

// failing is a table of which a third of the answers fail: refused, or lost after a while.
// Its client sends a request again until its time is over, as the SDK does.
type failing struct {
	mu     sync.Mutex // requests of one operation meet here
	random *rand.Rand
	on     bool
}

func (f *failing) answer(ctx context.Context, c hooks.Call) error {
	failure := error(nil)
	for try := 0; f.on && try < clientTries; try++ {
		wait := 100 * time.Millisecond << try
		f.mu.Lock()
		fate := f.random.IntN(6)
		f.mu.Unlock()
		switch fate {
		case 0:
			failure = table.ErrThrottled
		case 1:
			failure, wait = table.ErrUndecided, lostTime
		default:
			return nil
		}
		select {
		case <-ctx.Done():
			if c.Writing() {
				return fmt.Errorf("%w: %w", table.ErrUndecided, ctx.Err())
			}
			return ctx.Err()
		case <-time.After(wait):
		}
	}
	return failure
}

// slowRequests are what is sent while the table fails, by name.
func slowRequests() map[string]request {
	return map[string]request{
		"a rewind over sixty changes": post("/api/v1/sessions/here/rewind", `{"rewind_before_invocation_id":"i-0"}`),
		"an artifact":                 put("/api/v1/sessions/here/artifacts/a"),
		"a fork":                      post("/api/v1/sessions/here/fork", `{"rewind_before_invocation_id":"i-30"}`),
		"an append":                   post("/api/v1/sessions/here/events", changing(61)),
		"a list":                      get("/api/v1/sessions"),
		"a thread":                    get("/api/v1/sessions/here/thread"),
		"a subscription":              {method: "subscribe"},
	}
}

func changing(n int) string {
	return fmt.Sprintf(`{"events":[{"invocation_id":"i-%d","author":"user","actions":{"state_delta":{"k-%d":%d}}}]}`, n, n, n)
}

// pushed collects what is sent to a connection.
type pushed struct{ frames []string }

func (p *pushed) Push(_ context.Context, _ string, data []byte) error {
	p.frames = append(p.frames, string(data))
	return nil
}

func (*pushed) Close(context.Context, string) error { return nil }

// errorLog notes whether an error was logged of a write whose outcome is unknown.
type errorLog struct {
	slog.Handler
	undecided bool
}

func (*errorLog) Enabled(context.Context, slog.Level) bool { return true }

func (l *errorLog) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		err, ok := a.Value.Any().(error)
		l.undecided = l.undecided || ok && errors.Is(err, table.ErrUndecided)
		return true
	})
	return nil
}

// send sends a request through a function, and returns the status, or that of a frame.
func (s *system) send(ctx context.Context, r request) (status int, header map[string]string, err error) {
	if r.method == "subscribe" {
		to := &pushed{}
		watch := ws.New(ws.Config{
			Gate: access.NewGate(s.store.Shares, s.clock.now, slog.New(slog.DiscardHandler)), Subscriptions: s.store.Subscriptions, Feed: s.store.Watching, Pusher: to,
			Log: slog.New(slog.DiscardHandler), Now: s.clock.now,
		})
		event := events.APIGatewayWebsocketProxyRequest{Body: `{"action":"subscribe","session_id":"here"}`}
		event.RequestContext.EventType, event.RequestContext.ConnectionID = "MESSAGE", "c"
		event.RequestContext.Authorizer = map[string]any{"sub": alice, "exp": fmt.Sprint(s.clock.now().Add(time.Hour).Unix())}
		if _, err := watch(ctx, event); err != nil || len(to.frames) == 0 {
			return 0, nil, fmt.Errorf("%w: no frame", err)
		}
		var frame struct {
			Type   string
			Status int
			Wait   json.Number `json:"retry_after"`
		}
		err := json.Unmarshal([]byte(to.frames[0]), &frame)
		return frame.Status, map[string]string{"Frame": to.frames[0], "Retry-After": frame.Wait.String()}, err
	}
	event := events.APIGatewayV2HTTPRequest{
		RouteKey: r.method + " " + r.path, RawPath: r.path, Body: r.body,
		Headers: map[string]string{"user": alice, "content-type": "application/json"},
	}
	event.RequestContext.HTTP.Method, event.RequestContext.HTTP.Path = r.method, r.path
	answer, err := boot.HTTP(s)(ctx, event)
	return answer.StatusCode, answer.Headers, err
}

// While a third of the table's answers fail, each request is answered before its function's
// end: it is carried out, or refused with 429 and a time to wait, or fails if the outcome of
// a write is unknown by then.
func TestRequests_end_before_their_function(t *testing.T) {
	t.Parallel()
	cases, outcomes := 0, map[int]int{}
	for name, r := range slowRequests() {
		for seed := range uint64(12) {
			cases++
			synctest.Test(t, func(t *testing.T) {
				of, log := &failing{random: rand.New(rand.NewPCG(seed, 1))}, &errorLog{Handler: slog.DiscardHandler} //nolint:gosec // repeats
				s := newSystemOver(t, storetest.Before(storetest.Engine(t), of.answer), slog.New(log))
				s.must(t, http.StatusCreated, post("/api/v1/sessions", `{"id":"here"}`))
				for n := range 61 {
					s.must(t, http.StatusCreated, post("/api/v1/sessions/here/events", changing(n)))
				}
				of.on = true
				ctx, cancel := context.WithTimeout(t.Context(), functionTime)
				defer cancel()
				began := time.Now()
				status, header, err := s.send(ctx, r)
				took := time.Since(began)
				outcomes[status]++
				switch {
				case err != nil || took >= functionTime:
					t.Errorf("%s, seed %d: %d after %s, %v", name, seed, status, took, err)
				case status == http.StatusTooManyRequests && header["Retry-After"] == "":
					t.Errorf("%s, seed %d: 429 without a time to wait: %v", name, seed, header)
				case status >= 400 && status != http.StatusTooManyRequests && !log.undecided:
					t.Errorf("%s, seed %d: %d after %s: %v", name, seed, status, took, header)
				}
			})
		}
	}
	if cases < 84 || outcomes[http.StatusTooManyRequests] < 12 || outcomes[http.StatusCreated] < 12 {
		t.Errorf("%d cases with the outcomes %v, want 84, and at least 12 of 201 and of 429", cases, outcomes)
	}
}
