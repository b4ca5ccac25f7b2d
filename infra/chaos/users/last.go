package users

import (
	"context"
	"errors"
	"math/rand/v2"

	"github.com/rethread/rethread/infra/chaos/agent"
	"github.com/rethread/rethread/infra/chaos/ledger"
)

var errNotAsked = errors.New("the last question was not accepted")

// AskLast asks the agent that continues runs in a new session that nobody else uses,
// so that only the loss of its worker interrupts the run. It is called after Run, when
// the faults have ended.
func (w *World) AskLast(ctx context.Context, seed uint64) error {
	d := &device{World: w, person: w.Persons[0], random: rand.New(rand.NewPCG(seed, 4))} //nolint:gosec // no secret
	before := len(d.person.all())
	d.create(ctx)
	mine := d.person.all()
	if len(mine) == before {
		return errNotAsked
	}
	t, token := mine[len(mine)-1], d.token()
	op := ledger.Op{Kind: "ask", Session: t.ID, Tokens: []string{token}, Detail: "last"}
	a := d.perform(ctx, op, d.start(t, token, M{"agent": agent.Name}), func(a Answer) { t.addStarted(token, a) })
	if a.Outcome != ledger.Acked {
		return errNotAsked
	}
	return nil
}
