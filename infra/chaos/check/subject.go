package check

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/rethread/rethread/clients/go/watch/view"
	"github.com/rethread/rethread/infra/chaos/fold"
	"github.com/rethread/rethread/infra/chaos/ledger"
	"github.com/rethread/rethread/infra/chaos/users"
)

// subject is a session, read in every available way.
type subject struct {
	session   *users.Session
	header    header
	taken     int // entries taken over by the fork
	log       *fold.Log
	effective []fold.Entry
	reverse   []fold.Entry
	thread    view.Thread
	state     state
	ops       []ledger.Op
}

type state struct {
	Session, User, App map[string]json.RawMessage
}

var errChanged = errors.New("it both exists and does not exist")

// load reads a session; there is false if it was deleted.
func (c *Checker) load(ctx context.Context, t *users.Session) (s *subject, there bool, err error) {
	s = &subject{session: t, ops: c.World.Ledger.Of(t.ID)}
	var status int
	if s.header, status, err = c.session(ctx, t); err != nil || status == http.StatusNotFound {
		return s, false, err
	}
	w := c.World
	all, status, err := w.Events(ctx, t, "view=all&limit=100")
	if err = settled(status, err); err != nil {
		return s, true, err
	}
	if s.taken, err = c.taken(ctx, t); err != nil {
		return s, true, err
	}
	s.log = fold.Of(all, s.taken)
	if s.effective, status, err = w.Events(ctx, t, "limit=1000"); settled(status, err) != nil {
		return s, true, settled(status, err)
	}
	if s.reverse, status, err = w.Events(ctx, t, "order=desc&limit=17"); settled(status, err) != nil {
		return s, true, settled(status, err)
	}
	if s.thread, status, err = w.Thread(ctx, t); settled(status, err) != nil {
		return s, true, settled(status, err)
	}
	status, body, err := w.Get(ctx, t.Owner, users.Path(t)+"/state")
	if err = settled(status, err); err != nil {
		return s, true, err
	}
	var out struct{ Data state }
	err = json.Unmarshal(body, &out)
	s.state = out.Data
	return s, true, err
}

func settled(status int, err error) error {
	if err == nil && status != http.StatusOK {
		return fmt.Errorf("%w: %d", errChanged, status)
	}
	return err
}

// branch is a session in the tree of its forks.
type branch struct {
	ID       string   `json:"id"`
	At       int      `json:"forked_at_seq"`
	Children []branch `json:"children"`
}

// taken returns how many entries a fork took over.
func (c *Checker) taken(ctx context.Context, t *users.Session) (int, error) {
	if t.Fork == nil {
		return 0, nil
	}
	status, body, err := c.World.Get(ctx, t.Owner, users.Path(t)+"/forks")
	if err = settled(status, err); err != nil {
		return 0, err
	}
	var out struct{ Data branch }
	if err := json.Unmarshal(body, &out); err != nil {
		return 0, err
	}
	at, ok := out.Data.find(t.ID)
	if !ok {
		return 0, fmt.Errorf("%w: it is not in the tree of forks", errChanged)
	}
	return at, nil
}

func (b branch) find(id string) (int, bool) {
	if b.ID == id {
		return b.At, true
	}
	for _, child := range b.Children {
		if at, ok := child.find(id); ok {
			return at, true
		}
	}
	return 0, false
}

// Log returns a session's log as it was read, and that of its source; empty if it
// was not read.
func (c *Checker) Log(session string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.logs[session]
	if s == nil {
		return ""
	}
	var text strings.Builder
	for _, e := range s.log.Entries {
		fmt.Fprintf(&text, "%.1000s\n", e.Raw)
	}
	if fork := s.session.Fork; fork != nil && c.logs[fork.Of] != nil {
		fmt.Fprintf(&text, "\nforked before %q from %s at %d; log of the source:\n", fork.Boundary, fork.Of, s.taken)
		for _, e := range c.logs[fork.Of].log.Entries {
			fmt.Fprintf(&text, "%.1000s\n", e.Raw)
		}
	}
	return text.String()
}
