package stores_test

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/store/stores"
)

func TestArtifacts_racing(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*stores.Store{
		"writers":                        newStore(t),
		"writers whose answers are lost": losing(t, 0.3),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const writers, each = 8, 12
			mustCreate(t, s, alice, "race", nil)
			big := randomText(t, 8<<10)
			var wg sync.WaitGroup
			for w := range writers {
				wg.Go(func() {
					for i := range each {
						_, err := s.Artifacts.PutArtifact(t.Context(), artifact.Put{
							SessionID: "race", UserID: alice, Name: "a", MimeType: "text/plain",
							Body: []byte(fmt.Sprint(w, " ", i, big)),
						})
						if err != nil {
							t.Errorf("put: %v", err)
						}
					}
				})
			}
			wg.Wait()
			numbers := mustVersions(t, s, "race", "a", 1000)
			if len(numbers) != writers*each || numbers[len(numbers)-1] != writers*each-1 {
				t.Fatalf("%d versions up to %d, want %d", len(numbers), numbers[len(numbers)-1], writers*each)
			}
			seen := map[string]bool{}
			for _, n := range numbers {
				_, content, err := s.Artifacts.Artifact(t.Context(), numbered("race", "a", n))
				if err != nil || seen[string(content)] {
					t.Errorf("version %d: %v, seen before: %v", n, err, seen[string(content)])
				}
				seen[string(content)] = true
			}
		})
	}
}

func TestArtifacts_readFromALaggingReplica(t *testing.T) {
	t.Parallel()
	s := stores.New(storetest.Lagging(storetest.Engine(t), property.Rand(t, 0)))
	mustCreate(t, s, alice, "stale", nil)
	content := randomText(t, 4<<20)
	mustPut(t, s, alice, "stale", "a", content)
	mustRead(t, s, newest("stale", "a"), content)
}

func TestArtifacts_numbersEnd(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	mustCreate(t, s, alice, "source", nil)
	mustCreate(t, s, alice, "fork", nil)
	if err := inherit(t.Context(), s, alice, "fork", "source", map[string]int64{"a": math.MaxInt64}); err != nil {
		t.Fatal(err)
	}
	_, err := s.Artifacts.PutArtifact(t.Context(), artifact.Put{SessionID: "fork", UserID: alice, Name: "a", Body: []byte(randomText(t, 9000))})
	if !errors.Is(err, fault.Of(fault.Invalid)) {
		t.Errorf("got %v, want it refused", err)
	}
	if _, err := restoreVersion(t.Context(), s, "fork", "a", -1); !errors.Is(err, fault.Of(fault.Invalid)) {
		t.Errorf("restore: got %v, want it refused", err)
	}
	if keys, err := partition(t.Context(), s, alice, "fork"); err != nil || len(keys) > 0 {
		t.Errorf("left behind: %v, %v", keys, err)
	}
}
