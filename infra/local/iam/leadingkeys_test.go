package iam_test

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/infra/local/samtemplate"
)

type attributes = map[string]types.AttributeValue

// operations are all requests that name partitions, made to name these.
func operations(c *clients, partitions ...string) map[string]func(context.Context) error {
	name := aws.String("Table")
	var keys []attributes
	var puts, deletes []types.WriteRequest
	var writes []types.TransactWriteItem
	var gets []types.TransactGetItem
	for _, p := range partitions {
		key := attributes{"PK": text(p), "SK": text("s")}
		keys = append(keys, key)
		puts = append(puts, types.WriteRequest{PutRequest: &types.PutRequest{Item: key}})
		deletes = append(deletes, types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: key}})
		gets = append(gets, types.TransactGetItem{Get: &types.Get{TableName: name, Key: key}})
		writes = append(writes,
			types.TransactWriteItem{Put: &types.Put{TableName: name, Item: key}},
			types.TransactWriteItem{Update: &types.Update{TableName: name, Key: key, UpdateExpression: aws.String("SET a = PK")}},
			types.TransactWriteItem{Delete: &types.Delete{TableName: name, Key: key}},
			types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{TableName: name, Key: key, ConditionExpression: name}},
		)
	}
	batch := func(requests []types.WriteRequest) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := c.table.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
				RequestItems: map[string][]types.WriteRequest{"Table": requests},
			})
			return err
		}
	}
	all := map[string]func(context.Context) error{
		"BatchGetItem": func(ctx context.Context) error {
			_, err := c.table.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
				RequestItems: map[string]types.KeysAndAttributes{"Table": {Keys: keys}},
			})
			return err
		},
		"BatchWriteItem puts":    batch(puts),
		"BatchWriteItem deletes": batch(deletes),
		"TransactGetItems": func(ctx context.Context) error {
			_, err := c.table.TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{TransactItems: gets})
			return err
		},
	}
	for operation, part := range map[string]int{"Put": 0, "Update": 1, "Delete": 2, "ConditionCheck": 3} {
		all["TransactWriteItems "+operation] = func(ctx context.Context) error {
			var items []types.TransactWriteItem
			for i := part; i < len(writes); i += 4 {
				items = append(items, writes[i])
			}
			_, err := c.table.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: items})
			return err
		}
	}
	if len(keys) == 1 {
		addSingle(all, c, keys[0])
	}
	return all
}

// addSingle adds the operations on one partition.
func addSingle(all map[string]func(context.Context) error, c *clients, key attributes) {
	name := aws.String("Table")
	all["GetItem"] = func(ctx context.Context) error {
		_, err := c.table.GetItem(ctx, &dynamodb.GetItemInput{TableName: name, Key: key})
		return err
	}
	all["PutItem"] = func(ctx context.Context) error {
		_, err := c.table.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(table), Item: key})
		return err
	}
	all["UpdateItem"] = func(ctx context.Context) error {
		_, err := c.table.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: name, Key: key})
		return err
	}
	all["DeleteItem"] = func(ctx context.Context) error {
		_, err := c.table.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: name, Key: key})
		return err
	}
	for expression, names := range map[string]map[string]string{
		"PK = :v":                        nil,
		"SK BETWEEN :o AND :o AND PK=:v": nil,
		"SK <= :o and (PK = :v)":         nil,
		"(#1 = :o) AND (#0 = :v)":        {"#0": "PK", "#1": "SK"},
	} {
		all["Query "+expression] = func(ctx context.Context) error {
			_, err := c.table.Query(ctx, &dynamodb.QueryInput{
				TableName: name, KeyConditionExpression: &expression, ExpressionAttributeNames: names,
				ExpressionAttributeValues: attributes{":v": key["PK"], ":o": text("other")},
			})
			return err
		}
	}
}

// on is a statement about all of the table, under a condition.
func on(deny bool, condition samtemplate.Condition) samtemplate.Permission {
	return samtemplate.Permission{
		Deny: deny, Actions: []string{"dynamodb:*"}, Resources: []string{table},
		Conditions: []samtemplate.Condition{condition},
	}
}

// TestLeadingKeys holds every operation that names partitions to conditions on
// them.
func TestLeadingKeys(t *testing.T) {
	all := allow(table, "dynamodb:*")
	guard := append(all, on(true, samtemplate.Condition{Any: true, Values: []string{"SIGN"}}))
	only := []samtemplate.Permission{on(false, samtemplate.Condition{Values: []string{"SIGN", "N?"}})}
	like := []samtemplate.Permission{on(false, samtemplate.Condition{Like: true, Values: []string{"N#*", "A?"}})}
	anyOf := []samtemplate.Permission{on(false, samtemplate.Condition{Any: true, Like: true, Values: []string{"N#*"}})}
	for _, test := range []struct {
		name        string
		permissions []samtemplate.Permission
		partitions  []string
		reason      string // of the denial, or empty
	}{
		{"a denied partition", guard, []string{"SIGN"}, "with an explicit deny"},
		{"a denied one among others", guard, []string{"a", "SIGN"}, "with an explicit deny"},
		{"others than the denied one", guard, []string{"SIGNS", "sign"}, ""},
		{"another than the denied one", guard, []string{"a"}, ""},
		{"a partition that is allowed", only, []string{"SIGN"}, ""},
		{"partitions that are all allowed", only, []string{"SIGN", "N?"}, ""},
		{"one that is not", only, []string{"SIGN2"}, "because no identity-based policy"},
		{"one of which is not", only, []string{"SIGN", "N1"}, "because no identity-based policy"},
		{"patterns", like, []string{"N#1", "Ab"}, ""},
		{"a pattern over lines", like, []string{"N#1\n2"}, ""},
		{"no such pattern", like, []string{"A"}, "because no identity-based policy"},
		{"one of which is enough", anyOf, []string{"x", "N#1"}, ""},
		{"none of which is one", anyOf, []string{"x", "y"}, "because no identity-based policy"},
	} {
		for operation := range operations(nil, test.partitions...) {
			t.Run(test.name+"/"+operation, func(t *testing.T) {
				c := newClients(t, function, test.permissions)
				err := operations(c, test.partitions...)[operation](t.Context())
				if test.reason == "" {
					if err != nil || c.reached != 1 {
						t.Errorf("%v; %d calls reached the service", err, c.reached)
					}
					return
				}
				c.mustBeDenied(err, "dynamodb:")
				if err == nil || !strings.Contains(err.Error(), test.reason) {
					t.Errorf("got %v, want %s", err, test.reason)
				}
			})
		}
	}
}

func TestLeadingKeysOfOthers(t *testing.T) {
	guard := append(allow("*", "dynamodb:*"), samtemplate.Permission{
		Deny: true, Actions: []string{"dynamodb:*"}, Resources: []string{"*"},
		Conditions: []samtemplate.Condition{{Any: true, Values: []string{"x"}}},
	})
	t.Run("an index leads by a key of its own", func(t *testing.T) {
		c := newClients(t, function, guard)
		c.mustBeDenied(c.query("activity"), "dynamodb:Query on resource: "+table+"/index/activity")
	})
	t.Run("where there are no keys, none is denied", func(t *testing.T) {
		c := newClients(t, function, guard)
		if _, err := c.table.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("Table")}); err != nil {
			t.Error(err)
		}
	})
	t.Run("and all are allowed", func(t *testing.T) {
		c := newClients(t, function, []samtemplate.Permission{on(false, samtemplate.Condition{Values: []string{"SIGN"}})})
		if _, err := c.table.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("Table")}); err != nil {
			t.Error(err)
		}
	})
	t.Run("all conditions must hold", func(t *testing.T) {
		both := on(false, samtemplate.Condition{Like: true, Values: []string{"x*"}})
		both.Conditions = append(both.Conditions, samtemplate.Condition{Any: true, Values: []string{"y"}})
		c := newClients(t, function, []samtemplate.Permission{both})
		c.mustBeDenied(c.query(""), "dynamodb:Query")
	})
	for name, in := range map[string]*dynamodb.QueryInput{
		"a query whose partition cannot be told": {KeyConditionExpression: aws.String("begins_with(PK, :v)")},
		"one without the value":                  {KeyConditionExpression: aws.String("PK = :w")},
		"one of an index that is not there":      {KeyConditionExpression: aws.String("PK = :v"), IndexName: aws.String("other")},
		"one of another attribute":               {KeyConditionExpression: aws.String("APK = :v")},
	} {
		t.Run(name+" is denied", func(t *testing.T) {
			c := newClients(t, function, allow(table+"*", "dynamodb:*"))
			in.TableName, in.ExpressionAttributeValues = aws.String("Table"), attributes{":v": text("x")}
			_, err := c.table.Query(t.Context(), in)
			c.mustBeDenied(err, "dynamodb:Query on resource: *")
		})
	}
}
