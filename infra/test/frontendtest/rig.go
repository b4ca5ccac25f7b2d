// Package frontendtest runs a server of a front ends' protocol over a store of its own.
// The test is the front end and the worker of runs.
package frontendtest

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/quota"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/hooks"
	"github.com/rethread/rethread/shared/transport/frontend"
)

const (
	// Alice owns the sessions. She calls unless a test names another user.
	Alice = "alice"
	// maxWait bounds every wait of a test.
	maxWait = 5 * time.Minute
	// maxStreams is a user's limit of open streams.
	maxStreams = 3
)

// Rig is a server over a store of its own. Its agents are helper and team/writer.
type Rig struct {
	Store   *stores.Store
	Started chan run.Ref // runs to be worked on

	server  *httptest.Server
	text    string       // the type of the events with text
	ahead   atomic.Int64 // how far the clock is ahead, in nanoseconds
	crashes atomic.Bool

	mu      sync.Mutex
	changed chan struct{} // closed at the next write
	expires chan struct{} // closed when the time of all requests is up
	units   table.Units
	atStart table.Units // units when the last run was handed to its worker
	onStart func(run.Ref)
}

// New starts a server. text is the type of its events whose delta is a text of the
// agent.
func New(t testing.TB, handler func(frontend.Config) http.Handler, text string) *Rig {
	t.Helper()
	r := &Rig{Started: make(chan run.Ref, 8), text: text, changed: make(chan struct{}), expires: make(chan struct{})}
	engine := hooks.New(storetest.Engine(t), hooks.Hooks{
		After: func(_ context.Context, c hooks.Call, u table.Units, err error) error {
			r.count(u, c.Op == hooks.Write || c.Op == hooks.Transact)
			return err
		},
	})
	r.Store = stores.New(engine, stores.WithQuotas(quota.Limits{Streams: maxStreams}), stores.WithClock(r.now))
	serve := handler(frontend.Config{
		Sessions: r.Store.Sessions, Rewinds: r.Store.History, Runs: crashing{r.Store.Runs, &r.crashes}, Agents: agents{}, Grants: r.Store.Shares, Streams: r.Store.Usage, Unseen: r.Store.Watching,
		StartRun: r.start,
		Watch:    r.watch, Log: slog.New(slog.DiscardHandler), Now: r.now, NewID: uuid.NewString,
		CheckEvery: 500 * time.Millisecond, KeepAlive: time.Second,
	})
	r.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		ctx, cancel := r.limited(req.Context())
		defer cancel()
		serve.ServeHTTP(w, req.WithContext(access.WithCaller(ctx, access.Caller{UserID: req.Header.Get("User"), Token: "token", ChangesApp: true})))
	}))
	t.Cleanup(r.server.Close)
	return r
}

// limited returns a context that TimeUp ends.
func (r *Rig) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	r.mu.Lock()
	expires := r.expires
	r.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-expires:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

func (r *Rig) now() time.Time { return time.Now().Add(time.Duration(r.ahead.Load())) }

// Advance advances the clock of the server and of its store.
func (r *Rig) Advance(by time.Duration) { r.ahead.Add(int64(by)) }

// TimeUp ends the time of all requests so far.
func (r *Rig) TimeUp() {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.expires)
	r.expires = make(chan struct{})
}

// CrashNextStart fails the next start of a run before it does anything.
func (r *Rig) CrashNextStart() { r.crashes.Store(true) }

var errCrash = errors.New("the function crashed")

type crashing struct {
	stores.Runs
	next *atomic.Bool
}

func (c crashing) Start(ctx context.Context, s run.Start) (run.Run, error) {
	if c.next.CompareAndSwap(true, false) {
		return run.Run{}, errCrash
	}
	return c.Runs.Start(ctx, s)
}

type agents struct{}

func (agents) HasAgent(name string) bool { return name == "helper" || name == "team/writer" }

// MayCall lets everybody call.
func (agents) MayCall(context.Context, string) bool { return true }

// OnNextStart calls do with the next run that is started, before its stream begins.
func (r *Rig) OnNextStart(do func(run.Ref)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.onStart = do
}

func (r *Rig) start(_ context.Context, ref run.Ref) error {
	r.mu.Lock()
	do := r.onStart
	r.onStart, r.atStart = nil, r.units
	r.mu.Unlock()
	if do != nil {
		do(ref)
	}
	r.Started <- ref
	return nil
}

func (r *Rig) count(u table.Units, wrote bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.units = r.units.Plus(u)
	if wrote {
		close(r.changed)
		r.changed = make(chan struct{})
	}
}

// Units returns the capacity that the server and the test have consumed so far.
func (r *Rig) Units() table.Units {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.units
}

// UnitsAtStart returns what Units returned when the last run was handed to its worker.
func (r *Rig) UnitsAtStart() table.Units {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.atStart
}

// Users returns the texts of the user's effective messages in one of alice's sessions.
func (r *Rig) Users(t testing.TB, sessionID string) []string {
	t.Helper()
	return r.texts(t, sessionID, func(e session.Event) bool { return e.Author == "user" })
}

// Texts returns the texts of all effective messages in one of alice's sessions, with "|"
// between them.
func (r *Rig) Texts(t testing.TB, sessionID string) string {
	t.Helper()
	return strings.Join(r.texts(t, sessionID, func(session.Event) bool { return true }), "|")
}

func (r *Rig) texts(t testing.TB, sessionID string, of func(session.Event) bool) []string {
	t.Helper()
	page, err := r.Store.Sessions.Events(t.Context(), Alice, sessionID, session.EventQuery{View: session.Effective, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range page.Events {
		var c struct{ Parts []struct{ Text string } }
		if of(e) && json.Unmarshal(e.Fields["content"], &c) == nil && len(c.Parts) > 0 {
			out = append(out, c.Parts[0].Text)
		}
	}
	return out
}

// TakeStreams opens as many streams as alice may have open, when all others have ended.
func (r *Rig) TakeStreams(t testing.TB) {
	t.Helper()
	until := time.Now().Add(maxWait)
	for taken := 0; taken < maxStreams; {
		_, err := r.Store.Usage.TakeStream(t.Context(), quota.Stream{UserID: Alice, Subject: "x", Lasting: time.Minute})
		switch {
		case err == nil:
			taken++
		case !errors.Is(err, fault.Of(fault.Busy)) || time.Now().After(until): // busy: a stream is just ending
			t.Fatal(err)
		}
	}
}
