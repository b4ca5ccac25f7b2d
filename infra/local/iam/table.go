package iam

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/rethread/rethread/infra/local/samtemplate"
)

// tableRequest has the members of DynamoDB's requests that identify what they
// access.
type tableRequest struct {
	part

	RequestItems  map[string]batch  // by table
	TransactItems []map[string]part // by operation, without the suffix Item
}

// part is an operation on one table.
type part struct {
	TableName, IndexName string
	Key, Item            item
	query
}

// batch is what a batch reads from or writes to a table: an object with Keys, or a
// list.
type batch struct{ items []item }

// UnmarshalJSON implements json.Unmarshaler.
func (b *batch) UnmarshalJSON(raw []byte) error {
	if !strings.HasPrefix(string(raw), "[") {
		var read struct{ Keys []item }
		err := json.Unmarshal(raw, &read)
		b.items = read.Keys
		return err
	}
	var writes []struct{ PutRequest, DeleteRequest part }
	err := json.Unmarshal(raw, &writes)
	for _, w := range writes {
		b.items = append(b.items, w.PutRequest.Item, w.DeleteRequest.Key)
	}
	return err
}

// tableCalls handles DynamoDB. A transaction needs the permissions of its parts,
// and an index is a resource of its own.
func (g *Guard) tableCalls(operation string, body []byte) []call {
	var in tableRequest
	if json.Unmarshal(body, &in) != nil {
		return nil
	}
	var calls []call
	understood := true
	add := func(operation string, p part, items ...item) {
		c := call{action: dynamodb + ":" + operation, resource: g.table(p.TableName)}
		if p.IndexName != "" {
			c.resource += "/index/" + p.IndexName
		}
		attribute, ok := g.partitionKey(p.TableName, p.IndexName)
		if operation == "Query" && ok {
			ok = p.addPartition(&c, attribute)
		}
		understood = understood && ok
		for _, it := range items {
			c.addKey(it[attribute])
		}
		calls = merge(calls, c)
	}
	for table, b := range in.RequestItems {
		add(operation, part{TableName: table}, b.items...)
	}
	for _, parts := range in.TransactItems {
		for name, p := range parts {
			add(name+"Item", p, p.Key, p.Item)
		}
	}
	if in.TableName != "" {
		add(operation, in.part, in.Key, in.Item)
	}
	if !understood {
		return nil
	}
	return calls
}

// merge adds a call, or adds its keys to the same call: a condition covers all
// keys that a request accesses with an action.
func merge(calls []call, c call) []call {
	for i, known := range calls {
		if known.action == c.action && known.resource == c.resource {
			calls[i].keys = slices.Concat(known.keys, c.keys)
			return calls
		}
	}
	return append(calls, c)
}

// table returns the ARN of a table, given its name or ARN.
func (g *Guard) table(name string) string {
	if strings.HasPrefix(name, "arn:") {
		return name
	}
	return g.arn(dynamodb, "table/"+name)
}

// partitionKey is the attribute whose values are the leading keys of a table or
// index.
func (g *Guard) partitionKey(table, index string) (string, bool) {
	for _, t := range g.opts.Tables {
		if g.table(t.Name) != g.table(table) {
			continue
		}
		if index == "" {
			return partitionAttribute(t.Key)
		}
		for _, i := range t.Indexes {
			if i.Name == index {
				return partitionAttribute(i.Key)
			}
		}
	}
	return "", false
}

func partitionAttribute(key []samtemplate.KeyElement) (string, bool) {
	for _, e := range key {
		if e.Type == "HASH" {
			return e.Name, true
		}
	}
	return "", false
}
