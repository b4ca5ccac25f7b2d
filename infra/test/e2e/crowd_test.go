package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rethread/rethread/infra/test/e2e"
)

// testCrowds lets so many watch a session that their messages are posted in parts. They
// come beside the requests of others, and leave at once; nobody else is refused.
func testCrowds(t *testing.T, sys *e2e.System) {
	t.Helper()
	const watchers = 600
	sys = sys.Another(t, "WATCH_CONCURRENCY=64")
	alice, bob := sys.User(t, "alice"), sys.User(t, "bob")
	s := mustCreate(t, alice, nil)
	var others errgroup.Group
	over := make(chan struct{})
	others.Go(func() error { return createUntil(t.Context(), bob, over) })

	streams := make([]e2e.Stream, watchers)
	coming := errgroup.Group{}
	coming.SetLimit(16)
	for i := range streams {
		coming.Go(func() (err error) {
			if streams[i], err = e2e.Sockets(t.Context(), alice, s[strings.LastIndex(s, "/")+1:], nil); err != nil {
				return err
			}
			return hearing(t.Context(), streams[i], `"type":"subscribed"`)
		})
	}
	if err := coming.Wait(); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, alice, s, event("i1", "to everybody"))
	for i, stream := range streams {
		if err := hearing(t.Context(), stream, "to everybody"); err != nil {
			t.Fatalf("watcher %d: %v", i, err)
		}
	}
	for _, stream := range streams {
		stream.Close()
	}
	for range 20 {
		mustCreate(t, alice, nil)
	}
	close(over)
	if err := others.Wait(); err != nil {
		t.Error(err)
	}
}

// hearing reads until a message contains a text.
func hearing(ctx context.Context, stream e2e.Stream, text string) error {
	ctx, cancel := context.WithTimeout(ctx, e2e.Patience)
	defer cancel()
	for {
		message, err := stream.Next(ctx)
		if err != nil {
			return fmt.Errorf("wait for %q: %w", text, err)
		}
		if strings.Contains(string(message), text) {
			return nil
		}
	}
}

// createUntil creates a session after another, each of which must succeed.
func createUntil(ctx context.Context, u *e2e.User, over <-chan struct{}) error {
	every := time.NewTicker(50 * time.Millisecond)
	defer every.Stop()
	for created := 1; ; created++ {
		answer, err := u.Try(ctx, http.MethodPost, api+"/sessions", e2e.M{})
		if err != nil {
			return err
		}
		if answer.Status != http.StatusCreated {
			return fmt.Errorf("session %d: %d %s", created, answer.Status, answer.Body)
		}
		select {
		case <-over:
			return nil
		case <-every.C:
		}
	}
}
