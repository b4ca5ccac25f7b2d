// Package cost says what the operations of the store cost, in the capacity
// units that AWS charges for, and what each of them may cost.
package cost

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/capacity"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
)

// Names of the operations that docs/costs.md uses.
const (
	Turn           = "a turn: question of 300, answer of 2,000 characters"
	LoadHundred    = "load the first 100 turns"
	StreamedAnswer = "a run that streams 1000 tokens, 50 a second, stored every 150ms"
	LimitedHistory = "read what a run is asked, limited to 20 turns"
	Subscribe      = "subscribe a connection to a session"
	FindWatcher    = "find the watchers of a change: 1"
	CatchUp        = "catch up a watcher that missed nothing"
	StartRun       = "start a run"
	QueueInput     = "queue an input of 300 characters behind a run"
	BeginQueued    = "begin a queued run"
	Sweep          = "check for unfinished work, of which there is none"
)

// WholeHistory is the name of an operation that, unlike all others, costs more after
// more turns.
func WholeHistory(turns int) string {
	return fmt.Sprintf("read what a run is asked: all of %d turns", turns)
}

// Row is one measured operation at one length of the history. A bound of 0
// bounds nothing.
type Row struct {
	Operation string
	History   int // turns before it
	Usage     capacity.Usage
	MaxReads  float64
	MaxWrites float64
}

// OK reports whether the operation cost what it may.
func (r Row) OK() bool {
	return (r.MaxReads == 0 || r.Usage.Reads <= r.MaxReads) &&
		(r.MaxWrites == 0 || r.Usage.Writes <= r.MaxWrites)
}

// Measure runs every operation on a session with a history of that many turns.
func Measure(ctx context.Context, engine table.Engine, history int) ([]Row, error) {
	m := &measurement{meter: &capacity.Meter{}, user: "user-" + uuid.NewString(), history: history, prose: prose}
	// Time passes by the reading, so that no session comes to the top of a list only because
	// the machine is slow.
	var read atomic.Int64
	began := time.Now().Round(0)
	clock := func() time.Time { return began.Add(time.Duration(read.Add(1)) * time.Millisecond) }
	m.store = stores.New(m.meter.Around(engine), stores.WithClock(clock))
	if err := m.sweeps(ctx); err != nil {
		return nil, err
	}
	if err := m.prepare(ctx); err != nil {
		return nil, fmt.Errorf("prepare a history of %d turns: %w", history, err)
	}
	for _, step := range []func(context.Context) error{m.events, m.turns, m.asked, m.state, m.rewinds, m.tasks, m.list, m.regenerated, m.runs, m.queued, m.guests} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return m.rows, nil
}

type measurement struct {
	store   *stores.Store
	meter   *capacity.Meter
	user    string
	session string
	history int
	turn    int
	rows    []Row
	prose   func(seed, length int) string // what people and agents write
}

func (m *measurement) prepare(ctx context.Context) error {
	if err := m.create(ctx, "history"); err != nil {
		return err
	}
	for m.turn < min(m.history, singleTurns)-1 {
		if err := m.appendTurn(ctx); err != nil {
			return err
		}
	}
	for m.turn < m.history-1 {
		if err := m.appendTurns(ctx, min(m.history-1-m.turn, session.MaxBatch/2)); err != nil {
			return err
		}
	}
	return m.appendTurn(ctx) // the head is an ordinary one
}

// singleTurns is how many turns of a history are appended event by event, as
// agents do; the rest only makes it long, and comes in batches.
const singleTurns = 200

func (m *measurement) appendTurns(ctx context.Context, turns int) error {
	var batch []session.Event
	for range turns {
		m.turn++
		invocation := uuid.NewString()
		for author, text := range map[string]string{"user": m.question(m.turn), "assistant": m.answer(m.turn)} {
			e, err := newEvent("", invocation, author, text)
			if err != nil {
				return err
			}
			batch = append(batch, e)
		}
	}
	_, _, err := m.store.Sessions.Append(ctx, session.Append{SessionID: m.session, UserID: m.user, Events: batch})
	return err
}

func (m *measurement) create(ctx context.Context, name string) error {
	m.session = uuid.NewString()
	n := session.New{ID: m.session, UserID: m.user, Agent: "assistant", Name: name, Nonce: m.session}
	if err := n.Validate(); err != nil {
		return err
	}
	_, err := m.store.Sessions.Create(ctx, n)
	return err
}

// measure adds a row for one piece of work.
func (m *measurement) measure(
	operation string, maxReads, maxWrites float64, work func() error,
) error {
	before := m.meter.Total()
	if err := work(); err != nil {
		return fmt.Errorf("%s after %d turns: %w", operation, m.history, err)
	}
	m.rows = append(m.rows, Row{
		Operation: operation, History: m.history, Usage: m.meter.Total().Sub(before),
		MaxReads: maxReads, MaxWrites: maxWrites,
	})
	return nil
}

func (m *measurement) events(ctx context.Context) error {
	same := uuid.NewString()
	return m.measureAll(
		step{"append the first event of an invocation, ≤ 1 KB", 0, 2, func() error {
			return m.append(ctx, "", same, "user", m.question(m.turn))
		}},
		step{"append another event, ≤ 1 KB", 0, 1, func() error {
			return m.append(ctx, "", same, "tool", m.question(m.turn+1))
		}},
		step{"append another event with an id of the caller's", 0, 2, func() error {
			return m.append(ctx, uuid.NewString(), same, "tool", m.question(m.turn+2))
		}},
	)
}

func (m *measurement) turns(ctx context.Context) error {
	if err := m.measure(Turn, 0, 5, func() error {
		return m.appendTurn(ctx)
	}); err != nil || m.history < 100 {
		return err
	}
	return m.measure(LoadHundred, 20, 0, func() error {
		return m.load(ctx, 200)
	})
}

func (m *measurement) state(ctx context.Context) error {
	invocation := uuid.NewString()
	return m.measureAll(
		step{"append an event that changes session state", 0, 0, func() error {
			return m.appendState(ctx, invocation, `{"step":"two","count":3}`)
		}},
		step{"append an event that changes user state", 0, 0, func() error {
			return m.appendState(ctx, invocation, `{"user:language":"en"}`)
		}},
		step{"read the state in all scopes", 0, 0, func() error {
			_, err := m.store.Sessions.State(ctx, m.user, m.session)
			return err
		}},
	)
}

func (m *measurement) list(ctx context.Context) error {
	for range 9 {
		if err := m.create(ctx, "another"); err != nil {
			return err
		}
	}
	return m.measure("list 10 sessions", 0, 0, func() error {
		_, err := m.store.Sessions.List(ctx, session.ListQuery{UserID: m.user, Limit: 10})
		return err
	})
}

type step struct {
	operation           string
	maxReads, maxWrites float64
	work                func() error
}

func (m *measurement) measureAll(steps ...step) error {
	for _, s := range steps {
		if err := m.measure(s.operation, s.maxReads, s.maxWrites, s.work); err != nil {
			return err
		}
	}
	return nil
}

// appendTurn is one question and its answer, each saved once.
func (m *measurement) appendTurn(ctx context.Context) error {
	invocation := uuid.NewString()
	m.turn++
	if err := m.append(ctx, "", invocation, "user", m.question(m.turn)); err != nil {
		return err
	}
	return m.append(ctx, "", invocation, "assistant", m.answer(m.turn))
}

func (m *measurement) append(ctx context.Context, id, invocation, author, text string) error {
	e, err := newEvent(id, invocation, author, text)
	if err != nil {
		return err
	}
	return m.appendEvent(ctx, e)
}

func newEvent(id, invocation, author, text string) (session.Event, error) {
	role := "model"
	if author == "user" {
		role = "user"
	}
	content, err := json.Marshal(map[string]any{"role": role, "parts": []any{map[string]any{"text": text}}})
	return session.Event{
		ID: id, InvocationID: invocation, Author: author, Fields: map[string]json.RawMessage{"content": content},
	}, err
}

func (m *measurement) appendState(ctx context.Context, invocation, delta string) error {
	raw := fmt.Sprintf(`{"invocation_id":%q,"author":"assistant","actions":{"state_delta":%s}}`, invocation, delta)
	e, err := session.ParseEvent(json.RawMessage(raw), "")
	if err != nil {
		return err
	}
	return m.appendEvent(ctx, e)
}

func (m *measurement) appendEvent(ctx context.Context, e session.Event) error {
	_, _, err := m.store.Sessions.Append(ctx, session.Append{SessionID: m.session, UserID: m.user, Events: []session.Event{e}})
	return err
}

// load reads the first events in pages of the default size.
func (m *measurement) load(ctx context.Context, events int) error {
	q := session.EventQuery{View: session.Effective, Limit: session.DefaultPage}
	for read := 0; read < events; {
		page, err := m.store.Sessions.Events(ctx, m.user, m.session, q)
		if err != nil {
			return err
		}
		if read += len(page.Events); page.Next == nil {
			break
		}
		q.Resume = *page.Next
	}
	return nil
}
