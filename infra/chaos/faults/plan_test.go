package faults_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/chaos/faults"
)

func TestPlan(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_000_000)
	t.Run("a seed determines the plan", func(t *testing.T) {
		draws := func(seed uint64) (kinds []faults.Kind) {
			p := faults.New(seed, time.Minute)
			p.Begin(now)
			for i := range 500 {
				kind, _ := p.Pick("TransactWriteItems", now.Add(time.Duration(i)*100*time.Millisecond))
				kinds = append(kinds, kind)
			}
			return kinds
		}
		if d := cmp.Diff(draws(7), draws(7)); d != "" {
			t.Error(d)
		}
		if cmp.Equal(draws(7), draws(8)) {
			t.Error("two seeds draw the same plan")
		}
	})
	t.Run("draws all kinds, and none outside of the plan", func(t *testing.T) {
		seen, none := map[faults.Kind]int{}, 0
		for seed := range uint64(20) {
			p := faults.New(seed, time.Minute)
			var lasts time.Duration
			for _, phase := range p.Phases {
				lasts += phase.Lasts
			}
			if lasts != time.Minute {
				t.Errorf("seed %d lasts %s", seed, lasts)
			}
			for _, operation := range []string{"PutItem", "BatchWriteItem", "GetRecords"} {
				if kind, _ := p.Pick(operation, now); kind != faults.None {
					t.Errorf("%s before the start", kind)
				}
				p.Begin(now)
				for i := range 600 {
					kind, _ := p.Pick(operation, now.Add(time.Duration(i)*100*time.Millisecond))
					seen[kind]++
				}
				if kind, _ := p.Pick(operation, now.Add(time.Minute)); kind != faults.None {
					t.Errorf("%s after the end", kind)
				}
				p.End()
				none++
			}
		}
		for _, kind := range faults.Kinds() {
			if seen[kind] < 20 {
				t.Errorf("%s occurred %d times", kind, seen[kind])
			}
		}
		if seen[faults.None] < 10_000 || none < 60 {
			t.Errorf("no fault occurred %d times in %d plans", seen[faults.None], none)
		}
	})
}
