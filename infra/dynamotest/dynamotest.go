// Package dynamotest gives tests a real engine and a table of their own, as
// template.yaml defines it. One engine serves a test binary; it starts with the
// first test that asks and ends with the binary.
package dynamotest

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	dynamodblocal "github.com/rethread/rethread/infra/dynamodb-local"
	"github.com/rethread/rethread/infra/local/repo"
	"github.com/rethread/rethread/infra/local/table"
	"github.com/rethread/rethread/infra/samtemplate"
)

// EndpointVariable names the environment variable that points tests at an
// engine that runs already.
const EndpointVariable = "DYNAMODB_ENDPOINT"

// Endpoint returns the engine's base URL. No engine, no test: it fails t.
func Endpoint(t testing.TB) string {
	t.Helper()
	endpoint, err := engine()
	if err != nil {
		t.Fatalf("tests need DynamoDB Local: %v", err)
	}
	return endpoint
}

// Client returns a client of the engine.
func Client(t testing.TB) *dynamodb.Client {
	t.Helper()
	return table.NewClient(Endpoint(t))
}

// Table makes an empty table with a name of its own and drops it when t ends.
func Table(t testing.TB) string {
	t.Helper()
	client := Client(t)
	definition, err := definition()
	if err != nil {
		t.Fatalf("read the table's definition: %v", err)
	}
	definition.Name = "test-" + rand.Text()
	if _, err := table.Ensure(t.Context(), client, definition); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		input := &dynamodb.DeleteTableInput{TableName: &definition.Name}
		if _, err := client.DeleteTable(context.WithoutCancel(t.Context()), input); err != nil {
			t.Errorf("drop table %s: %v", definition.Name, err)
		}
	})
	return definition.Name
}

// engine starts DynamoDB Local once a binary; its watchdog ends it with the binary.
//
//nolint:gochecknoglobals // one engine per test binary is the point
var engine = sync.OnceValues(func() (string, error) {
	if endpoint := os.Getenv(EndpointVariable); endpoint != "" {
		return endpoint, nil
	}
	started, err := dynamodblocal.Start(context.Background(), dynamodblocal.Options{})
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
		Parameters: map[string]string{"JwtIssuer": "test", "JwtAudience": "test"},
	})
	if err != nil {
		return samtemplate.Table{}, err
	}
	if len(template.Tables) != 1 {
		return samtemplate.Table{}, fmt.Errorf("the template has %d tables, not one", len(template.Tables))
	}
	return template.Tables[0], nil
})
