package main_test

import (
	"crypto/rand"
	"path/filepath"
	"testing"

	"github.com/rethread/rethread/infra/local/localtest"
	"github.com/rethread/rethread/infra/test/dynamotest"
)

// TestSharedEngine has two systems use one engine, each with an access key.
func TestSharedEngine(t *testing.T) {
	t.Setenv("DYNAMODB_ENDPOINT", dynamotest.Endpoint(t))
	dir := t.TempDir()
	bin := filepath.Join(dir, "functions")
	program := localtest.Build(t, ".", filepath.Join(dir, "local"))
	localtest.Build(t, "./testdata/notes", filepath.Join(bin, "notes", "bootstrap"))
	start := func() *local {
		t.Setenv("DYNAMODB_ACCESS_KEY", rand.Text())
		return mustStart(t, program, "-http", "127.0.0.1:0", "-template", mustAbs(t, "testdata/template.yaml"), "-bin", bin, "-data", "")
	}
	one, other := start(), start()
	if one.database != other.database {
		t.Fatalf("the engines are %s and %s", one.database, other.database)
	}
	alice := mustToken(t, one, `{"user_id": "alice"}`)
	wantAnswer(t, one, "PUT", "/notes/one", alice, "hello", 204, "")
	wantAnswer(t, one, "GET", "/notes/one", alice, "", 200, "hello")
	wantAnswer(t, other, "GET", "/notes/one", mustToken(t, other, `{"user_id": "alice"}`), "", 404, "")
}
