package deliveries_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/observe/metrics"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
)

// mustQuarantined returns the keys of the quarantined items of a lane.
func mustQuarantined(t *testing.T, engine table.Engine, group string) []string {
	t.Helper()
	var keys []string
	for _, item := range storetest.Partition(t, engine, "DL#"+group, "ASIDE#") {
		keys = append(keys, storetest.Text(t, item, table.SK))
	}
	return keys
}

// An unreadable item of a lane delays nothing: it is counted and quarantined, and the
// parked deliveries are delivered in order, with later ones, whoever reads it first.
func TestLanes_that_cannot_be_read(t *testing.T) {
	t.Parallel()
	engine := storetest.Engine(t)
	s := stores.New(engine)
	for name, test := range map[string]struct {
		attribute string
		value     any
		turnFirst bool
	}{
		"its version":                     {"v", "one", false},
		"its number of passes":            {"n", "many", false},
		"the number, read by a pass":      {"n", "many", true},
		"when it is due":                  {"du", "soon", false},
		"its lease, read by a pass":       {"le", "long", true},
		"its number of failures":          {"f", "often", false},
		"a number that is not an integer": {"f", &types.AttributeValueMemberN{Value: "1e30"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target := delivery.Target{Kind: "test", Name: name}
			group := target.Group()
			mustFill(t, s, target, 20)
			storetest.Spoil(t, engine, table.NewKey("DL#"+group, "LANE"), table.Set(table.Path{test.attribute}, test.value))
			desk := newTurns(s, target)
			var heard []string
			desk.hear = func(d delivery.Delivery) { heard = append(heard, d.Event.ID) }
			if test.turnFirst {
				desk.wakes = []delivery.Wake{{Kind: target.Kind, Group: group, Pass: 2}}
			}
			ctx, recorder := metrics.With(t.Context())
			if !test.turnFirst {
				desk.mustTakeLate(ctx, t, target)
			}
			for i := 0; i < len(desk.wakes); i++ {
				if err := desk.desk.RunPass(ctx, desk.wakes[i]); err != nil {
					t.Fatal(err)
				}
			}
			want := 20
			if !test.turnFirst {
				want++
			}
			if len(heard) != want || heard[0] != "e0" || heard[19] != "e19" {
				t.Errorf("delivered %v, want %d", heard, want)
			}
			if n := recorder.Values()[metrics.ItemsSkipped]; len(n) != 1 {
				t.Errorf("counted %v", n)
			}
			aside := mustQuarantined(t, engine, group)
			if len(aside) != 1 || !strings.HasPrefix(aside[0], "ASIDE#LANE#") {
				t.Errorf("quarantined: %v", aside)
			}
			if left := leftOfLane(t, engine, group); left != 1 {
				t.Errorf("%d items are left", left)
			}
		})
	}
}
