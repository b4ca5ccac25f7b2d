package a2a

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/rethread/rethread/shared/client/agent/endpoint"
)

// cardAge is how long a process uses an agent's card before it reads it again.
const cardAge = 5 * time.Minute

// Paths of an agent's card below its address: of today's versions and of those before
// 0.3.
const (
	cardPath    = ".well-known/agent-card.json"
	oldCardPath = ".well-known/agent.json"
)

// cards reads an agent's card and keeps what it says for a while. It is safe for
// concurrent use.
type cards struct {
	endpoint *endpoint.Endpoint
	address  string // of the card; "" for the well-known one

	mu    sync.Mutex
	peer  *peer
	until time.Time
}

// get returns how the agent is spoken to.
func (c *cards) get(ctx context.Context) (*peer, error) {
	c.mu.Lock()
	peer, fresh := c.peer, time.Now().Before(c.until)
	c.mu.Unlock()
	if peer != nil && fresh {
		return peer, nil
	}
	card, err := c.read(ctx)
	if err != nil {
		return nil, err
	}
	if peer, err = card.choose(c.endpoint.URL); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.peer, c.until = peer, time.Now().Round(0).Add(cardAge) // of day: a monotonic clock may stand still while frozen
	return peer, nil
}

// forget has the next run read the card again.
func (c *cards) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.peer = nil
}

func (c *cards) read(ctx context.Context) (card, error) {
	if c.address != "" {
		return c.readAt(ctx, c.address)
	}
	base, err := url.Parse(c.endpoint.URL)
	if err != nil {
		return card{}, endpoint.NewError(endpoint.CodeCard, "the agent's address cannot be read").Because(c.endpoint.Redacted(err))
	}
	card, err := c.readAt(ctx, base.JoinPath(cardPath).String())
	if errors.Is(err, errNoCard) {
		var oldErr error
		if card, oldErr = c.readAt(ctx, base.JoinPath(oldCardPath).String()); oldErr == nil {
			return card, nil
		}
	}
	return card, err
}

var errNoCard = errors.New("there is no card at the address")

func (c *cards) readAt(ctx context.Context, address string) (card card, err error) {
	at := *c.endpoint
	at.URL, at.Method, at.Accept = address, http.MethodGet, "application/json"
	at.Explain = func(status int, _ string) *endpoint.Error {
		failed := endpoint.NewError(endpoint.CodeCard, "the agent answered the request for its card with status %d", status)
		if status == http.StatusNotFound {
			failed.Cause = errNoCard
		}
		return failed
	}
	take := func(body io.Reader) error {
		text, err := endpoint.ReadDocument(body)
		if err == nil && json.Unmarshal(text, &card) != nil {
			err = endpoint.NewError(endpoint.CodeCard, "the agent's card is malformed")
		}
		return err
	}
	return card, at.Ask(ctx, nil, take, take)
}
