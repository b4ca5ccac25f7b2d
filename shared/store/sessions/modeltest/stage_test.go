package modeltest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/dynamotest"
	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table/dynamo"
)

// stage is a table that can be put back to what it held.
type stage struct {
	t      *testing.T
	client *dynamodb.Client
	table  string
	store  *stores.Store
	kept   []map[string]types.AttributeValue
}

func newStage(t *testing.T) *stage {
	t.Helper()
	client, table := dynamotest.Client(t), dynamotest.Table(t)
	return &stage{t: t, client: client, table: table, store: open(client, table)}
}

// open is a store that seals stretches as short as those of the tests.
func open(client *dynamodb.Client, table string) *stores.Store {
	return stores.New(dynamo.New(client, table, store.Schema()), sessions.WithSealing(sessions.Sealing{Bytes: 400, Page: 1}))
}

// stages are where the runs of cases play, each from the beginning of its case.
func stages(t *testing.T) func(crashCase) *stage {
	t.Helper()
	made := map[string]*stage{}
	return func(c crashCase) *stage {
		st := made[c.setup]
		if st == nil {
			st = newStage(t)
			c.setUp(&scene{t: t, store: st.store, world: newWorld()})
			st.keep()
			made[c.setup] = st
		}
		st.reset()
		return st
	}
}

// run tries something at one request of an operation.
type run func()

// requests makes a run for each request from a first one on; try is false
// where there are fewer.
func requests(first int, try func(at int) bool) []run {
	const most = 24
	end := most + 1
	var out []run
	for at := first; at <= most; at++ {
		out = append(out, func() {
			if at < end && !try(at) {
				end = at
			}
		})
	}
	return out
}

// spend does runs in a random order until all are done or the time is up: a
// failure names the run, which the next test may or may not repeat.
func spend(t *testing.T, limit time.Duration, runs []run) {
	t.Helper()
	deadline := time.Now().Add(limit)
	rand.Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] }) //nolint:gosec // a test
	for n, one := range runs {
		if t.Failed() || time.Now().After(deadline) {
			t.Logf("%d of %d runs", n, len(runs))
			return
		}
		one()
	}
	t.Logf("all %d runs", len(runs))
}

// keep notes what the table holds.
func (st *stage) keep() { st.kept = scanned(st.t.Context(), st.t, st.client, st.table) }

// reset puts the table back to what it held.
func (st *stage) reset() {
	st.t.Helper()
	there := map[string]map[string]types.AttributeValue{}
	for _, item := range scanned(st.t.Context(), st.t, st.client, st.table) {
		there[name(item)] = item
	}
	var writes []types.WriteRequest
	for _, item := range st.kept {
		if !reflect.DeepEqual(item, there[name(item)]) {
			writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: item}})
		}
		delete(there, name(item))
	}
	for _, item := range there {
		writes = append(writes, types.WriteRequest{DeleteRequest: &types.DeleteRequest{
			Key: map[string]types.AttributeValue{"PK": item["PK"], "SK": item["SK"]},
		}})
	}
	for part := range slices.Chunk(writes, 25) {
		out, err := st.client.BatchWriteItem(st.t.Context(), &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]types.WriteRequest{st.table: part},
		})
		if err != nil || len(out.UnprocessedItems) > 0 {
			st.t.Fatalf("reset the table: %v", err)
		}
	}
}

// agrees compares the store with models until one fits.
func (st *stage) agrees(possible ...*scene) string {
	st.t.Helper()
	var out strings.Builder
	for _, s := range possible {
		r := &reader{w: s.world, store: st.store}
		d := r.sessions(st.t.Context())
		if d == "" {
			return ""
		}
		fmt.Fprintln(&out, d)
	}
	return out.String()
}

// swept sweeps often enough, each time a while later, and lists the keys that
// are left, but those of shared state.
func swept(ctx context.Context, t rapid.TB, client *dynamodb.Client, table string) []string {
	t.Helper()
	for n := range 4 { // a log waits for those that were forked from it
		sweeper := stores.New(dynamo.New(client, table, store.Schema()), sessions.WithClock(func() time.Time {
			return time.Now().Add(time.Duration(n+2) * sessions.SweepGrace)
		}))
		if _, err := sweeper.Sweep(ctx); err != nil {
			t.Fatalf("sweep: %v", err)
		}
	}
	var left []string
	for _, item := range scanned(ctx, t, client, table) {
		pk := text(item["PK"])
		if !strings.HasPrefix(pk, "U#") && !strings.HasPrefix(pk, "A#") && !strings.HasPrefix(pk, "UP#") {
			left = append(left, name(item))
		}
	}
	return left
}

// scanned is everything in a table.
func scanned(
	ctx context.Context, t rapid.TB, client *dynamodb.Client, table string,
) []map[string]types.AttributeValue {
	t.Helper()
	var items []map[string]types.AttributeValue
	pages := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{TableName: &table})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			t.Fatalf("scan: %v", err)
		}
		items = append(items, page.Items...)
	}
	return items
}

func name(item map[string]types.AttributeValue) string {
	return text(item["PK"]) + " " + text(item["SK"])
}

func text(v types.AttributeValue) string {
	s, ok := v.(*types.AttributeValueMemberS)
	if !ok {
		return ""
	}
	return s.Value
}
