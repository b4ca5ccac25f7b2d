package sessions_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/infra/test/dynamotest"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/observe/metrics"
	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table/dynamo"
)

// mustAside are the keys of what was set aside of a lane.
func mustAside(t *testing.T, client *dynamodb.Client, table, group string) []string {
	t.Helper()
	out, err := client.Query(t.Context(), &dynamodb.QueryInput{
		TableName: &table, KeyConditionExpression: aws.String("PK = :l AND begins_with(SK, :a)"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":l": text("DL#" + group), ":a": text("ASIDE#")},
	})
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, item := range out.Items {
		keys = append(keys, item["SK"].(*types.AttributeValueMemberS).Value)
	}
	return keys
}

// A lane whose item cannot be read, however it is spoilt, keeps nothing waiting: the
// item is counted and set aside, what waits is delivered, in order, and with it what
// comes, whoever meets it first.
func TestLanes_that_cannot_be_read(t *testing.T) {
	t.Parallel()
	client, table := dynamotest.Client(t), dynamotest.Table(t)
	s := sessions.New(dynamo.New(client, table, store.Schema()))
	for name, test := range map[string]struct {
		attribute string
		value     types.AttributeValue
		turnFirst bool
	}{
		"its version":                {"v", text("one"), false},
		"its count of turns":         {"n", text("many"), false},
		"the count, met by a turn":   {"n", text("many"), true},
		"when it is due":             {"du", text("soon"), false},
		"its lease, met by a turn":   {"le", text("long"), true},
		"how often it has failed":    {"f", text("often"), false},
		"a count that is no integer": {"f", &types.AttributeValueMemberN{Value: "1e30"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target := delivery.Target{Kind: "test", Name: name}
			group := target.Group()
			mustFill(t, s, target, 20)
			spoil(t, client, table, "DL#"+group, "LANE", test.attribute, test.value)
			desk := newTurns(s, target)
			var heard []string
			desk.hear = func(d delivery.Delivery) { heard = append(heard, d.Event.ID) }
			if test.turnFirst {
				desk.wakes = []delivery.Wake{{Kind: target.Kind, Group: group, Turn: 2}}
			}
			ctx, recorder := metrics.With(t.Context())
			if !test.turnFirst {
				desk.mustTakeLate(ctx, t, target)
			}
			for i := 0; i < len(desk.wakes); i++ {
				if err := desk.desk.Turn(ctx, desk.wakes[i]); err != nil {
					t.Fatal(err)
				}
			}
			want := 20
			if !test.turnFirst {
				want++
			}
			if len(heard) != want || heard[0] != "e0" || heard[19] != "e19" {
				t.Errorf("heard %v, want %d", heard, want)
			}
			if n := recorder.Values()[metrics.ItemsSkipped]; len(n) != 1 {
				t.Errorf("counted are %v", n)
			}
			aside := mustAside(t, client, table, group)
			if len(aside) != 1 || !strings.HasPrefix(aside[0], "ASIDE#LANE#") {
				t.Errorf("aside are %v", aside)
			}
			if left := leftOfLane(t, client, table, group); left != 1 {
				t.Errorf("%d items are left", left)
			}
		})
	}
}
