package invoke_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"github.com/rethread/rethread/shared/boot/invoke"
	"github.com/rethread/rethread/shared/domain/run"
)

func TestDispatcher(t *testing.T) {
	ref := run.Ref{UserID: "alice", SessionID: "s", RunID: "r"}
	status := http.StatusAccepted
	var got string
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			t.Error(err)
		}
		got = fmt.Sprintf("%s %s %s", req.URL.Path, req.Header.Get("X-Amz-Invocation-Type"), body)
		rw.WriteHeader(status)
	}))
	defer server.Close()
	client := lambda.New(lambda.Options{
		Region: "eu-central-1", BaseEndpoint: &server.URL, Retryer: aws.NopRetryer{},
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
	})
	t.Run("invokes the runner without waiting", func(t *testing.T) {
		if err := invoke.Dispatcher(client, "runner")(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
		want := `/2015-03-31/functions/runner/invocations Event {"user_id":"alice","session_id":"s","run_id":"r"}`
		if got != want {
			t.Errorf("asked %s, want %s", got, want)
		}
	})
	t.Run("returns an error when the runner is throttled", func(t *testing.T) {
		status = http.StatusTooManyRequests
		if err := invoke.Dispatcher(client, "runner")(t.Context(), ref); err == nil {
			t.Error("no error")
		}
	})
	t.Run("returns an error when no runner is configured", func(t *testing.T) {
		if err := invoke.Dispatcher(client, "")(t.Context(), ref); err == nil || !strings.Contains(err.Error(), "RUNNER_FUNCTION") {
			t.Errorf("got %v", err)
		}
	})
}
