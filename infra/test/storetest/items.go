package storetest

import (
	"context"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/memory"
)

// Failer is a test, or rapid's equivalent.
type Failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Items returns all items of a table that Engine or DynamoDB made.
func Items(tb Failer, of table.Engine) []table.Item {
	tb.Helper()
	switch of := of.(type) {
	case *memory.Engine:
		return of.Items()
	case *local:
		return of.items(tb)
	}
	tb.Fatalf("%T cannot be scanned: pass the engine that Engine returned", of)
	return nil
}

// RunItem returns the run that the item of an active run names, "" if there is none; a
// table of one session has at most one.
func RunItem(tb Failer, of table.Engine) string {
	tb.Helper()
	id := ""
	for _, item := range Items(tb, of) {
		if table.Text(item, table.SK) == "RUN" {
			id += table.Text(item, "id")
		}
	}
	return id
}

func (l *local) items(tb Failer) []table.Item {
	tb.Helper()
	consistent := true
	pages := dynamodb.NewScanPaginator(l.client, &dynamodb.ScanInput{TableName: &l.name, ConsistentRead: &consistent})
	var all []table.Item
	for pages.HasMorePages() {
		page, err := pages.NextPage(context.Background())
		if err != nil {
			tb.Fatalf("scan the table: %v", err)
		}
		all = append(all, page.Items...)
	}
	return all
}

// Partition returns the items of a partition whose sort keys begin with a prefix,
// in the order of the sort keys.
func Partition(tb testing.TB, of table.Engine, pk, prefix string) []table.Item {
	tb.Helper()
	q := table.Query{Partition: pk, Reading: table.Reading{Consistent: true}}
	if prefix != "" {
		q.From, q.To = prefix, prefix+"\U0010ffff"
	}
	var all []table.Item
	for {
		page, err := of.Query(tb.Context(), q)
		if err != nil {
			tb.Fatalf("query %s: %v", pk, err)
		}
		all = append(all, page.Items...)
		if q.After = page.Next; q.After == nil {
			return all
		}
	}
}

// Item returns the item with a key, nil if there is none.
func Item(tb testing.TB, of table.Engine, k table.Key) table.Item {
	tb.Helper()
	item, _, err := of.Get(tb.Context(), k, table.Reading{Consistent: true})
	if err != nil {
		tb.Fatalf("get %s %s: %v", k.PK, k.SK, err)
	}
	return item
}

// Put stores an item, replacing an existing one.
func Put(tb testing.TB, of table.Engine, item table.Item) {
	tb.Helper()
	write(tb, of, table.Put(item))
}

// Spoil changes members of an item to other values of any type. It makes the item
// if it does not exist.
func Spoil(tb testing.TB, of table.Engine, k table.Key, changes ...table.Change) {
	tb.Helper()
	write(tb, of, table.Update(k, changes))
}

func write(tb testing.TB, of table.Engine, w table.Write) {
	tb.Helper()
	if _, err := of.Write(context.Background(), w); err != nil {
		tb.Fatalf("write %s %s: %v", w.Key.PK, w.Key.SK, err)
	}
}

// Text returns a string member of an item; the test fails if there is none.
func Text(tb testing.TB, item table.Item, member string) string {
	tb.Helper()
	s, ok := item[member].(*types.AttributeValueMemberS)
	if !ok {
		tb.Fatalf("the member %s of %v is not a string", member, item)
		return ""
	}
	return s.Value
}

// S returns a string as an attribute value.
func S(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
