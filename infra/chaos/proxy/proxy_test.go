package proxy_test

import (
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/rethread/rethread/infra/chaos/faults"
	"github.com/rethread/rethread/infra/chaos/proxy"
)

// engine returns the test's answers, and records the requests.
type engine struct {
	mu       sync.Mutex
	requests []string
	answer   func(body string) string
}

func (e *engine) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(err)
	}
	e.mu.Lock()
	e.requests = append(e.requests, string(body))
	text := `{}`
	if e.answer != nil {
		text = e.answer(string(body))
	}
	e.mu.Unlock()
	rw.Header().Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE([]byte(text))), 10))
	_, _ = io.WriteString(rw, text)
}

// startProxy returns a proxy in front of an engine that always injects one kind of
// fault.
func startProxy(t *testing.T, e *engine, kind faults.Kind) *proxy.Proxy {
	t.Helper()
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	plan := &faults.Plan{Phases: []faults.Phase{{Lasts: time.Hour, Rates: map[faults.Kind]float64{kind: 1}}}}
	plan.Begin(time.Now())
	p, err := proxy.Start(t.Context(), server.URL, plan)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func client(p *proxy.Proxy) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: &p.URL, Retryer: aws.NopRetryer{},
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
}

func put(t *testing.T, p *proxy.Proxy) error {
	t.Helper()
	_, err := client(p).PutItem(t.Context(), &dynamodb.PutItemInput{
		TableName: aws.String("t"), Item: map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: "a"}},
	})
	return err
}

// TestFaults sends a write through each fault: the SDK must understand the error,
// and the engine must have carried out the write or not.
func TestFaults(t *testing.T) {
	t.Parallel()
	var throttled *types.ProvisionedThroughputExceededException
	var limited *types.ThrottlingException
	var conflict *types.TransactionConflictException
	var internal *types.InternalServerError
	tried := 0
	for _, c := range []struct {
		kind faults.Kind
		done bool
		is   func(error) bool
	}{
		{faults.Throttle, false, func(err error) bool { return errors.As(err, &throttled) || errors.As(err, &limited) }},
		{faults.Conflict, false, func(err error) bool { return errors.As(err, &conflict) }},
		{faults.Before, false, func(err error) bool { return errors.As(err, &internal) }},
		{faults.After, true, func(err error) bool { return errors.As(err, &internal) }},
		{faults.Cut, true, func(err error) bool { return err != nil && !errors.As(err, &internal) }},
		{faults.Torn, true, func(err error) bool { return err != nil && !errors.As(err, &internal) }},
		{faults.Delay, true, func(err error) bool { return err == nil }},
	} {
		t.Run(string(c.kind), func(t *testing.T) {
			e := &engine{}
			p := startProxy(t, e, c.kind)
			if err := put(t, p); !c.is(err) {
				t.Errorf("the SDK returned %v", err)
			}
			if done := len(e.requests) == 1; done != c.done {
				t.Errorf("the engine received %d requests", len(e.requests))
			}
			if requests, injected := p.Counts(); requests != 1 || injected[c.kind] != 1 {
				t.Errorf("counted: %d requests, %v", requests, injected)
			}
		})
		tried++
	}
	if tried < 7 {
		t.Errorf("tried %d kinds", tried)
	}
}

func TestConflictOfATransaction(t *testing.T) {
	t.Parallel()
	p := startProxy(t, &engine{}, faults.Conflict)
	action := types.TransactWriteItem{Put: &types.Put{
		TableName: aws.String("t"), Item: map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: "a"}},
	}}
	_, err := client(p).TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{action, action, action}})
	var cancelled *types.TransactionCanceledException
	if !errors.As(err, &cancelled) || len(cancelled.CancellationReasons) != 3 {
		t.Fatalf("the SDK returned %v", err)
	}
	conflicts := 0
	for _, reason := range cancelled.CancellationReasons {
		if aws.ToString(reason.Code) == "TransactionConflict" {
			conflicts++
		}
	}
	if conflicts != 1 {
		t.Errorf("%d actions have a conflict", conflicts)
	}
}

func TestPartialBatches(t *testing.T) {
	t.Parallel()
	e := &engine{}
	p := startProxy(t, e, faults.Partial)
	var writes []types.WriteRequest
	for range 5 {
		writes = append(writes, types.WriteRequest{DeleteRequest: &types.DeleteRequest{
			Key: map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: "a"}},
		}})
	}
	out, err := client(p).BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"t": writes}})
	if err != nil {
		t.Fatal(err)
	}
	left, done := len(out.UnprocessedItems["t"]), strings.Count(e.requests[0], "DeleteRequest")
	if left == 0 || done == 0 || left+done != 5 {
		t.Errorf("%d processed, %d left", done, left)
	}
	keys := types.KeysAndAttributes{ConsistentRead: aws.Bool(true)}
	for range 5 {
		keys.Keys = append(keys.Keys, map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: "a"}})
	}
	got, err := client(p).BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"t": keys}})
	if err != nil {
		t.Fatal(err)
	}
	rest := got.UnprocessedKeys["t"]
	if n := len(rest.Keys); n == 0 || n == 5 || !aws.ToBool(rest.ConsistentRead) {
		t.Errorf("left: %+v", rest)
	}
}

func TestRepeatedRecords(t *testing.T) {
	t.Parallel()
	e := &engine{answer: func(body string) string {
		var in struct{ ShardIterator string }
		if err := json.Unmarshal([]byte(body), &in); err != nil {
			panic(err)
		}
		return `{"Records":[{"eventID":"` + in.ShardIterator + `"}],"NextShardIterator":"` + in.ShardIterator + `x"}`
	}}
	p := startProxy(t, e, faults.Repeated)
	reader := dynamodbstreams.New(dynamodbstreams.Options{
		Region: "us-east-1", BaseEndpoint: &p.URL, Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
	var seen []string
	for _, at := range []string{"a", "ax", "axx"} {
		out, err := reader.GetRecords(t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: &at})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range out.Records {
			seen = append(seen, aws.ToString(r.EventID))
		}
	}
	if got := strings.Join(seen, " "); got != "a a ax ax axx" {
		t.Errorf("records: %s", got)
	}
	for _, kind := range []faults.Kind{faults.Expired, faults.Failing} {
		_, err := dynamodbstreams.New(reader.Options(), func(o *dynamodbstreams.Options) {
			o.BaseEndpoint, o.Retryer = &startProxy(t, &engine{}, kind).URL, aws.NopRetryer{}
		}).GetRecords(t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: aws.String("a")})
		var expired *streams.ExpiredIteratorException
		if err == nil || errors.As(err, &expired) != (kind == faults.Expired) {
			t.Errorf("%s: the SDK returned %v", kind, err)
		}
	}
}
