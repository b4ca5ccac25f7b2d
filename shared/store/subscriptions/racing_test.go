package subscriptions_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/storetest/fixture"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/store/stores"
)

// Guests subscribe while shares are revoked: once a revocation has returned, no
// subscription of the share is valid, and none that is stored later.
func TestSubscribe_racing_revocations(t *testing.T) {
	t.Parallel()
	s := fixture.Store(t)
	for round := range 5 {
		session := uuid.NewString()
		fixture.Session(t, s, fixture.Alice, session, nil)
		fixture.LetIn(t, s, session, "revoked", fixture.Bob)
		fixture.LetIn(t, s, session, "stays", "carol")
		log := fixture.Log(t, s, session)
		other := fixture.Subscription(session, "carol", "carol", "stays")
		fixture.Subscribe(t, s, fixture.Subscription(session, "alice", fixture.Alice, ""), other)
		taken, revoked := make(chan struct{}, 1000), make(chan struct{})
		var subscribing sync.WaitGroup
		for guest := range 3 {
			subscribing.Go(func() {
				subscribeRepeatedly(t, s, fixture.Subscription(session, fmt.Sprint("bob", guest), fixture.Bob, "revoked"), taken, revoked)
			})
		}
		for range 2 * round {
			<-taken
		}
		if err := s.Shares.Revoke(t.Context(), fixture.Alice, session, "revoked"); err != nil {
			t.Fatal(err)
		}
		wantNoneOf(t, s, log, "revoked")
		close(revoked)
		subscribing.Wait() // each once more
		wantNoneOf(t, s, log, "revoked")
		if err := s.Subscriptions.Subscribe(t.Context(), other); err != nil {
			t.Errorf("round %d: another share is refused: %v", round, err)
		}
	}
}

// subscribeRepeatedly subscribes until the share has been revoked, and once after that,
// as one whose right was checked before.
func subscribeRepeatedly(t *testing.T, s *stores.Store, sub watch.Subscription, taken chan<- struct{}, revoked <-chan struct{}) {
	t.Helper()
	for last := false; !last; {
		select {
		case <-revoked:
			last = true
		default:
		}
		if err := s.Subscriptions.Subscribe(t.Context(), sub); err != nil {
			t.Errorf("%s: %v", sub.Connection, err)
			return
		}
		select {
		case taken <- struct{}{}:
		default:
		}
	}
}

func wantNoneOf(t *testing.T, s *stores.Store, log, share string) {
	t.Helper()
	for _, sub := range fixture.Watchers(t, s, log) {
		if sub.Grant.Share == share && sub.EndReason(time.Now()) == "" {
			t.Errorf("%s is still subscribed", sub.Connection)
		}
	}
}
