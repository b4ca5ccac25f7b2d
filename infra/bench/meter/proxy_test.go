package meter_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/bench/meter"
	"github.com/rethread/rethread/infra/local/iam"
	local "github.com/rethread/rethread/infra/local/table"
	"github.com/rethread/rethread/infra/test/dynamotest"
	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/dynamo"
	"github.com/rethread/rethread/shared/store/table/memory"
)

// metered is a table behind a meter, and the same table in memory.
type metered struct {
	*testing.T
	proxy  *meter.Proxy
	client *dynamodb.Client
	table  string
	dynamo table.Engine
	memory table.Engine
}

func newMetered(t *testing.T) *metered {
	t.Helper()
	name := dynamotest.Table(t)
	p, err := meter.Start(t.Context(), dynamotest.Endpoint(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	options := local.NewClient(p.URL, "any").Options()
	options.Credentials = dynamotest.Credentials(t)
	client := dynamodb.New(options)
	return &metered{t, p, client, name, dynamo.New(client, name, store.Schema()), memory.New(store.Schema())}
}

// cost returns the units of what work sends.
func (m *metered) cost(work func()) meter.Usage {
	m.Helper()
	before := m.proxy.Counts()
	work()
	return m.proxy.Counts().Sub(before).Total()
}

func key(name string) table.Key { return table.NewKey("p", name) }

func text(n int) types.AttributeValue {
	return &types.AttributeValueMemberS{Value: strings.Repeat("x", n)}
}

func sized(name string, kilobytes int) table.Item {
	item := key(name).Item()
	item["x"] = text(kilobytes<<10 - 16)
	return item
}

func indexed(name, at string, kilobytes int) table.Item {
	item := sized(name, kilobytes)
	item["GPK"], item["GSK"] = text(1), &types.AttributeValueMemberS{Value: at}
	return item
}

// TestUnits holds the meter to the prices of AWS, in cases where DynamoDB Local
// reports others and in those where it reports the same.
func TestUnits(t *testing.T) {
	m := newMetered(t)
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	write := func(w table.Write) func() { return func() { must(m.dynamo.Write(t.Context(), w)) } }
	refused := func(w table.Write) func() {
		return func() {
			if _, err := m.dynamo.Write(t.Context(), w); !errors.Is(err, table.ErrConditionFailed) {
				t.Fatal(err)
			}
		}
	}
	transact := func(token string, writes ...table.Write) func() {
		return func() { must(m.dynamo.Transact(t.Context(), table.Transaction{Token: token, Writes: writes})) }
	}
	get := func(name string, consistent bool) func() {
		return func() { must2(t)(m.dynamo.Get(t.Context(), key(name), table.Reading{Consistent: consistent})) }
	}
	set := []table.Change{table.Set(table.Path{"y"}, "1")}
	cases := []struct {
		name string
		work func()
		want meter.Usage
	}{
		{"a put costs a unit for each KB", write(table.Put(sized("a", 3))), meter.Usage{Requests: 1, Writes: 3}},
		{"a smaller put costs the larger item", write(table.Put(sized("a", 1))), meter.Usage{Requests: 1, Writes: 3}},
		{"a put into an index costs what the index has of it, too", write(table.Put(indexed("i", "1", 2))), meter.Usage{Requests: 1, Writes: 3}},
		{"a refused put costs the stored item", refused(table.Put(key("i").Item(), table.ItemNotExists())), meter.Usage{Requests: 1, Writes: 2}},
		{"a refused put of a large item costs that", refused(table.Put(sized("a", 5), table.ItemNotExists())), meter.Usage{Requests: 1, Writes: 5}},
		{"a transaction costs double", transact("", table.Put(sized("b", 2)), table.Put(sized("c", 2)), table.Check(key("d"), table.ItemNotExists())), meter.Usage{Requests: 1, Writes: 10}},
		{"a transaction that updates a large item costs it twice", transact("", table.Update(key("b"), set)), meter.Usage{Requests: 1, Writes: 4}},
		{"a transaction that moves an item in an index costs the index twice", transact("", table.Update(key("i"), []table.Change{table.Set(table.Path{"GSK"}, "2")})), meter.Usage{Requests: 1, Writes: 8}},
		{"a transaction under a token costs the same", transact("once", table.Put(sized("e", 5))), meter.Usage{Requests: 1, Writes: 10}},
		{"its repeat costs reading its items", transact("once", table.Put(sized("e", 5))), meter.Usage{Requests: 1, Reads: 4}},
		{"a cancelled transaction costs its writes", func() {
			_, err := m.dynamo.Transact(t.Context(), table.Transaction{Writes: []table.Write{table.Put(sized("f", 2)), table.Check(key("e"), table.ItemNotExists())}})
			if !errors.Is(err, table.ErrConditionFailed) {
				t.Fatal(err)
			}
		}, meter.Usage{Requests: 1, Writes: 14}},
		{"a consistent read costs a unit for each 4 KB", get("e", true), meter.Usage{Requests: 1, Reads: 2}},
		{"an eventually consistent read costs half", get("e", false), meter.Usage{Requests: 1, Reads: 1}},
		{"reading a missing item costs the least", get("none", true), meter.Usage{Requests: 1, Reads: 1}},
		{"an empty page costs the least", func() {
			must(m.dynamo.Query(t.Context(), table.Query{Partition: "none"}))
		}, meter.Usage{Requests: 1, Reads: 0.5}},
		{"a page costs its size", func() {
			must(m.dynamo.Query(t.Context(), table.Query{Partition: "p", Reading: table.Reading{Consistent: true}}))
		}, meter.Usage{Requests: 1, Reads: 3}},
		{"a batch of reads costs each item, and the missing ones", func() {
			must2(t)(m.dynamo.BatchGet(t.Context(), []table.Key{key("e"), key("a"), key("none"), key("nothing")}, table.Reading{Consistent: true, Members: []string{"SK"}}))
		}, meter.Usage{Requests: 1, Reads: 5}},
		{"a transaction of reads costs double", func() {
			var gets []types.TransactGetItem
			for _, name := range []string{"e", "none"} {
				gets = append(gets, types.TransactGetItem{Get: &types.Get{TableName: &m.table, Key: key(name).Item()}})
			}
			must(m.client.TransactGetItems(t.Context(), &dynamodb.TransactGetItemsInput{TransactItems: gets}))
		}, meter.Usage{Requests: 1, Reads: 6}},
		{"a scan costs its size", func() {
			must(m.client.Scan(t.Context(), &dynamodb.ScanInput{TableName: &m.table, ConsistentRead: aws.Bool(true)}))
		}, meter.Usage{Requests: 1, Reads: 3}},
		{"a batch of writes costs each item", func() {
			must(m.dynamo.BatchWrite(t.Context(), []table.Write{table.Put(sized("g", 2)), table.Delete(key("e"))}))
		}, meter.Usage{Requests: 1, Writes: 7}},
		{"a request that is not valid is free", func() {
			_, err := m.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &m.table, Item: table.Item{"PK": text(1)}})
			if err == nil {
				t.Fatal("an item without a key was stored")
			}
		}, meter.Usage{Requests: 1}},
		{"a client that does not ask for its units is measured", func() {
			must(m.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &m.table, Item: sized("h", 3)}))
		}, meter.Usage{Requests: 1, Writes: 3}},
		{"describing the table is free", func() {
			must(m.client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &m.table}))
		}, meter.Usage{}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, m.cost(c.work)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
	t.Logf("%d cases", len(cases))
}

func must2(t *testing.T) func(any, table.Units, error) {
	t.Helper()
	return func(_ any, _ table.Units, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestUnitsOfTransactions compares the meter with the memory engine, which charges what
// AWS does, in transactions of all kinds of writes.
func TestUnitsOfTransactions(t *testing.T) {
	t.Parallel()
	const cases = 200
	m, random, tried := newMetered(t), property.Rand(t, 1), 0
	for n := range cases {
		var writes []table.Write
		for i := range 1 + random.IntN(4) {
			name := fmt.Sprint(i, random.IntN(3))
			switch random.IntN(5) {
			case 0:
				writes = append(writes, table.Put(sized(name, 1+random.IntN(4))))
			case 1:
				writes = append(writes, table.Put(indexed(name, fmt.Sprint(random.IntN(3)), 1+random.IntN(4))))
			case 2:
				writes = append(writes, table.Update(key(name), []table.Change{table.Set(table.Path{"name"}, fmt.Sprint(random.IntN(3)))}))
			case 3:
				writes = append(writes, table.Check(key(name), table.NotExists(table.Path{"none"})))
			default:
				writes = append(writes, table.Delete(key(name)))
			}
		}
		want, err := m.memory.Transact(t.Context(), table.Transaction{Writes: writes})
		if err != nil {
			t.Fatal(err)
		}
		got := m.cost(func() {
			if _, err := m.dynamo.Transact(t.Context(), table.Transaction{Writes: writes}); err != nil {
				t.Fatal(err)
			}
		})
		if got.Writes != want.Write {
			t.Fatalf("transaction %d costs %v, want %v", n, got.Writes, want.Write)
		}
		tried++
	}
	t.Logf("%d transactions, %s=%d", tried, property.Variable, property.Seed(t))
	if tried < cases {
		t.Errorf("only %d transactions", tried)
	}
}

// TestFunctions counts calls by the function that made them.
func TestFunctions(t *testing.T) {
	t.Parallel()
	m := newMetered(t)
	call := func(function string) {
		t.Helper()
		body := fmt.Sprintf(`{"TableName":%q,"Key":{"PK":{"S":"a"},"SK":{"S":"b"}}}`, m.table)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, m.proxy.URL, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		credentials, err := dynamotest.Credentials(t).Retrieve(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Amz-Target", "DynamoDB_20120810.GetItem")
		r.Header.Set("Content-Type", "application/x-amz-json-1.0")
		r.Header.Set("Authorization", fmt.Sprintf("AWS4-HMAC-SHA256 Credential=%s/20260101/%s/dynamodb/aws4_request, SignedHeaders=host, Signature=00",
			credentials.AccessKeyID, dynamotest.Region))
		r.Header.Set("X-Amz-Date", "20260101T000000Z")
		r.Header.Set(iam.FunctionHeader, function)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close() //nolint:errcheck // not read
		if res.StatusCode != http.StatusOK {
			t.Fatal(res.Status)
		}
	}
	for _, function := range []string{"events", "fanout", "events", "events"} {
		call(function)
	}
	want := meter.Counts{
		{Function: "events", Operation: "GetItem"}: {Requests: 3, Reads: 1.5},
		{Function: "fanout", Operation: "GetItem"}: {Requests: 1, Reads: 0.5},
	}
	if diff := cmp.Diff(want, m.proxy.Counts()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
