package upgrade_test

import (
	"slices"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/store/table"
)

// load makes a table with these items.
func load(t testing.TB, items []item) table.Engine {
	t.Helper()
	engine := storetest.Engine(t)
	for part := range slices.Chunk(items, 25) {
		writes := make([]table.Write, len(part))
		for i, one := range part {
			writes[i] = table.Put(attributes(one))
		}
		if _, err := engine.BatchWrite(t.Context(), writes); err != nil {
			t.Fatal(err)
		}
	}
	return engine
}

// stored are the keys of the table's items.
func (s *system) stored(t testing.TB) (keys []table.Key) {
	t.Helper()
	for _, one := range storetest.Items(t, s.table) {
		k, err := table.KeyOf(one)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, k)
	}
	return keys
}

// attributes converts an item to the engines' representation.
func attributes(in map[string]events.DynamoDBAttributeValue) table.Item {
	out := make(table.Item, len(in))
	for name, value := range in {
		out[name] = attribute(value)
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
	default: // NULL is the only type left
		return &types.AttributeValueMemberNULL{Value: true}
	}
}
