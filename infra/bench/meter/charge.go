package meter

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/value"
)

// charge is what one request to DynamoDB costs.
type charge struct {
	proxy     *Proxy
	operation string
	body      []byte // asks for the consumed units
	in        input
	database  database
	found     []table.Item // before a transaction, one for each of its writes
}

// input has the members of requests that decide about their cost.
type input struct {
	TableName          string
	ConsistentRead     bool
	Item, Key          json.RawMessage
	RequestItems       map[string]json.RawMessage
	TransactItems      []map[string]write
	ClientRequestToken string
}

// write is an action of a transaction.
type write struct {
	TableName string
	Item, Key json.RawMessage
}

func (p *Proxy) newCharge(r *http.Request, operation string, body []byte) (*charge, error) {
	c := &charge{proxy: p, operation: operation, database: databaseOf(r)}
	if err := json.Unmarshal(body, &c.in); err != nil {
		return nil, err
	}
	var whole map[string]json.RawMessage
	if err := json.Unmarshal(body, &whole); err != nil {
		return nil, err
	}
	if wish := string(whole["ReturnConsumedCapacity"]); wish == "" || wish == `"NONE"` {
		whole["ReturnConsumedCapacity"] = json.RawMessage(`"TOTAL"`)
	}
	var err error
	c.body, err = json.Marshal(whole)
	return c, err
}

// before reads the items that a transaction is about to write: their sizes are part
// of its cost.
func (c *charge) before(ctx context.Context) error {
	var err error
	if c.operation == "TransactWriteItems" {
		c.found, err = c.items(ctx)
	}
	return err
}

// usage returns the cost of the request, given its answer.
func (c *charge) usage(ctx context.Context, got answer) (Usage, error) {
	u := Usage{Requests: 1}
	var err error
	switch kind := got.errorKind(); {
	case kind == "TransactionCanceledException":
		u.Writes, err = c.cancelled(ctx)
	case kind == "ConditionalCheckFailedException":
		u.Writes, err = c.refused(ctx)
	case got.status != http.StatusOK: // refused before it was carried out: free
	case c.operation == "TransactWriteItems":
		u.Reads, u.Writes, err = c.transaction(ctx)
	case strings.HasPrefix(c.operation, "Batch"):
		u.Reads, u.Writes, err = c.batch(got)
	default:
		u.Reads, u.Writes, err = c.reported(got)
	}
	return u, err
}

type consumed struct{ CapacityUnits float64 }

// reported returns the units of an operation on one item or page.
func (c *charge) reported(got answer) (reads, writes float64, err error) {
	if c.operation == "TransactGetItems" {
		return c.sum(got)
	}
	var out struct{ ConsumedCapacity consumed }
	if err := json.Unmarshal(got.body, &out); err != nil {
		return 0, 0, err
	}
	switch c.operation {
	case "PutItem", "UpdateItem", "DeleteItem":
		return 0, out.ConsumedCapacity.CapacityUnits, nil
	}
	return max(out.ConsumedCapacity.CapacityUnits, table.ReadUnits(0, c.in.ConsistentRead)), 0, nil
}

func (c *charge) sum(got answer) (reads, writes float64, err error) {
	var out struct{ ConsumedCapacity []consumed }
	if err := json.Unmarshal(got.body, &out); err != nil {
		return 0, 0, err
	}
	sum := 0.0
	for _, one := range out.ConsumedCapacity {
		sum += one.CapacityUnits
	}
	if c.operation == "BatchWriteItem" {
		return 0, sum, nil
	}
	return sum, 0, nil
}

// batch returns the reported units, and those of missing items, which DynamoDB Local
// does not report.
func (c *charge) batch(got answer) (reads, writes float64, err error) {
	reads, writes, err = c.sum(got)
	if err != nil || c.operation == "BatchWriteItem" {
		return reads, writes, err
	}
	type keys struct {
		Keys           []json.RawMessage
		ConsistentRead bool
	}
	var out struct {
		Responses       map[string][]json.RawMessage
		UnprocessedKeys map[string]keys
	}
	if err := json.Unmarshal(got.body, &out); err != nil {
		return 0, 0, err
	}
	for name, raw := range c.in.RequestItems {
		var in keys
		if err := json.Unmarshal(raw, &in); err != nil {
			return 0, 0, err
		}
		missing := len(in.Keys) - len(out.Responses[name]) - len(out.UnprocessedKeys[name].Keys)
		reads += float64(missing) * table.ReadUnits(0, in.ConsistentRead)
	}
	return reads, 0, nil
}

// refused returns the units of a write whose condition did not hold.
func (c *charge) refused(ctx context.Context) (float64, error) {
	w := write{c.in.TableName, c.in.Item, c.in.Key}
	put, err := item(w.Item)
	if err != nil {
		return 0, err
	}
	found, err := c.proxy.stored.read(ctx, c.database, []write{w})
	if err != nil {
		return 0, err
	}
	return table.WriteUnits(max(value.Size(put), value.Size(found[0]))), nil
}

func item(raw json.RawMessage) (table.Item, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	out, err := attributevalue.UnmarshalMapJSON(raw)
	if err != nil {
		return nil, fmt.Errorf("read an item: %w", err)
	}
	return out, nil
}
