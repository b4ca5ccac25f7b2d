package subscriptions_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/storetest/fixture"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/store/stores"
)

// Guests take subscriptions while shares are revoked: once that has returned, nobody
// has a good subscription of the share, and nobody gets one any more.
func TestNobodyOfARevokedShareIsSeated(t *testing.T) {
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
		taken := make(chan struct{}, 1000)
		var sitting sync.WaitGroup
		for guest := range 3 {
			sitting.Go(func() {
				sitAgainAndAgain(t, s, fixture.Subscription(session, fmt.Sprint("bob", guest), fixture.Bob, "revoked"), taken)
			})
		}
		for range 2 * round {
			<-taken
		}
		if err := s.Revoke(t.Context(), fixture.Alice, session, "revoked"); err != nil {
			t.Fatal(err)
		}
		wantNoneOf(t, s, log, "revoked")
		sitting.Wait() // each until it is refused
		wantNoneOf(t, s, log, "revoked")
		if err := s.Subscribe(t.Context(), other); err != nil {
			t.Errorf("round %d: another share is refused: %v", round, err)
		}
	}
}

// sitAgainAndAgain takes a subscription until it is refused.
func sitAgainAndAgain(t *testing.T, s *stores.Store, seat watch.Subscription, taken chan<- struct{}) {
	t.Helper()
	for {
		switch err := s.Subscribe(t.Context(), seat); {
		case errors.Is(err, fault.Of(fault.Forbidden)):
			return
		case err != nil:
			t.Errorf("%s: %v", seat.Connection, err)
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
	for _, seat := range fixture.Watchers(t, s, log) {
		if seat.Grant.Share == share && seat.EndReason(time.Now()) == "" {
			t.Errorf("%s still has a seat", seat.Connection)
		}
	}
}
