package upgrade_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/infra/test/dynamotest"
	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table/dynamo"
)

// engine is where a fixture is loaded to.
type engine struct {
	name string
	// load makes a table with these items, and a store over it.
	load func(testing.TB, []item, ...sessions.Option) loaded
}

// loaded is a table with a store over it.
type loaded struct {
	store *sessions.Store
}

// engines are all that the store runs on.
func engines() []engine {
	return []engine{{"DynamoDB Local", loadDynamoDB}}
}

func loadDynamoDB(t testing.TB, items []item, opts ...sessions.Option) loaded {
	t.Helper()
	client, name := dynamotest.Client(t), dynamotest.Table(t)
	for part := range slices.Chunk(items, 25) {
		writes := make([]types.WriteRequest, len(part))
		for i, one := range part {
			writes[i].PutRequest = &types.PutRequest{Item: attributes(one)}
		}
		for left := map[string][]types.WriteRequest{name: writes}; len(left) > 0; {
			out, err := client.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: left})
			if err != nil {
				t.Fatal(err)
			}
			left = out.UnprocessedItems
		}
	}
	return loaded{sessions.New(dynamo.New(client, name, store.Schema()), opts...)}
}

// attributes is an item as the SDK has it.
func attributes(in map[string]events.DynamoDBAttributeValue) map[string]types.AttributeValue {
	out := make(map[string]types.AttributeValue, len(in))
	for _, name := range slices.Sorted(maps.Keys(in)) {
		out[name] = attribute(in[name])
	}
	return out
}

func attribute(v events.DynamoDBAttributeValue) types.AttributeValue {
	switch v.DataType() {
	case events.DataTypeBinary:
		return &types.AttributeValueMemberB{Value: v.Binary()}
	case events.DataTypeBoolean:
		return &types.AttributeValueMemberBOOL{Value: v.Boolean()}
	case events.DataTypeBinarySet:
		return &types.AttributeValueMemberBS{Value: v.BinarySet()}
	case events.DataTypeList:
		list := make([]types.AttributeValue, len(v.List()))
		for i, one := range v.List() {
			list[i] = attribute(one)
		}
		return &types.AttributeValueMemberL{Value: list}
	case events.DataTypeMap:
		return &types.AttributeValueMemberM{Value: attributes(v.Map())}
	case events.DataTypeNumber:
		return &types.AttributeValueMemberN{Value: v.Number()}
	case events.DataTypeNumberSet:
		return &types.AttributeValueMemberNS{Value: v.NumberSet()}
	case events.DataTypeString:
		return &types.AttributeValueMemberS{Value: v.String()}
	case events.DataTypeStringSet:
		return &types.AttributeValueMemberSS{Value: v.StringSet()}
	default: // the only kind left is NULL
		return &types.AttributeValueMemberNULL{Value: true}
	}
}
