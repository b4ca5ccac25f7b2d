package cost

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/capacity"
	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
)

// Bounds of rewinding and forking, at every length of the history.
const (
	rewindReads, rewindWrites, rewindWritesAll = 5, 5, 20
	restoreReads                               = 10
	forkReads, forkWrites                      = 8, 11 // with state and an artifact
)

// rewinds measures in the long session: what it costs must not depend on it.
func (m *measurement) rewinds(ctx context.Context) error {
	last, changed := uuid.NewString(), uuid.NewString()
	if err := m.append(ctx, "", last, "user", m.question(m.turn)); err != nil {
		return err
	}
	if err := m.measure("rewind the last invocation", rewindReads, rewindWrites, func() error {
		return m.rewind(ctx, last)
	}); err != nil {
		return err
	}
	for _, invocation := range []string{uuid.NewString(), changed} {
		if err := m.appendChange(ctx, invocation); err != nil {
			return err
		}
	}
	if err := m.measure("rewind it with state in three scopes and an artifact", restoreReads, rewindWritesAll, func() error {
		return m.rewind(ctx, changed)
	}); err != nil {
		return err
	}
	return m.forks(ctx)
}

// Rewound measures a session after many rewinds that keep new content: each adds a range to
// the session's timeline, of which rewinds and forks write an outline of bounded size.
func Rewound(ctx context.Context, engine table.Engine, rewinds int) ([]Row, error) {
	m := &measurement{meter: &capacity.Meter{}, user: "user-" + uuid.NewString(), history: rewinds, prose: prose}
	m.store = stores.New(m.meter.Around(engine))
	if err := m.create(ctx, "rewound"); err != nil {
		return nil, err
	}
	var last string
	takeBack := func() error { return m.rewind(ctx, last) }
	for n := range rewinds + 1 {
		last = uuid.NewString()
		if err := m.appendTurn(ctx); err != nil {
			return nil, err
		}
		if err := m.append(ctx, "", last, "user", m.question(m.turn)); err != nil {
			return nil, err
		}
		if n == rewinds {
			break
		}
		if err := takeBack(); err != nil {
			return nil, err
		}
	}
	err := m.measureAll(
		step{"append after rewinds", 0, 2, func() error { return m.append(ctx, "", last, "tool", m.question(m.turn)) }},
		step{"rewind after rewinds", rewindReads + 1, rewindWrites, takeBack},
		step{"fork after rewinds", forkReads, forkWrites, func() error {
			id := uuid.NewString()
			_, err := m.store.History.Fork(ctx, session.ForkOf{SessionID: m.session, UserID: m.user, ID: id, Nonce: id})
			return err
		}},
	)
	return m.rows, err
}

// forks measures a fork, and one of a fork of a fork …
func (m *measurement) forks(ctx context.Context) error {
	of := m.session
	for depth := 1; depth <= 8; depth++ {
		boundary := uuid.NewString()
		source := of
		if err := m.appendTo(ctx, source, boundary); err != nil {
			return err
		}
		of = uuid.NewString()
		work := func() error {
			_, err := m.store.History.Fork(ctx, session.ForkOf{
				SessionID: source, UserID: m.user, ID: of, Nonce: of, Before: &boundary,
			})
			return err
		}
		var err error
		switch depth {
		case 1, 8: // one fork of seven stores the ancestors that its header has no place for
			writes := forkWrites + 2*float64(depth/8)
			err = m.measure(fmt.Sprintf("fork before the last invocation, %d deep", depth), forkReads, writes, work)
		default:
			err = work()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// regenerated compares loading 100 turns with loading the same turns where some
// answers were taken back and asked for again.
func (m *measurement) regenerated(ctx context.Context) error {
	first := m.turn
	m.prose = varied // seals compress many texts together
	var plain float64
	for _, c := range []struct {
		name  string
		again func(turn int) int
		first float64 // bounds of the first reading and of later ones, in plain ones
		later float64
	}{
		{"", func(int) int { return 0 }, 0, 0},
		{", the last asked 20 times again", func(turn int) int { return 20 * (turn / 99) }, 1.1, 1.1},
		{", every fifth asked again", func(turn int) int { return 1 - min(turn%5, 1) }, 1.4, 1.1},
		{", every second asked again", func(turn int) int { return 1 - turn%2 }, 1.8, 1.1},
	} {
		if err := m.create(ctx, "regenerated"+c.name); err != nil {
			return err
		}
		m.turn = first
		for turn := range 100 {
			if err := m.regenerate(ctx, c.again(turn)); err != nil {
				return err
			}
		}
		load := func() error { return m.load(ctx, 200) }
		if err := m.measure("load 100 turns"+c.name, plain*c.first, 0, load); err != nil {
			return err
		}
		if plain == 0 {
			plain = m.rows[len(m.rows)-1].Usage.Reads
			continue
		}
		if err := m.measure("load 100 turns"+c.name+", later", plain*c.later, 0, load); err != nil {
			return err
		}
	}
	return nil
}

// regenerate appends a turn after taking it back a number of times.
func (m *measurement) regenerate(ctx context.Context, times int) error {
	for range times {
		invocation := uuid.NewString()
		if err := m.append(ctx, "", invocation, "user", m.question(m.turn+1)); err != nil {
			return err
		}
		if err := m.append(ctx, "", invocation, "assistant", m.answer(m.turn+1)); err != nil {
			return err
		}
		if err := m.rewind(ctx, invocation); err != nil {
			return err
		}
	}
	return m.appendTurn(ctx)
}

func (m *measurement) rewind(ctx context.Context, invocation string) error {
	_, err := m.store.History.Rewind(ctx, session.Rewind{
		SessionID: m.session, UserID: m.user, Before: invocation, Nonce: uuid.NewString(),
	})
	return err
}

func (m *measurement) appendChange(ctx context.Context, invocation string) error {
	v, err := m.store.Artifacts.PutArtifact(ctx, artifact.Put{
		SessionID: m.session, UserID: m.user, Name: "report.md", MimeType: "text/markdown", Body: []byte(m.answer(m.turn)),
	})
	if err != nil {
		return err
	}
	raw := fmt.Sprintf(`{"invocation_id":%q,"author":"assistant","actions":{"artifact_delta":{"report.md":%d},
		"state_delta":{"topic":%[1]q,"user:language":%[1]q,"app:news":%[1]q}}}`, invocation, v.Version)
	e, err := session.ParseEvent(json.RawMessage(raw), "")
	if err != nil {
		return err
	}
	return m.appendEvent(ctx, e)
}

func (m *measurement) appendTo(ctx context.Context, id, invocation string) error {
	own := m.session
	m.session = id
	defer func() { m.session = own }()
	return m.append(ctx, "", invocation, "user", m.question(m.turn))
}
