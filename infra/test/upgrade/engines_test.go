package upgrade_test

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/infra/test/dynamotest"
	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/dynamo"
	"github.com/rethread/rethread/shared/store/table/memory"
)

// engine makes empty tables.
type engine struct {
	name string
	open func(testing.TB) table.Engine
}

// engines are all engines that the store supports.
func engines() []engine {
	return []engine{
		{"DynamoDB Local", func(t testing.TB) table.Engine {
			t.Helper()
			return dynamo.New(dynamotest.Client(t), dynamotest.Table(t), store.Schema())
		}},
		{"memory", func(testing.TB) table.Engine { return memory.New(store.Schema()) }},
	}
}

// load makes a table with these items.
func (e engine) load(t testing.TB, items []item) *listed {
	t.Helper()
	l := &listed{Engine: e.open(t), written: map[table.Key]bool{}}
	for part := range slices.Chunk(items, 25) {
		writes := make([]table.Write, len(part))
		for i, one := range part {
			writes[i] = table.Put(attributes(one))
		}
		if _, err := l.BatchWrite(t.Context(), writes); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// listed is a table that records the keys of all items ever written.
type listed struct {
	table.Engine

	mu      sync.Mutex
	written map[table.Key]bool
}

func (l *listed) note(writes ...table.Write) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range writes {
		l.written[w.Key] = true
	}
}

// Write implements table.Engine, as do Transact and BatchWrite.
func (l *listed) Write(ctx context.Context, w table.Write) (table.Units, error) {
	l.note(w)
	return l.Engine.Write(ctx, w)
}

func (l *listed) Transact(ctx context.Context, t table.Transaction) (table.Units, error) {
	l.note(t.Writes...)
	return l.Engine.Transact(ctx, t)
}

func (l *listed) BatchWrite(ctx context.Context, writes []table.Write) (table.Units, error) {
	l.note(writes...)
	return l.Engine.BatchWrite(ctx, writes)
}

// keys are the keys of the existing items.
func (l *listed) keys(t testing.TB) (keys []table.Key) {
	t.Helper()
	l.mu.Lock()
	all := slices.Collect(maps.Keys(l.written))
	l.mu.Unlock()
	items, _, err := l.BatchGet(t.Context(), all, table.Reading{Consistent: true, Members: []string{table.PK, table.SK}})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range items {
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
