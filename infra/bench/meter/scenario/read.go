package scenario

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/uuid"
)

// Names of scenarios.
const (
	Newest      = "GET thread, its newest items"
	List        = "list sessions"
	NoRun       = "GET of a run that does not exist"
	NotRun      = "GET of a run by the id of an invocation that was none"
	Load        = "load a thread as one page, by turns"
	LoadPages   = "load a thread as pages of the default size, by turns"
	LoadRuns    = "load a thread made by runs as one page, by turns"
	BehindLarge = "append behind an entry of 200 KB"
)

const (
	largeBytes = 200_000
	bytesOfRun = 2000
	pageItems  = 100  // the default
	onePage    = 1000 // the largest
)

func (t *trial) read(ctx context.Context) error {
	err := t.measure(ctx, Newest, pageItems, func() error {
		return t.client.do(ctx, http.StatusOK, http.MethodGet, fmt.Sprintf("%s/thread?order=desc&limit=%d", t.session, pageItems), nil, nil)
	})
	if err != nil {
		return err
	}
	err = t.measure(ctx, List, 1, func() error {
		return t.client.do(ctx, http.StatusOK, http.MethodGet, api+"/sessions", nil, nil)
	})
	if err != nil {
		return err
	}
	missing := func(id string) func() error {
		return func() error {
			return t.client.do(ctx, http.StatusNotFound, http.MethodGet, t.session+"/runs/"+id, nil, nil)
		}
	}
	if err := t.measure(ctx, NoRun, 1, missing(uuid.NewString())); err != nil {
		return err
	}
	return t.measure(ctx, NotRun, 1, missing(t.oldest))
}

// load reads all pages of the thread, of a size in items.
func (t *trial) load(ctx context.Context, items, limit int) error {
	var page struct {
		Data struct {
			Items []struct{} `json:"items"`
		} `json:"data"`
		Meta struct {
			Next string `json:"next_cursor"`
		} `json:"meta"`
	}
	for query, read := "", 0; ; {
		page.Meta.Next, page.Data.Items = "", nil
		if err := t.client.do(ctx, http.StatusOK, http.MethodGet, fmt.Sprintf("%s/thread?limit=%d%s", t.session, limit, query), nil, &page); err != nil {
			return err
		}
		read += len(page.Data.Items)
		if page.Meta.Next == "" {
			if read != items {
				return fmt.Errorf("the thread has %d items, not %d: %w", read, items, errUnexpected)
			}
			return nil
		}
		query = "&cursor=" + url.QueryEscape(page.Meta.Next)
	}
}

// threads loads sessions of their own, whose length is that of the plan: once is enough.
func (t *trial) threads(ctx context.Context) error {
	if t.history != t.Histories[0] {
		return nil
	}
	var err error
	if t.session, err = t.client.create(ctx); err != nil {
		return err
	}
	for range t.Turns {
		if err := t.append(ctx, t.newTurn()); err != nil {
			return err
		}
	}
	items := 2 * t.Turns
	if err := t.measure(ctx, Load, t.Turns, func() error { return t.load(ctx, items, onePage) }); err != nil {
		return err
	}
	if err := t.measure(ctx, LoadPages, t.Turns, func() error { return t.load(ctx, items, pageItems) }); err != nil {
		return err
	}
	if t.session, err = t.client.create(ctx); err != nil {
		return err
	}
	t.Agent.Answer(tokens(1, bytesOfRun/tokenBytes), 0)
	for range t.Turns {
		if err := t.runToItsEnd(ctx); err != nil {
			return err
		}
	}
	return t.measure(ctx, LoadRuns, t.Turns, func() error { return t.load(ctx, items, onePage) })
}

// large appends behind an entry that does not compress.
func (t *trial) large(ctx context.Context) error {
	random := rand.New(rand.NewPCG(1, uint64(t.history))) //nolint:gosec // repeatable on purpose
	var text strings.Builder
	const letters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+/!?#$%&()*,-.:;<=>@[]^_{|}~"
	for text.Len() < largeBytes {
		text.WriteByte(letters[random.IntN(len(letters))])
	}
	if err := t.append(ctx, []object{event(uuid.NewString(), "user", text.String())}); err != nil {
		return err
	}
	return t.measure(ctx, BehindLarge, 1, func() error { return t.append(ctx, t.newTurn()) })
}
