package meter

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	local "github.com/rethread/rethread/infra/local/table"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/value"
)

// database is one of the databases of DynamoDB Local, which may have one for each
// access key and region.
type database struct{ key, region string }

// databaseOf returns the database that a request's signature names.
func databaseOf(r *http.Request) database {
	_, credential, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	parts := strings.Split(credential, "/") // key/date/region/service/aws4_request
	if len(parts) < 3 {
		return database{}
	}
	return database{parts[0], parts[2]}
}

// stored reads items from the engine, past the proxy.
type stored struct {
	endpoint string

	mu      sync.Mutex
	clients map[database]*dynamodb.Client
	tables  map[string]description // by database and name
}

func (s *stored) client(d database) *dynamodb.Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clients == nil {
		s.clients = map[database]*dynamodb.Client{}
	}
	if s.clients[d] == nil {
		options := local.NewClient(s.endpoint, d.key).Options()
		options.Region = d.region
		s.clients[d] = dynamodb.New(options)
	}
	return s.clients[d]
}

// read returns the item of each write, nil for those that do not exist.
func (s *stored) read(ctx context.Context, d database, writes []write) ([]table.Item, error) {
	out := make([]table.Item, len(writes))
	for i, w := range writes {
		described, err := s.describe(ctx, d, w.TableName)
		if err != nil {
			return nil, err
		}
		raw := w.Key
		if len(raw) == 0 {
			raw = w.Item
		}
		whole, err := item(raw)
		if err != nil {
			return nil, err
		}
		key := table.Item{}
		for _, name := range described.keys {
			key[name] = whole[name]
		}
		got, err := s.client(d).GetItem(ctx, &dynamodb.GetItemInput{TableName: &w.TableName, Key: key, ConsistentRead: aws.Bool(true)})
		if err != nil {
			return nil, fmt.Errorf("read the item of a write: %w", err)
		}
		out[i] = got.Item
	}
	return out, nil
}

// description is what decides about the cost of a write to a table.
type description struct {
	keys    []string
	indexes []index
}

// index is a secondary index; nil members means that it has all.
type index struct{ keys, members []string }

func (s *stored) describe(ctx context.Context, d database, name string) (description, error) {
	id := fmt.Sprint(d, name)
	s.mu.Lock()
	known, ok := s.tables[id]
	s.mu.Unlock()
	if ok {
		return known, nil
	}
	out, err := s.client(d).DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
	if err != nil {
		return description{}, fmt.Errorf("describe the table %s: %w", name, err)
	}
	described := description{keys: names(out.Table.KeySchema)}
	for _, i := range out.Table.GlobalSecondaryIndexes {
		described.indexes = append(described.indexes, newIndex(described.keys, i))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tables == nil {
		s.tables = map[string]description{}
	}
	s.tables[id] = described
	return described, nil
}

func newIndex(keys []string, of types.GlobalSecondaryIndexDescription) index {
	out := index{keys: names(of.KeySchema)}
	if of.Projection != nil && of.Projection.ProjectionType != types.ProjectionTypeAll {
		out.members = slices.Concat(keys, out.keys, of.Projection.NonKeyAttributes)
	}
	return out
}

func names(keys []types.KeySchemaElement) []string {
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = aws.ToString(k.AttributeName)
	}
	return out
}

// cost returns the units of a write outside a transaction: those of the larger of the
// old and the new item, and of each change of an index.
func (d description) cost(before, after table.Item) float64 {
	units := table.WriteUnits(max(value.Size(before), value.Size(after)))
	for _, i := range d.indexes {
		units += i.cost(i.entry(before), i.entry(after))
	}
	return units
}

func (i index) cost(before, after table.Item) float64 {
	switch {
	case value.EqualItems(before, after):
		return 0
	case before == nil || after == nil || i.samePlace(before, after):
		return table.WriteUnits(max(value.Size(before), value.Size(after)))
	}
	return table.WriteUnits(value.Size(before)) + table.WriteUnits(value.Size(after)) // it moves
}

// entry returns an item as the index has it, nil if the index does not have it.
func (i index) entry(of table.Item) table.Item {
	for _, key := range i.keys {
		if of[key] == nil {
			return nil
		}
	}
	if i.members == nil {
		return of
	}
	out := table.Item{}
	for _, name := range i.members {
		if v, ok := of[name]; ok {
			out[name] = v
		}
	}
	return out
}

func (i index) samePlace(a, b table.Item) bool {
	for _, key := range i.keys {
		if !value.EqualItems(table.Item{key: a[key]}, table.Item{key: b[key]}) {
			return false
		}
	}
	return true
}
