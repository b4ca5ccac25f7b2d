// Package dynamotest gives each test a real engine and its own table, as
// template.yaml defines it, with a stream only for tests that read it. If EndpointVariable is set, as in `make test`, all
// packages share that engine. Otherwise each test binary starts one with the first
// test that needs it; it ends with the binary.
package dynamotest

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	dynamodblocal "github.com/rethread/rethread/infra/local/dynamodb-local"
	"github.com/rethread/rethread/infra/local/repo"
	"github.com/rethread/rethread/infra/local/samtemplate"
	"github.com/rethread/rethread/infra/local/table"
)

// EndpointVariable is the environment variable with the endpoint of a running
// engine for tests.
const EndpointVariable = "DYNAMODB_ENDPOINT"

// Region is the region of tests' tables.
const Region = table.Region

// Endpoint returns the engine's base URL. It fails the test if there is no engine.
func Endpoint(tb testing.TB) string {
	tb.Helper()
	endpoint, err := engine()
	if err != nil {
		tb.Fatalf("tests need DynamoDB Local: %v", err)
	}
	return endpoint
}

// Client returns a client of the engine.
func Client(tb testing.TB) *dynamodb.Client {
	tb.Helper()
	return table.NewClient(Endpoint(tb), accessKey(tb))
}

// Credentials are what a test and its subtests use for the engine, in the Region:
// they have a database of their own, and do not wait for what other tests do.
func Credentials(tb testing.TB) aws.CredentialsProvider {
	tb.Helper()
	return table.Credentials(accessKey(tb))
}

func accessKey(tb testing.TB) string {
	tb.Helper()
	test, _, _ := strings.Cut(tb.Name(), "/")
	sum := sha256.Sum256([]byte(filepath.Base(os.Args[0]) + " " + test)) // other packages have tests of that name
	return hex.EncodeToString(sum[:10])
}

// Table makes an empty table with a unique name and no stream, and drops it when the
// test ends.
func Table(tb testing.TB) string {
	tb.Helper()
	return tableOf(tb, func(t *samtemplate.Table) { t.StreamView = "" })
}

// Streamed is Table with the template's stream, which takes the engine more time
// with each write.
func Streamed(tb testing.TB) string {
	tb.Helper()
	return tableOf(tb, func(*samtemplate.Table) {})
}

// tableOf makes the template's table, as changed by edit.
func tableOf(tb testing.TB, edit func(*samtemplate.Table)) string {
	tb.Helper()
	client := Client(tb)
	definition, err := definition()
	if err != nil {
		tb.Fatalf("read the table's definition: %v", err)
	}
	edit(&definition)
	definition.Name = "test-" + rand.Text()
	if _, err := table.Ensure(tb.Context(), client, definition); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		input := &dynamodb.DeleteTableInput{TableName: &definition.Name}
		if _, err := client.DeleteTable(context.WithoutCancel(tb.Context()), input); err != nil {
			tb.Errorf("drop table %s: %v", definition.Name, err)
		}
	})
	return definition.Name
}

// engine starts DynamoDB Local once per binary; its watchdog ends it with the
// binary.
//
//nolint:gochecknoglobals // one engine per test binary is the point
var engine = sync.OnceValues(func() (string, error) {
	if endpoint := os.Getenv(EndpointVariable); endpoint != "" {
		return endpoint, nil
	}
	started, err := dynamodblocal.Start(context.Background(), dynamodblocal.Options{Separate: true})
	if err != nil {
		return "", err
	}
	return started.Endpoint(), nil
})

//nolint:gochecknoglobals // the template is read once
var definition = sync.OnceValues(func() (samtemplate.Table, error) {
	root, err := repo.Root("")
	if err != nil {
		return samtemplate.Table{}, err
	}
	template, err := samtemplate.Load(filepath.Join(root, "template.yaml"), samtemplate.Options{
		Parameters: map[string]string{"JwtIssuer": "https://test", "JwtAudience": "test"},
	})
	if err != nil {
		return samtemplate.Table{}, err
	}
	if len(template.Tables) != 1 {
		return samtemplate.Table{}, fmt.Errorf("the template has %d tables, want one", len(template.Tables))
	}
	return template.Tables[0], nil
})
