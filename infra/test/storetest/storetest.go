// Package storetest gives tests of the store a table of their own, in the engine that
// the run of the tests names: all of them run on each.
package storetest

import (
	"os"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/rethread/rethread/infra/test/dynamotest"
	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/dynamo"
	"github.com/rethread/rethread/shared/store/table/memory"
)

// Variable names the environment variable that names the engine: memory, which is
// the default, or dynamodb for DynamoDB Local.
const Variable = "STORE_ENGINE"

// Engine is an empty table in the engine that Variable names. A name that it does not
// know fails the test.
func Engine(tb testing.TB) table.Engine {
	tb.Helper()
	switch name := os.Getenv(Variable); name {
	case "", inMemory:
		return memory.New(store.Schema())
	case "dynamodb":
		return DynamoDB(tb)
	default:
		tb.Fatalf("%s names no engine: %q", Variable, name)
		return nil
	}
}

const inMemory = "memory"

// InMemory says whether Engine's tables are in memory, where any number of cases is
// quick.
func InMemory() bool {
	name := os.Getenv(Variable)
	return name == "" || name == inMemory
}

// local is a table in DynamoDB Local.
type local struct {
	*dynamo.Engine
	client *dynamodb.Client
	name   string
}

// DynamoDB is an empty table in DynamoDB Local, for what no other engine has:
// streams, and what expires.
func DynamoDB(tb testing.TB) table.Engine {
	tb.Helper()
	client, name := dynamotest.Client(tb), dynamotest.Table(tb)
	return &local{Engine: dynamo.New(client, name, store.Schema()), client: client, name: name}
}
