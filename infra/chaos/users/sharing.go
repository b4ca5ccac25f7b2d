package users

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/rethread/rethread/infra/chaos/ledger"
)

// share shares a session with a user who stays until the end: a share created
// after the user's erasure would give them data again.
func (d *device) share(ctx context.Context, t *Session) {
	other := d.Persons[d.random.IntN(len(d.Persons))]
	if other == d.person || other == d.Leaver() {
		return
	}
	c := Call{Method: http.MethodPost, Path: t.path() + "/shares", Body: M{"access": "write", "user_id": other.ID}, Key: d.id(), Repeat: true}
	d.perform(ctx, ledger.Op{Kind: "share", Session: t.ID, Detail: other.ID}, c, func(a Answer) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.guests = append(t.guests, guest{other, parseAnswer(a).Data.ID})
	})
}

// revoke revokes a share; if it was the user's only one, they have no access from
// then on.
func (d *device) revoke(ctx context.Context, t *Session) {
	t.mu.Lock()
	if len(t.guests) == 0 {
		t.mu.Unlock()
		return
	}
	gone := t.guests[0]
	t.guests = t.guests[1:]
	t.mu.Unlock()
	d.perform(ctx, ledger.Op{Kind: "revoke", Session: t.ID, Detail: gone.person.ID},
		Call{Method: http.MethodDelete, Path: t.path() + "/shares/" + gone.share, Repeat: true}, nil)
}

// appendAsGuest has a guest of the session append to it.
func (d *device) appendAsGuest(ctx context.Context, t *Session) {
	t.mu.Lock()
	guests := slices.Clone(t.guests)
	t.mu.Unlock()
	if len(guests) == 0 {
		return
	}
	d.appendAs(ctx, guests[d.random.IntN(len(guests))].person, t)
}

// exportAndImport exports a session and imports it under another id.
func (d *device) exportAndImport(ctx context.Context, t *Session) {
	a := d.do(ctx, d.random, d.person, Call{Method: http.MethodGet, Path: t.path() + "/export", Repeat: true})
	if a.Outcome != ledger.Acked {
		return
	}
	id := d.id()
	c := Call{
		Method: http.MethodPost, Path: api + "/sessions/import?id=" + id, Body: a.Body, Type: "application/json", Key: d.id(), Repeat: true,
	}
	d.perform(ctx, ledger.Op{Kind: "import", Session: id, Detail: t.ID}, c, func(a Answer) {
		if a.Status == http.StatusCreated {
			d.addSession(ctx, &Session{ID: id, Owner: d.person, Import: true})
		}
	})
}

// delete deletes a session.
func (d *device) delete(ctx context.Context, t *Session) {
	t.SetDeleting()
	d.perform(ctx, ledger.Op{Kind: "delete", Session: t.ID},
		Call{Method: http.MethodDelete, Path: t.path(), Repeat: true}, nil)
}

// read reads a session in one of the available ways. At any time, positions must
// increase and ids must be unique.
func (d *device) read(ctx context.Context, t *Session) {
	ways := []string{
		"/events?limit=5", "/events?view=all&limit=7", "/events?order=desc&limit=9", "/thread?limit=6", "/thread?order=desc&limit=4",
		"/state", "/tasks", "/messages", "/artifacts", "/forks", "/shares",
	}
	way := ways[d.random.IntN(len(ways))]
	a := d.do(ctx, d.random, d.person, Call{Method: http.MethodGet, Path: t.path() + way, Repeat: true})
	if a.Outcome != ledger.Acked {
		return
	}
	for _, problem := range unordered(a.Body) {
		d.Violate("order", t.ID, fmt.Sprintf("GET %s: %s", way, problem))
	}
}

// unordered describes what is wrong with the positions on a page of events or
// items.
func unordered(body []byte) []string {
	type item struct {
		ID  string `json:"id"`
		Seq int64  `json:"seq"`
	}
	var events struct{ Data []item }
	var thread struct{ Data struct{ Items []item } }
	list := []item(nil)
	if parse(body, &events) {
		list = events.Data
	} else if parse(body, &thread) {
		list = thread.Data.Items
	}
	var problems []string
	seen := map[string]bool{}
	for i, it := range list {
		if it.Seq == 0 {
			return nil // no events
		}
		if seen[it.ID] {
			problems = append(problems, fmt.Sprintf("the id %s is not unique", it.ID))
		}
		seen[it.ID] = true
		if i > 1 && (it.Seq > list[i-1].Seq) != (list[1].Seq > list[0].Seq) {
			problems = append(problems, fmt.Sprintf("position %d follows %d", it.Seq, list[i-1].Seq))
		}
	}
	return problems
}

// isOpenTo reports whether a person owns the session or has a share that was not
// revoked.
func (t *Session) isOpenTo(p *Person) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return p == t.Owner || slices.ContainsFunc(t.guests, func(g guest) bool { return g.person == p })
}
