// Package storetest gives each test of the store its own table, in the engine
// selected for the test run: all tests run on both.
package storetest

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/dynamotest"
	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/dynamo"
	"github.com/rethread/rethread/shared/store/table/memory"
)

// Variable is the environment variable that selects the engine: memory, the
// default, or dynamodb for DynamoDB Local.
const Variable = "STORE_ENGINE"

// Engine returns an empty table in the selected engine. An unknown name fails the
// test.
func Engine(tb testing.TB) table.Engine {
	tb.Helper()
	switch name := os.Getenv(Variable); name {
	case "", inMemory:
		return memory.New(store.Schema())
	case "dynamodb":
		return inDynamoDB(tb)
	default:
		tb.Fatalf("%s: unknown engine %q", Variable, name)
		return nil
	}
}

// Codec returns the codec that the stores of a test binary share: tests make
// thousands of stores, each of which would make compressors of its own.
func Codec() *records.Codec { return codec() }

//nolint:gochecknoglobals // one codec per test binary is the point
var codec = sync.OnceValue(records.NewCodec)

const inMemory = "memory"

// InMemory reports whether Engine's tables are in memory, so that many cases are
// fast.
func InMemory() bool {
	name := os.Getenv(Variable)
	return name == "" || name == inMemory
}

// CasesVariable is the environment variable that makes proofs play few of their cases,
// as `make check` does. Its only value is few.
const CasesVariable = "STORE_CASES"

// Few reports whether proofs play few of their cases: on DynamoDB Local, which is slow,
// or as CasesVariable says.
func Few() bool { return !InMemory() || os.Getenv(CasesVariable) == "few" }

// local is a table in DynamoDB Local.
type local struct {
	*dynamo.Engine
	client *dynamodb.Client
	name   string
}

// Transact implements table.Engine. Stores with the same seed give their transactions the
// same tokens, and a token that DynamoDB has seen with another table is refused.
func (l *local) Transact(ctx context.Context, t table.Transaction) (table.Units, error) {
	if t.Token != "" {
		t.Token = uuid.NewSHA1(uuid.NameSpaceOID, []byte(l.name+t.Token)).String()
	}
	return l.Engine.Transact(ctx, t)
}

// inDynamoDB returns an empty table in DynamoDB Local, without a stream.
func inDynamoDB(tb testing.TB) table.Engine {
	tb.Helper()
	client, name := dynamotest.Client(tb), dynamotest.Table(tb)
	return &local{Engine: dynamo.New(client, name, store.Schema()), client: client, name: name}
}
