package dynamotest_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/test/dynamotest"
	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/store/table"
)

func TestTable(t *testing.T) {
	client := dynamotest.Client(t)
	var name string
	t.Run("is as the template defines it", func(t *testing.T) {
		name = dynamotest.Streamed(t)
		description := mustDescribe(t, client, name)
		if got := description.StreamSpecification.StreamViewType; got != types.StreamViewTypeNewAndOldImages {
			t.Errorf("stream view is %s", got)
		}
		if got := len(description.GlobalSecondaryIndexes); got != 1 {
			t.Fatalf("%d indexes, want 1", got)
		}
		index := description.GlobalSecondaryIndexes[0]
		if diff := cmp.Diff([]string{"name", "agent", "app", "status"}, index.Projection.NonKeyAttributes); diff != "" {
			t.Errorf("index projection (-want +got):\n%s", diff)
		}
		ttl, err := client.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: &name})
		if err != nil {
			t.Fatal(err)
		}
		if got := *ttl.TimeToLiveDescription.AttributeName; got != "expires" {
			t.Errorf("expiry attribute is %s", got)
		}
	})
	t.Run("has a stream only if the test asks for one", func(t *testing.T) {
		if got := mustDescribe(t, client, dynamotest.Table(t)).StreamSpecification; got != nil {
			t.Errorf("stream is %+v", got)
		}
	})
	t.Run("is dropped after its test", func(t *testing.T) {
		_, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &name})
		if err == nil {
			t.Fatal("the table still exists")
		}
	})
	t.Run("each test has its own table", func(t *testing.T) {
		if a, b := dynamotest.Table(t), dynamotest.Table(t); a == b {
			t.Fatalf("both are %s", a)
		}
	})
}

// Stores with the same seed, over tables of their own, use the same tokens.
func TestTokens(t *testing.T) {
	t.Setenv(storetest.Variable, "dynamodb")
	same := table.Transaction{Token: "token", Writes: []table.Write{
		table.Put(table.Item{"PK": &types.AttributeValueMemberS{Value: "a"}, "SK": &types.AttributeValueMemberS{Value: "b"}}, table.ItemNotExists()),
	}}
	for i := range 2 {
		engine := storetest.Engine(t)
		for range 2 { // the second is a repetition
			if _, err := engine.Transact(t.Context(), same); err != nil {
				t.Fatalf("table %d: %v", i, err)
			}
		}
	}
}

func mustDescribe(t *testing.T, client *dynamodb.Client, name string) *types.TableDescription {
	t.Helper()
	out, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &name})
	if err != nil {
		t.Fatal(err)
	}
	return out.Table
}
