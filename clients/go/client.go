// Package rethread is a client of Rethread, a conversation store for AI agents. It
// has a method for each call of the HTTP API, repeats what is safe to repeat, and
// watches sessions live. It needs nothing but the standard library.
//
// The services of a Client follow the resources of the API: client.Sessions.Create,
// client.Events.Append, client.Runs.Start. The client is for one user at a time,
// the one of its token; WithToken makes one for another.
//
// A call fails with an *Error, with the cause of its context, or with the error of
// the token source. errors.Is(err, rethread.ErrNotFound) tells the reasons apart.
package rethread

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"
)

// Config configures a Client. URL and Token are required.
type Config struct {
	// URL is the deployment's address, such as https://api.example, with or without /api/v1.
	URL string
	// StreamURL is the address of exports, watching and agents, with or without /api/v1; for
	// "" the deployment is asked when it is needed.
	StreamURL string
	// Token returns the bearer token of each request; StaticToken is always the same one.
	Token TokenSource
	// User is the user that a service acts for; "" is the user of the token.
	User string
	// HTTP sends the requests; nil means http.DefaultClient. It should have no
	// Timeout, which would also end the streams of Watch.
	HTTP *http.Client
	// Timeout limits a call with all its attempts; 0 means 60 seconds.
	Timeout time.Duration
	// Random returns a number of at least 0 and below 1, which spreads retries; nil
	// means math/rand/v2.Float64.
	Random func() float64
}

// Client is a client of one deployment. It is safe for concurrent use.
type Client struct {
	Sessions    *Sessions
	State       *States
	Thread      *Threads
	Events      *Events
	Runs        *Runs
	Artifacts   *Artifacts
	Tasks       *Tasks
	Messages    *Messages
	Feedback    *Feedbacks
	Shares      *Shares
	Webhooks    *Webhooks
	Automations *Automations
	Imports     *Imports
	Me          *Me
	A2A         *A2A

	transport *transport
}

// New returns a client, or ErrInvalid for what cannot work: an address that is not one of
// HTTP, no Token, a User that no user is, a negative Timeout. It sends no request.
func New(c Config) (*Client, error) {
	if err := checkAddress("URL", c.URL); err != nil {
		return nil, err
	}
	if c.StreamURL != "" {
		if err := checkAddress("StreamURL", c.StreamURL); err != nil {
			return nil, err
		}
	}
	switch {
	case c.Token == nil:
		return nil, fmt.Errorf("%w: Token: the client requires a token source", ErrInvalid)
	case c.Timeout < 0:
		return nil, fmt.Errorf("%w: Timeout: %v is negative", ErrInvalid, c.Timeout)
	}
	if err := checkUser(c.User); err != nil {
		return nil, err
	}
	if c.HTTP == nil {
		c.HTTP = http.DefaultClient
	}
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	if c.Random == nil {
		c.Random = rand.Float64
	}
	t := &transport{
		http: c.HTTP, tokens: newTokens(c.Token), user: c.User, timeout: c.Timeout, random: c.Random,
		addresses: &addresses{root: withoutVersion(c.URL), streams: withoutVersion(c.StreamURL)},
	}
	return newClient(t), nil
}

// WithToken returns a client with another token source, for another user. Both share the
// connections. It is cheap, so a server can make one for each request.
func (c *Client) WithToken(source TokenSource) *Client {
	t := *c.transport
	t.tokens = newTokens(source)
	return newClient(&t)
}

// WithUser returns a client of a service that acts for a user, with the same token source;
// "" is the service itself. Both share the connections. It is cheap, so a server can make
// one for each request.
func (c *Client) WithUser(userID string) *Client {
	t := *c.transport
	t.user = userID
	return newClient(&t)
}

func newClient(t *transport) *Client {
	r := resource{t}
	return &Client{
		transport: t,
		Sessions:  &Sessions{r}, State: &States{r}, Thread: &Threads{r}, Events: &Events{r}, Runs: &Runs{r},
		Artifacts: &Artifacts{r}, Tasks: &Tasks{r}, Messages: &Messages{r}, Feedback: &Feedbacks{r},
		Shares: &Shares{r}, Webhooks: &Webhooks{r}, Automations: &Automations{r}, Imports: &Imports{r},
		Me: &Me{r}, A2A: &A2A{r},
	}
}
