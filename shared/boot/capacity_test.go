package boot_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/smithy-go/middleware"
	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/observe/logs"
)

// TestObserveRequests checks the log lines that the metric filters of template.yaml
// count: without a recorder, and at the highest LOG_LEVEL.
func TestObserveRequests(t *testing.T) {
	t.Parallel()
	const name = "com.amazonaws.dynamodb.v20120810#"
	throttle := line{"level": "ERROR", "msg": "the table throttled a request", "operation": "GetItem", "throttles": 1.0}
	for _, test := range []struct {
		name   string
		status int
		body   string
		want   []line // for two attempts
	}{
		{"logs nothing for an answer", http.StatusOK, `{}`, nil},
		{"logs each throttled attempt", http.StatusBadRequest, `{"__type":"` + name + `ProvisionedThroughputExceededException"}`, []line{throttle, throttle}},
		{"logs each attempt that the table fails", http.StatusInternalServerError, `{"__type":"` + name + `InternalServerError"}`, []line{
			{"level": "ERROR", "msg": "the table failed", "operation": "GetItem"},
			{"level": "ERROR", "msg": "the table failed", "operation": "GetItem"},
		}},
		{"logs nothing for a refusal", http.StatusBadRequest, `{"__type":"` + name + `ResourceNotFoundException"}`, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var text bytes.Buffer
			client := newTable(t, test.status, test.body, &text)
			_, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{
				TableName: aws.String("t"), Key: map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: "x"}},
			})
			if failed := err != nil; failed != (test.status != http.StatusOK) {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, mustLines(t, &text, "error")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	t.Run("logs nothing for another service, whose throttles are not the table's", func(t *testing.T) {
		t.Parallel()
		var text bytes.Buffer
		o := lambda.Options{
			Region: "eu-central-1", BaseEndpoint: answering(t, http.StatusTooManyRequests, `{}`), Retryer: aws.NopRetryer{},
			Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
			APIOptions:  []func(*middleware.Stack) error{boot.ObserveRequests(logs.New(&text, slog.LevelError))},
		}
		_, err := lambda.New(o).Invoke(t.Context(), &lambda.InvokeInput{FunctionName: aws.String("f")})
		if err == nil || text.Len() > 0 {
			t.Errorf("%v: %s", err, text.String())
		}
	})
}

// newTable returns a client of a table that gives the same answer twice.
func newTable(t *testing.T, status int, body string, log io.Writer) *dynamodb.Client {
	t.Helper()
	return dynamodb.New(dynamodb.Options{
		Region: "eu-central-1", BaseEndpoint: answering(t, status, body), RetryMaxAttempts: 2,
		Credentials:                     credentials.NewStaticCredentialsProvider("test", "test", ""),
		DisableValidateResponseChecksum: true,
		APIOptions:                      []func(*middleware.Stack) error{boot.ObserveRequests(logs.New(log, slog.LevelError))},
	})
}

func answering(t *testing.T, status int, body string) *string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/x-amz-json-1.0")
		rw.WriteHeader(status)
		_, _ = io.WriteString(rw, body)
	}))
	t.Cleanup(server.Close)
	return &server.URL
}
