// Package scenario plays what clients do through the HTTP API of a whole local system,
// and measures what it costs the table with package meter: not a call of the store, but
// whole requests, with access, quotas, idempotency, and the fan-out that they cause.
package scenario

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/bench/meter"
)

// System is a running system whose table is behind a meter.
type System struct {
	URL, WebSocketURL string
	Meter             *meter.Proxy
	Agent             *Agent // configured as AgentName
	Logs              *Logs  // receives the system's output; may be nil
	// Measured, if not nil, is called after each scenario.
	Measured func(Measure)
}

// Plan is the size of the scenarios.
type Plan struct {
	Histories []int // turns of a session before the scenarios
	Turns     int   // turns that a scenario writes or reads
	Depth     int   // of the deepest fork
	Tokens    int   // of a streamed answer, which has TokensPerSecond
	// TokenEvery and PushEvery are the pauses of the agents.
	TokenEvery, PushEvery time.Duration
	// Quiet is how long functions must be silent until a scenario is over.
	Quiet time.Duration
	// Only, if not "", is the only part to play: "write", "read", "branch", "tasks",
	// "large", "stream", "threads" or "search".
	Only string
}

// TokensPerSecond is how fast models write.
const TokensPerSecond = 50

// Full is the plan of `make meter`.
func Full() Plan {
	return Plan{
		Histories: []int{10, 100, 1000, 5000}, Turns: 100, Depth: 8, Tokens: 1000,
		TokenEvery: time.Second / TokensPerSecond, PushEvery: 250 * time.Millisecond, Quiet: 1500 * time.Millisecond,
	}
}

// Measure is what a scenario cost, by the kind of the functions that made the requests.
// The sweeper is not counted: it runs each minute, whatever happens.
type Measure struct {
	Scenario string      `json:"scenario"`
	Count    int         `json:"count"` // turns or tokens of the scenario, else 1
	History  int         `json:"turns_before"`
	Requests meter.Usage `json:"requests"`         // of functions that answer requests
	Runner   meter.Usage `json:"runner,omitzero"`  // of the worker
	Fanout   meter.Usage `json:"fan_out,omitzero"` // of functions that react to changes
	Watch    meter.Usage `json:"watch,omitzero"`   // of connections of watchers
	// Calls is the usage of each function and operation: "EventsFunction PutItem".
	Calls map[string]meter.Usage `json:"calls"`
	// Invocations are those of each function, by logical id.
	Invocations map[string]int `json:"invocations"`
	// Frames is how many messages a watcher sent and received.
	Frames int `json:"frames,omitempty"`
	// HTTP is how many requests clients made, and Sent the bytes of the answers and
	// frames that they received.
	HTTP int `json:"http"`
	Sent int `json:"sent_bytes"`
	// Logged is how many bytes functions logged, with their metrics.
	Logged int `json:"logged_bytes"`
	// Seconds is how long the agent took for its answer.
	Seconds float64 `json:"seconds,omitzero"`
}

// Total returns the whole cost.
func (m Measure) Total() meter.Usage {
	return m.Requests.Plus(m.Runner).Plus(m.Fanout).Plus(m.Watch)
}

// Run plays all scenarios, those of each history in one session.
func Run(ctx context.Context, system System, plan Plan) ([]Measure, error) {
	var all []Measure
	for _, history := range plan.Histories {
		t := &trial{System: system, Plan: plan, history: history}
		if err := t.run(ctx); err != nil {
			return all, fmt.Errorf("after %d turns: %w", history, err)
		}
		all = append(all, t.measures...)
	}
	return all, nil
}

// trial is the scenarios with one history.
type trial struct {
	System
	Plan

	client   *client
	history  int
	session  string // path
	oldest   string // invocation of the session
	turn     int    // the number of the newest one, which decides about its text
	measures []Measure
}

func (t *trial) run(ctx context.Context) error {
	var err error
	if t.client, err = newClient(ctx, t.URL, "meter-"+uuid.NewString()); err != nil {
		return err
	}
	if t.session, err = t.client.create(ctx); err != nil {
		return err
	}
	if err := t.fill(ctx, t.history); err != nil {
		return err
	}
	for _, part := range t.parts() {
		if t.Only != "" && t.Only != part.name {
			continue
		}
		if err := part.play(ctx); err != nil {
			return err
		}
	}
	return nil
}

// part is several scenarios in the same session.
type part struct {
	name string
	play func(context.Context) error
}

func (t *trial) parts() []part {
	return []part{
		{"write", t.write},
		{"read", t.read},
		{"branch", t.branch},
		{"tasks", t.tasks},
		{"large", t.large},
		{"stream", t.stream},
		{"threads", t.threads},
		{"search", t.search},
	}
}

// Functions by kind; all others answer requests.
const (
	sweeper     = "SweeperFunction"
	runner      = "RunnerFunction"
	fanout      = "FanoutFunction"
	dispatch    = "AutomationsFunction"
	deliver     = "DeliverFunction"
	sockets     = "WatchFunction"
	eventStream = "WatchStreamFunction"
)

// measure plays a scenario and adds what it cost. It waits until functions have ended
// that reacted to what was before, and to the scenario.
func (t *trial) measure(ctx context.Context, name string, count int, work func() error) error {
	if err := t.Meter.Settle(ctx, t.Quiet, sweeper); err != nil {
		return err
	}
	invoked, err := t.invocations(ctx)
	if err != nil {
		return err
	}
	before, logged, sent := t.Meter.Counts(), t.Logs.Bytes(), *t.client
	if err := work(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := t.Meter.Settle(ctx, t.Quiet, sweeper); err != nil {
		return err
	}
	after, err := t.invocations(ctx)
	if err != nil {
		return err
	}
	m := newMeasure(t.Meter.Counts().Sub(before))
	m.Scenario, m.Count, m.History = name, count, t.history
	m.Logged, m.HTTP, m.Sent = t.Logs.Bytes()-logged, t.client.requests-sent.requests, t.client.received-sent.received
	m.Invocations = since(after, invoked)
	t.measures = append(t.measures, m)
	if t.Measured != nil {
		t.Measured(m)
	}
	return nil
}

func newMeasure(counts meter.Counts) Measure {
	m := Measure{Calls: map[string]meter.Usage{}}
	for call, u := range counts {
		switch call.Function {
		case sweeper, "": // "" is the local host, which reads streams
			continue
		case runner:
			m.Runner = m.Runner.Plus(u)
		case fanout, dispatch, deliver:
			m.Fanout = m.Fanout.Plus(u)
		case sockets, eventStream:
			m.Watch = m.Watch.Plus(u)
		default:
			m.Requests = m.Requests.Plus(u)
		}
		m.Calls[call.Function+" "+call.Operation] = u
	}
	return m
}
