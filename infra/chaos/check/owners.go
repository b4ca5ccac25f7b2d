package check

import (
	"context"
	"net/http"

	"github.com/rethread/rethread/infra/chaos/ledger"
	"github.com/rethread/rethread/infra/chaos/users"
)

// owners checks that nobody reads a session who does not own it and never had a share
// of it: neither with a token of their own, nor by the service that acts for them, nor
// by naming the owner with a token that is no service's.
func (c *Checker) owners(ctx context.Context) error {
	shared := map[[2]string]bool{} // session and user
	for _, op := range c.World.Ledger.All() {
		if op.Kind == "share" && op.Outcome != ledger.Refused {
			shared[[2]string{op.Session, op.Detail}] = true
		}
	}
	return c.forEachSession(ctx, func(ctx context.Context, t *users.Session) error {
		for _, p := range c.World.Persons {
			if p == t.Owner {
				continue
			}
			tried := []*users.Person{p}
			if shared[[2]string{t.ID, p.ID}] {
				tried = nil
			}
			if !p.Served {
				tried = append(tried, &users.Person{ID: t.Owner.ID, Token: p.Token, Served: true})
			}
			for _, as := range tried {
				if err := c.isShut(ctx, t, p, as); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// isShut checks that a person does not read a session.
func (c *Checker) isShut(ctx context.Context, t *users.Session, p, as *users.Person) error {
	status, body, err := c.World.Get(ctx, as, users.Path(t)+"/events")
	if err != nil {
		return err
	}
	refused := status == http.StatusForbidden || status == http.StatusNotFound
	c.expect(refused, "owners", t.ID, "%s, as %s, reads a session of %s: %d %.200s", p.ID, as.ID, t.Owner.ID, status, body)
	return nil
}
