package play

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/bench/meter"
	"github.com/rethread/rethread/infra/local/samtemplate"
	localtable "github.com/rethread/rethread/infra/local/table"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table/dynamo"
)

const (
	user      = "alice"
	agentName = "assistant"
	largest   = 1000 // items of a page
)

// storePeer is Rethread's store, without functions and gateways.
type storePeer struct {
	meter *meter.Proxy
	store *stores.Store
	last  map[string]string // the newest invocation of each thread
}

func startStore(ctx context.Context, b Bench) (_ Peer, err error) {
	template, err := samtemplate.Load(filepath.Join(b.Root, "template.yaml"), samtemplate.Options{
		Parameters: map[string]string{"JwtIssuer": "https://bench.invalid", "JwtAudience": "bench"},
	})
	if err != nil {
		return nil, err
	}
	proxy, err := meter.Start(ctx, b.Engine)
	if err != nil {
		return nil, err
	}
	client := localtable.NewClient(proxy.URL, "rethreadstore")
	if _, err := localtable.Ensure(ctx, client, template.Tables[0]); err != nil {
		return nil, errors.Join(err, proxy.Close())
	}
	engine := dynamo.New(client, template.Tables[0].Name, store.Schema())
	return &storePeer{meter: proxy, store: stores.New(engine), last: map[string]string{}}, nil
}

func (p *storePeer) Close() error { return p.meter.Close() }

func (p *storePeer) Usage(ctx context.Context) (meter.Usage, error) {
	if err := p.meter.Settle(ctx, quiet); err != nil {
		return meter.Usage{}, err
	}
	return p.meter.Counts().Total(), nil
}

func (p *storePeer) create(ctx context.Context, thread string) error {
	if p.last[thread] != "" {
		return nil
	}
	n := session.New{ID: thread, UserID: user, Agent: agentName, Nonce: thread}
	if err := n.Validate(); err != nil {
		return err
	}
	_, err := p.store.Sessions.Create(ctx, n)
	return err
}

// Turn appends the events as one batch, with ids that name their invocation.
func (p *storePeer) Turn(ctx context.Context, thread, question, answer string) error {
	if err := p.create(ctx, thread); err != nil {
		return err
	}
	invocation := uuid.NewString()
	asked, err := newEvent(invocation, 0, "user", question)
	if err != nil {
		return err
	}
	answered, err := newEvent(invocation, 1, agentName, answer)
	if err != nil {
		return err
	}
	_, _, err = p.store.Sessions.Append(ctx, session.Append{SessionID: thread, UserID: user, Events: []session.Event{asked, answered}})
	p.last[thread] = invocation
	return err
}

func newEvent(invocation string, n int, author, text string) (session.Event, error) {
	content, err := json.Marshal(said(author, text))
	return session.Event{
		ID: fmt.Sprintf("%s.%d", invocation, n), InvocationID: invocation, Author: author,
		Fields: map[string]json.RawMessage{"content": content},
	}, err
}

// message is what an event says.
type message struct {
	Role  string `json:"role"`
	Parts []part `json:"parts"`
}

type part struct {
	Text string `json:"text"`
}

func said(author, text string) message {
	role := "model"
	if author == "user" {
		role = "user"
	}
	return message{Role: role, Parts: []part{{Text: text}}}
}

func (c message) text() string {
	var all string
	for _, p := range c.Parts {
		all += p.Text
	}
	return all
}

func (p *storePeer) Load(ctx context.Context, thread string) ([]string, error) {
	q := session.EventQuery{View: session.Effective, Limit: largest}
	var texts []string
	for {
		page, err := p.store.Sessions.Events(ctx, user, thread, q)
		if err != nil {
			return nil, err
		}
		for _, e := range page.Events {
			var c message
			if err := json.Unmarshal(e.Fields["content"], &c); err != nil {
				return nil, fmt.Errorf("read event %s: %w", e.ID, err)
			}
			texts = append(texts, c.text())
		}
		if page.Next == nil {
			return texts, nil
		}
		q.Resume = *page.Next
	}
}

func (p *storePeer) Rewind(ctx context.Context, thread string) error {
	_, err := p.store.History.Rewind(ctx, session.Rewind{SessionID: thread, UserID: user, Before: p.last[thread], Nonce: uuid.NewString()})
	return err
}

func (p *storePeer) Fork(ctx context.Context, thread, into string) error {
	before := p.last[thread]
	_, err := p.store.History.Fork(ctx, session.ForkOf{SessionID: thread, UserID: user, ID: into, Nonce: into, Before: &before})
	return err
}

// Stream stores like a worker that flushes each LossWindow.
func (p *storePeer) Stream(ctx context.Context, thread, question string, tokens []string) error {
	ref := run.Ref{UserID: user, SessionID: thread, RunID: uuid.NewString()}
	input, err := newEvent(ref.RunID, 0, "user", question)
	if err != nil {
		return err
	}
	start := run.Start{Ref: ref, Agent: agentName, Mode: run.Managed, Input: []session.Event{input}}
	if _, err := p.store.Runs.Start(ctx, start); err != nil {
		return err
	}
	if _, err := p.store.Runs.Claim(ctx, ref, run.Claimant{Worker: "worker"}); err != nil {
		return err
	}
	begun, err := newEvent(ref.RunID, 1, agentName, "")
	if err != nil {
		return err
	}
	item, err := p.store.Runs.BeginItem(ctx, ref, begun)
	if err != nil {
		return err
	}
	var whole string
	for _, text := range parts(tokens) {
		whole += text
		if _, err := item.Flush(ctx, []content.Delta{{Text: text}}); err != nil {
			return err
		}
	}
	done, err := newEvent(ref.RunID, 1, agentName, whole)
	if err != nil {
		return err
	}
	if _, err := item.Complete(ctx, done); err != nil {
		return err
	}
	_, err = p.store.Runs.End(ctx, ref, run.Completed, nil)
	p.last[thread] = ref.RunID
	return err
}
