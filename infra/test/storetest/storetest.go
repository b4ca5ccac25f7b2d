// Package storetest gives tests of the store a table of their own, in the engine that
// the run of the tests names: all of them run on each.
package storetest

import (
	"os"
	"testing"

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
	case "", "memory":
		return memory.New(store.Schema())
	case "dynamodb":
		return DynamoDB(tb)
	default:
		tb.Fatalf("%s names no engine: %q", Variable, name)
		return nil
	}
}

// DynamoDB is an empty table in DynamoDB Local, for what no other engine has:
// streams, and what expires.
func DynamoDB(tb testing.TB) table.Engine {
	tb.Helper()
	return dynamo.New(dynamotest.Client(tb), dynamotest.Table(tb), store.Schema())
}
