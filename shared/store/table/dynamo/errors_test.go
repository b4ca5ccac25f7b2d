package dynamo_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/dynamo"
	"github.com/rethread/rethread/shared/store/table/tabletest"
)

// answer is the response to a request: an HTTP answer or a network error.
type answer struct {
	status int
	body   string
	err    error
}

// script answers requests in order; the last answer repeats.
type script struct {
	answers []answer
	sent    int
	tokens  []string // of the requests that carry one
}

func (s *script) Do(r *http.Request) (*http.Response, error) {
	a := s.answers[min(s.sent, len(s.answers)-1)]
	s.sent++
	var request struct{ ClientRequestToken string }
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		return nil, err
	}
	if request.ClientRequestToken != "" {
		s.tokens = append(s.tokens, request.ClientRequestToken)
	}
	if err := errors.Join(r.Context().Err(), a.err); err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: a.status, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body: io.NopCloser(strings.NewReader(a.body)), Request: r,
	}, nil
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func refused(code, more string) answer {
	return answer{status: 400, body: `{"__type":"com.amazonaws.dynamodb.v20120810#` + code + `","message":"no"` + more + `}`}
}

func reasons(codes ...string) answer {
	return refused("TransactionCanceledException", `,"CancellationReasons":[{"Code":"`+strings.Join(codes, `"},{"Code":"`)+`"}]`)
}

func TestErrors(t *testing.T) {
	t.Parallel()
	var (
		done     = answer{status: 200, body: `{}`}
		broken   = answer{status: 500, body: `{"__type":"InternalServerError"}`}
		reset    = answer{err: errors.New("read: connection reset by peer")}
		noServer = answer{err: &net.OpError{Op: "dial", Err: errors.New("connection refused")}}
		throttle = refused("ProvisionedThroughputExceededException", "")
		conflict = refused("TransactionConflictException", "")
		put      = table.Put(table.Item{table.PK: text("p"), table.SK: text("s")})
	)
	write := func(ctx context.Context, e table.Engine) error { _, err := e.Write(ctx, put); return err }
	get := func(ctx context.Context, e table.Engine) error {
		_, _, err := e.Get(ctx, put.Key, table.Reading{})
		return err
	}
	transact := func(ctx context.Context, e table.Engine) error {
		_, err := e.Transact(ctx, table.Transaction{Writes: []table.Write{put, table.Delete(table.Key{PK: "p", SK: "t"})}})
		return err
	}
	for name, c := range map[string]struct {
		do      func(context.Context, table.Engine) error
		answers []answer
		want    error
		sent    int
	}{
		"does not retry a write whose answer was lost":         {write, []answer{reset, done}, table.ErrUndecided, 1},
		"does not retry a write after a server error":          {write, []answer{broken, done}, table.ErrUndecided, 1},
		"a throttled write is":                                 {write, []answer{throttle, done}, nil, 2},
		"retries a write that reached no server":               {write, []answer{noServer, done}, nil, 2},
		"returns ErrThrottled when every attempt is throttled": {write, []answer{throttle}, table.ErrThrottled, 3},
		"returns ErrConflict for a write during a transaction": {write, []answer{conflict}, table.ErrConflict, 1},
		"returns ErrDenied without permission":                 {write, []answer{refused("AccessDeniedException", "")}, table.ErrDenied, 1},
		"retries a throttled read":                             {get, []answer{throttle, throttle, done}, nil, 3},
		"returns ErrThrottled for a read that stays throttled": {get, []answer{throttle}, table.ErrThrottled, 3},
		"retries a read":        {get, []answer{reset, broken, done}, nil, 3},
		"retries a transaction": {transact, []answer{reset, broken, done}, nil, 3},
		"a transaction is undecided after a lost answer and throttling":               {transact, []answer{reset, throttle}, table.ErrUndecided, 3},
		"a transaction is undecided after a lost answer and a conflict":               {transact, []answer{reset, reasons("None", "TransactionConflict")}, table.ErrUndecided, 2},
		"a transaction is undecided after a lost answer and a throttled cancellation": {transact, []answer{reset, reasons("None", "ThrottlingError")}, table.ErrUndecided, 2},
		"a conflict cancels it":                                         {transact, []answer{reasons("None", "TransactionConflict")}, table.ErrConflict, 1},
		"a failed condition takes precedence over a conflict":           {transact, []answer{reasons("TransactionConflict", "ConditionalCheckFailed")}, table.ErrConditionFailed, 1},
		"an invalid write takes precedence over a failed condition":     {transact, []answer{reasons("ConditionalCheckFailed", "ValidationError")}, table.ErrInvalid, 1},
		"returns ErrThrottled if throttled writes cancel a transaction": {transact, []answer{reasons("None", "ThrottlingError")}, table.ErrThrottled, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &script{answers: c.answers}
			if err := c.do(t.Context(), scripted(s)); !errors.Is(err, c.want) || s.sent != c.sent {
				t.Errorf("sent %d times, %v", s.sent, err)
			}
		})
	}
}

// An error includes what the table answered, for logs and for errors.As.
func TestErrors_cause(t *testing.T) {
	t.Parallel()
	e := scripted(&script{answers: []answer{refused("ProvisionedThroughputExceededException", "")}})
	_, _, err := e.Get(t.Context(), table.NewKey("p", "s"), table.Reading{})
	var cause *types.ProvisionedThroughputExceededException
	if !errors.Is(err, table.ErrThrottled) || !errors.As(err, &cause) {
		t.Errorf("%v hides why", err)
	}
}

// A transaction keeps its token across the SDK's retries, whether the caller chose
// it or the SDK generated it, so that the table recognises a repeat.
func TestTransact_token(t *testing.T) {
	t.Parallel()
	put := table.Put(table.Item{table.PK: text("p"), table.SK: text("s")})
	for _, token := range []string{"", "the caller's token"} {
		s := &script{answers: []answer{
			{err: errors.New("read: connection reset by peer")},
			{status: 500, body: `{"__type":"InternalServerError"}`},
			{status: 200, body: `{}`},
		}}
		if _, err := scripted(s).Transact(t.Context(), table.Transaction{Token: token, Writes: []table.Write{put}}); err != nil {
			t.Fatal(err)
		}
		if len(s.tokens) != 3 {
			t.Fatalf("%d tokens were sent, want 3", len(s.tokens))
		}
		for _, sent := range s.tokens {
			if sent == "" || sent != s.tokens[0] || token != "" && sent != token {
				t.Errorf("of the token %q, these were sent: %q", token, s.tokens)
			}
		}
	}
}

func scripted(s *script) *dynamo.Engine {
	return dynamo.New(dynamodb.New(dynamodb.Options{
		Region: "us-east-1", HTTPClient: s, Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
		DisableValidateResponseChecksum: true, BaseEndpoint: aws.String("http://localhost"),
		Retryer: retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts, o.Backoff = 3, retry.NewExponentialJitterBackoff(time.Millisecond)
		}),
	}), "table", tabletest.Schema())
}
