package dynamodblocal_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	dynamodblocal "github.com/rethread/rethread/infra/local/dynamodb-local"
)

const listTables = "DynamoDB_20120810.ListTables"

func TestStart(t *testing.T) {
	t.Run("answers until stopped", func(t *testing.T) {
		engine := mustStart(t, dynamodblocal.Options{})
		if status := call(t, engine.Endpoint(), listTables, "{}"); status != http.StatusOK {
			t.Fatalf("ListTables returned %d", status)
		}
		engine.Stop()
		select {
		case <-engine.Done():
		default:
			t.Fatal("Stop returned before the engine ended")
		}
		if status := call(t, engine.Endpoint(), listTables, "{}"); status != 0 {
			t.Fatalf("a stopped engine returned %d", status)
		}
	})

	t.Run("keeps data between runs", func(t *testing.T) {
		dir := t.TempDir()
		engine := mustStart(t, dynamodblocal.Options{DataDir: dir})
		if status := call(t, engine.Endpoint(), "DynamoDB_20120810.CreateTable", oneTable); status != http.StatusOK {
			t.Fatalf("CreateTable returned %d", status)
		}
		_, err := dynamodblocal.Start(t.Context(), dynamodblocal.Options{DataDir: dir})
		if !errors.Is(err, dynamodblocal.ErrDataInUse) {
			t.Fatalf("a second engine on the same folder: got %v, want ErrDataInUse", err)
		}
		engine.Stop()
		again := mustStart(t, dynamodblocal.Options{DataDir: dir})
		status := call(t, again.Endpoint(), "DynamoDB_20120810.DescribeTable", `{"TableName":"kept"}`)
		if status != http.StatusOK {
			t.Fatalf("after a restart DescribeTable returned %d", status)
		}
	})

	for _, separate := range []bool{false, true} {
		t.Run(fmt.Sprintf("separate databases for access keys: %t", separate), func(t *testing.T) {
			engine := mustStart(t, dynamodblocal.Options{Separate: separate})
			if status := call(t, engine.Endpoint(), "DynamoDB_20120810.CreateTable", oneTable); status != http.StatusOK {
				t.Fatalf("CreateTable returned %d", status)
			}
			want := http.StatusOK
			if separate {
				want = http.StatusBadRequest
			}
			status := callAs(t, "another", engine.Endpoint(), "DynamoDB_20120810.DescribeTable", `{"TableName":"kept"}`)
			if status != want {
				t.Errorf("with another key DescribeTable returned %d", status)
			}
		})
	}

	t.Run("reports a port that is in use", func(t *testing.T) {
		listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", ":0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = listener.Close() }()
		_, err = dynamodblocal.Start(t.Context(), dynamodblocal.Options{Port: listener.Addr().(*net.TCPAddr).Port})
		if !errors.Is(err, dynamodblocal.ErrPortTaken) {
			t.Fatalf("got %v, want ErrPortTaken", err)
		}
	})

	t.Run("reports missing Java", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		t.Setenv("JAVA_HOME", "")
		_, err := dynamodblocal.Start(t.Context(), dynamodblocal.Options{})
		if !errors.Is(err, dynamodblocal.ErrPrerequisite) {
			t.Fatalf("got %v, want ErrPrerequisite", err)
		}
	})
}

const oneTable = `{"TableName":"kept","BillingMode":"PAY_PER_REQUEST",
	"AttributeDefinitions":[{"AttributeName":"PK","AttributeType":"S"}],
	"KeySchema":[{"AttributeName":"PK","KeyType":"HASH"}]}`

func mustStart(t *testing.T, opts dynamodblocal.Options) *dynamodblocal.Engine {
	t.Helper()
	engine, err := dynamodblocal.Start(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(engine.Stop)
	return engine
}

// call sends one request and returns the status, 0 if there is no answer.
func call(t *testing.T, endpoint, target, body string) int {
	t.Helper()
	return callAs(t, "local", endpoint, target, body)
}

// callAs is call with an access key.
func callAs(t *testing.T, key, endpoint, target, body string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodPost, endpoint, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Amz-Target", target)
	req.Header.Set("Content-Type", "application/x-amz-json-1.0")
	req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+key+"/20250101/us-east-1/dynamodb/aws4_request, "+
		"SignedHeaders=host, Signature=none")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	defer func() { _ = resp.Body.Close() }()
	return resp.StatusCode
}
