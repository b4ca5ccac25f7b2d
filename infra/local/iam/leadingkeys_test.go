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

// operations returns a call of each operation that names partitions, for the given
// partitions.
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

// addSingle adds the operations on a single partition.
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

// tableStatement is a statement about the whole table, with a condition.
func tableStatement(deny bool, condition samtemplate.Condition) samtemplate.Permission {
	return samtemplate.Permission{
		Deny: deny, Actions: []string{"dynamodb:*"}, Resources: []string{table},
		Conditions: []samtemplate.Condition{condition},
	}
}

// TestLeadingKeys checks conditions on leading keys with every operation that
// names partitions.
func TestLeadingKeys(t *testing.T) {
	all := allow(table, "dynamodb:*")
	guard := append(all, tableStatement(true, samtemplate.Condition{Any: true, Values: []string{"SIGN"}}))
	only := []samtemplate.Permission{tableStatement(false, samtemplate.Condition{Values: []string{"SIGN", "N?"}})}
	like := []samtemplate.Permission{tableStatement(false, samtemplate.Condition{Like: true, Values: []string{"N#*", "A?"}})}
	anyOf := []samtemplate.Permission{tableStatement(false, samtemplate.Condition{Any: true, Like: true, Values: []string{"N#*"}})}
	for _, test := range []struct {
		name        string
		permissions []samtemplate.Permission
		partitions  []string
		reason      string // of the denial, or ""
	}{
		{"denies a denied partition", guard, []string{"SIGN"}, "with an explicit deny"},
		{"denies a denied partition among others", guard, []string{"a", "SIGN"}, "with an explicit deny"},
		{"allows similar partitions", guard, []string{"SIGNS", "sign"}, ""},
		{"allows another partition", guard, []string{"a"}, ""},
		{"allows an allowed partition", only, []string{"SIGN"}, ""},
		{"allows several allowed partitions", only, []string{"SIGN", "N?"}, ""},
		{"denies a partition that is not allowed", only, []string{"SIGN2"}, "because no identity-based policy"},
		{"denies partitions of which one is not allowed", only, []string{"SIGN", "N1"}, "because no identity-based policy"},
		{"patterns", like, []string{"N#1", "Ab"}, ""},
		{"matches a pattern across lines", like, []string{"N#1\n2"}, ""},
		{"denies a partition that does not match the pattern", like, []string{"A"}, "because no identity-based policy"},
		{"allows any-of with one match", anyOf, []string{"x", "N#1"}, ""},
		{"denies any-of without a match", anyOf, []string{"x", "y"}, "because no identity-based policy"},
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
	t.Run("an index has its own leading key", func(t *testing.T) {
		c := newClients(t, function, guard)
		c.mustBeDenied(c.query("activity"), "dynamodb:Query on resource: "+table+"/index/activity")
	})
	t.Run("a Deny with a condition does not apply without keys", func(t *testing.T) {
		c := newClients(t, function, guard)
		if _, err := c.table.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("Table")}); err != nil {
			t.Error(err)
		}
	})
	t.Run("an Allow with an all-of condition applies without keys", func(t *testing.T) {
		c := newClients(t, function, []samtemplate.Permission{tableStatement(false, samtemplate.Condition{Values: []string{"SIGN"}})})
		if _, err := c.table.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("Table")}); err != nil {
			t.Error(err)
		}
	})
	t.Run("all conditions must be met", func(t *testing.T) {
		both := tableStatement(false, samtemplate.Condition{Like: true, Values: []string{"x*"}})
		both.Conditions = append(both.Conditions, samtemplate.Condition{Any: true, Values: []string{"y"}})
		c := newClients(t, function, []samtemplate.Permission{both})
		c.mustBeDenied(c.query(""), "dynamodb:Query")
	})
	for name, in := range map[string]*dynamodb.QueryInput{
		"a query with an unknown partition": {KeyConditionExpression: aws.String("begins_with(PK, :v)")},
		"a query without the value":         {KeyConditionExpression: aws.String("PK = :w")},
		"a query of an unknown index":       {KeyConditionExpression: aws.String("PK = :v"), IndexName: aws.String("other")},
		"a query of another attribute":      {KeyConditionExpression: aws.String("APK = :v")},
	} {
		t.Run(name+" is denied", func(t *testing.T) {
			c := newClients(t, function, allow(table+"*", "dynamodb:*"))
			in.TableName, in.ExpressionAttributeValues = aws.String("Table"), attributes{":v": text("x")}
			_, err := c.table.Query(t.Context(), in)
			c.mustBeDenied(err, "dynamodb:Query on resource: *")
		})
	}
}
