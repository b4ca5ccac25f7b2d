package sqsapi_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rethread/rethread/infra/local/queue"
	"github.com/rethread/rethread/infra/local/queue/sqsapi"
	"github.com/rethread/rethread/infra/local/samtemplate"
)

const (
	fifoURL     = "https://sqs.us-east-1.amazonaws.com/000000000000/q.fifo"
	standardURL = "https://sqs.us-east-1.amazonaws.com/000000000000/q"
)

// TestClient uses the SDK's client as programs do.
func TestClient(t *testing.T) {
	t.Run("returns a queue's URL", func(t *testing.T) {
		client, _ := mustServe(t)
		out, err := client.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String("q.fifo")})
		if err != nil || aws.ToString(out.QueueUrl) != fifoURL {
			t.Errorf("got %v, %v", out, err)
		}
	})
	t.Run("sends, receives and deletes a message", func(t *testing.T) {
		client, set := mustServe(t)
		attributes := map[string]types.MessageAttributeValue{
			"kind":   {DataType: aws.String("String"), StringValue: aws.String("a")},
			"size":   {DataType: aws.String("Number.int"), StringValue: aws.String("1")},
			"bytes":  {DataType: aws.String("Binary"), BinaryValue: []byte{0, 1}},
			"unread": {DataType: aws.String("String"), StringValue: aws.String("b")},
		}
		sent, err := client.SendMessage(t.Context(), &sqs.SendMessageInput{
			QueueUrl: aws.String(fifoURL), MessageBody: aws.String("bödy"), MessageAttributes: attributes,
			MessageGroupId: aws.String("g"), MessageDeduplicationId: aws.String("d"),
		})
		if err != nil || aws.ToString(sent.SequenceNumber) == "" || aws.ToString(sent.MD5OfMessageAttributes) == "" {
			t.Fatalf("got %+v, %v", sent, err)
		}
		received, err := client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
			QueueUrl: aws.String(fifoURL), MaxNumberOfMessages: 10, MessageAttributeNames: []string{"kind", "si.*", "bytes"},
			MessageSystemAttributeNames: []types.MessageSystemAttributeName{"MessageGroupId", "ApproximateReceiveCount"},
		})
		if err != nil || len(received.Messages) != 1 {
			t.Fatalf("got %+v, %v", received, err)
		}
		got := received.Messages[0]
		delete(attributes, "unread")
		if diff := cmp.Diff(attributes, got.MessageAttributes, cmpopts.IgnoreUnexported(types.MessageAttributeValue{})); diff != "" {
			t.Errorf("attributes (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(map[string]string{"MessageGroupId": "g", "ApproximateReceiveCount": "1"}, got.Attributes); diff != "" {
			t.Errorf("system attributes (-want +got):\n%s", diff)
		}
		if aws.ToString(got.Body) != "bödy" || aws.ToString(got.MessageId) != aws.ToString(sent.MessageId) {
			t.Errorf("got %+v", got)
		}
		if _, err := client.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{QueueUrl: aws.String(fifoURL), ReceiptHandle: got.ReceiptHandle}); err != nil {
			t.Fatal(err)
		}
		wantBodies(t, set, "q.fifo")
	})
	t.Run("returns only the requested attributes", func(t *testing.T) {
		client, set := mustServe(t)
		mustDeliver(t, set, "one", "two")
		received, err := client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: aws.String(standardURL)})
		if err != nil || len(received.Messages) != 1 || received.Messages[0].Attributes != nil || received.Messages[0].MessageAttributes != nil {
			t.Errorf("got %+v, %v", received, err)
		}
	})
	t.Run("reports the failed entries of a batch", func(t *testing.T) {
		client, set := mustServe(t)
		out, err := client.SendMessageBatch(t.Context(), &sqs.SendMessageBatchInput{QueueUrl: aws.String(fifoURL), Entries: []types.SendMessageBatchRequestEntry{
			{Id: aws.String("1"), MessageBody: aws.String("one"), MessageGroupId: aws.String("g"), MessageDeduplicationId: aws.String("1")},
			{Id: aws.String("2"), MessageBody: aws.String("two"), MessageGroupId: aws.String("g")},
			{Id: aws.String("3"), MessageBody: aws.String("one"), MessageGroupId: aws.String("g"), MessageDeduplicationId: aws.String("1")},
		}})
		if err != nil || len(out.Successful) != 2 || len(out.Failed) != 1 {
			t.Fatalf("got %+v, %v", out, err)
		}
		if failed := out.Failed[0]; aws.ToString(failed.Id) != "2" || aws.ToString(failed.Code) != "InvalidParameterValue" || !failed.SenderFault {
			t.Errorf("got %+v", failed)
		}
		if aws.ToString(out.Successful[0].MessageId) != aws.ToString(out.Successful[1].MessageId) {
			t.Errorf("got %+v", out.Successful)
		}
		wantBodies(t, set, "q.fifo", "one")
	})
	t.Run("changes visibility and deletes, singly and in batches", func(t *testing.T) {
		client, set := mustServe(t)
		mustDeliver(t, set, "one", "two")
		receive := func() []types.Message {
			out, err := client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: aws.String(standardURL), MaxNumberOfMessages: 10})
			if err != nil {
				t.Fatal(err)
			}
			return out.Messages
		}
		first := receive()
		if _, err := client.ChangeMessageVisibility(t.Context(), &sqs.ChangeMessageVisibilityInput{
			QueueUrl: aws.String(standardURL), ReceiptHandle: first[0].ReceiptHandle, VisibilityTimeout: 0,
		}); err != nil {
			t.Fatal(err)
		}
		changed, err := client.ChangeMessageVisibilityBatch(t.Context(), &sqs.ChangeMessageVisibilityBatchInput{
			QueueUrl: aws.String(standardURL), Entries: []types.ChangeMessageVisibilityBatchRequestEntry{
				{Id: aws.String("shown"), ReceiptHandle: first[1].ReceiptHandle},
				{Id: aws.String("wrong"), ReceiptHandle: aws.String("receipt"), VisibilityTimeout: 1},
			},
		})
		if err != nil || len(changed.Successful) != 1 || aws.ToString(changed.Failed[0].Code) != "ReceiptHandleIsInvalid" {
			t.Fatalf("got %+v, %v", changed, err)
		}
		second := receive()
		if len(second) != 2 {
			t.Fatalf("received %d messages again", len(second))
		}
		deleted, err := client.DeleteMessageBatch(t.Context(), &sqs.DeleteMessageBatchInput{
			QueueUrl: aws.String(standardURL), Entries: []types.DeleteMessageBatchRequestEntry{
				{Id: aws.String("1"), ReceiptHandle: second[0].ReceiptHandle}, {Id: aws.String("2"), ReceiptHandle: second[1].ReceiptHandle},
			},
		})
		if err != nil || len(deleted.Successful) != 2 {
			t.Fatalf("got %+v, %v", deleted, err)
		}
		wantBodies(t, set, "q")
	})
	t.Run("a receiver waits for a message", func(t *testing.T) {
		client, set := mustServe(t)
		came := make(chan error, 1)
		go func() {
			out, err := client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: aws.String(standardURL), WaitTimeSeconds: 20})
			if err == nil && len(out.Messages) != 1 {
				err = errors.New("no message arrived")
			}
			came <- err
		}()
		mustDeliver(t, set, "one")
		if err := <-came; err != nil {
			t.Error(err)
		}
	})
	t.Run("a caller that disconnected receives no message", func(t *testing.T) {
		set := mustQueues(t)
		mustDeliver(t, set, "one")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		request := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader(`{"QueueUrl":"`+standardURL+`"}`))
		request.Header.Set("X-Amz-Target", "AmazonSQS.ReceiveMessage")
		sqsapi.New(set, slog.New(slog.DiscardHandler)).ServeHTTP(httptest.NewRecorder(), request)
		q, _ := set.Queue("q")
		if got := q.Take(1, 0); len(got) != 1 || got[0].Receives != 1 {
			t.Errorf("got %+v", got)
		}
	})
}

func TestRefusals(t *testing.T) {
	client, set := mustServe(t)
	url := aws.String(standardURL)
	send := func(entries ...types.SendMessageBatchRequestEntry) error {
		_, err := client.SendMessageBatch(t.Context(), &sqs.SendMessageBatchInput{QueueUrl: url, Entries: entries})
		return err
	}
	entry := func(id, body string) types.SendMessageBatchRequestEntry {
		return types.SendMessageBatchRequestEntry{Id: aws.String(id), MessageBody: aws.String(body)}
	}
	receive := func(in *sqs.ReceiveMessageInput) error {
		in.QueueUrl = url
		_, err := client.ReceiveMessage(t.Context(), in)
		return err
	}
	half := strings.Repeat("x", 1<<19+1)
	for _, test := range []struct {
		name string
		do   func() error
		code string
	}{
		{"an unknown queue URL", func() error {
			_, err := client.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: aws.String(standardURL + "x"), MessageBody: aws.String("x")})
			return err
		}, "AWS.SimpleQueueService.NonExistentQueue"},
		{"an unknown queue name", func() error {
			_, err := client.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String("none")})
			return err
		}, "AWS.SimpleQueueService.NonExistentQueue"},
		{"a name in place of the URL", func() error {
			_, err := client.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{QueueUrl: aws.String("q"), ReceiptHandle: aws.String("x")})
			return err
		}, "InvalidAddress"},
		{"an empty body", func() error {
			_, err := client.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: url, MessageBody: aws.String("")})
			return err
		}, "MissingParameter"},
		{"an invalid receipt", func() error {
			_, err := client.ChangeMessageVisibility(t.Context(), &sqs.ChangeMessageVisibilityInput{QueueUrl: url, ReceiptHandle: aws.String("x")})
			return err
		}, "ReceiptHandleIsInvalid"},
		{"an operation that manages queues", func() error {
			_, err := client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("new")})
			return err
		}, "AWS.SimpleQueueService.UnsupportedOperation"},
		{"an empty batch", func() error { return send([]types.SendMessageBatchRequestEntry{}...) }, "AWS.SimpleQueueService.EmptyBatchRequest"},
		{"a batch with a repeated id", func() error { return send(entry("a", "x"), entry("a", "y")) }, "AWS.SimpleQueueService.BatchEntryIdsNotDistinct"},
		{"a batch with an invalid id", func() error { return send(entry("a b", "x")) }, "AWS.SimpleQueueService.InvalidBatchEntryId"},
		{"a batch that is too large", func() error { return send(entry("a", half), entry("b", half)) }, "AWS.SimpleQueueService.BatchRequestTooLong"},
		{"a batch with too many entries", func() error {
			var entries []types.SendMessageBatchRequestEntry
			for i := range 11 {
				entries = append(entries, entry(strconv.Itoa(i), "x"))
			}
			return send(entries...)
		}, "AWS.SimpleQueueService.TooManyEntriesInBatchRequest"},
		{"too many messages", func() error { return receive(&sqs.ReceiveMessageInput{MaxNumberOfMessages: 11}) }, "InvalidParameterValue"},
		{"too long a wait", func() error { return receive(&sqs.ReceiveMessageInput{WaitTimeSeconds: 21}) }, "InvalidParameterValue"},
		{"hidden too long", func() error { return receive(&sqs.ReceiveMessageInput{VisibilityTimeout: 43_201}) }, "InvalidParameterValue"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := test.do()
			var refusal smithy.APIError
			if !errors.As(err, &refusal) || refusal.ErrorCode() != test.code || refusal.ErrorFault() != smithy.FaultClient {
				t.Errorf("got %v, want %s", err, test.code)
			}
		})
	}
	t.Run("errors have SDK types", func(t *testing.T) {
		_, err := client.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String("none")})
		var missing *types.QueueDoesNotExist
		if !errors.As(err, &missing) {
			t.Errorf("got %v", err)
		}
	})
	wantBodies(t, set, "q")
}

func TestProtocol(t *testing.T) {
	server := httptest.NewServer(sqsapi.New(mustQueues(t), slog.New(slog.DiscardHandler)))
	defer server.Close()
	for _, test := range []struct{ name, method, target, body, code string }{
		{"another service", http.MethodPost, "DynamoDB_20120810.GetItem", "{}", "UnknownOperationException"},
		{"the former protocol", http.MethodPost, "", "Action=SendMessage", "UnknownOperationException"},
		{"another method", http.MethodGet, "AmazonSQS.GetQueueUrl", "", "UnknownOperationException"},
		{"an unknown operation", http.MethodPost, "AmazonSQS.Explode", "{}", "UnsupportedOperation"},
		{"invalid JSON", http.MethodPost, "AmazonSQS.SendMessage", "{", "SerializationException"},
		{"no queue URL", http.MethodPost, "AmazonSQS.SendMessage", "{}", "MissingParameter"},
		{"a request that is too large", http.MethodPost, "AmazonSQS.SendMessage", strings.Repeat("x", 9<<20), "SerializationException"},
	} {
		t.Run(test.name, func(t *testing.T) {
			request, err := http.NewRequestWithContext(t.Context(), test.method, server.URL, strings.NewReader(test.body))
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("X-Amz-Target", test.target)
			response, err := server.Client().Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = response.Body.Close() }()
			body, err := io.ReadAll(response.Body)
			if err != nil || response.StatusCode != http.StatusBadRequest || !strings.Contains(string(body), `"com.amazonaws.sqs#`+test.code+`"`) {
				t.Errorf("got %d %s, %v", response.StatusCode, body, err)
			}
		})
	}
}

func mustQueues(t *testing.T) *queue.Set {
	t.Helper()
	return queue.NewSet(&samtemplate.Template{Queues: []samtemplate.Queue{
		{LogicalID: "FIFO", Name: "q.fifo", ARN: "arn:q.fifo", URL: fifoURL, FIFO: true, VisibilityTimeout: time.Minute},
		{LogicalID: "Q", Name: "q", ARN: "arn:q", URL: standardURL, VisibilityTimeout: time.Minute},
	}}, slog.New(slog.NewTextHandler(t.Output(), nil)))
}

func mustServe(t *testing.T) (*sqs.Client, *queue.Set) {
	t.Helper()
	set := mustQueues(t)
	server := httptest.NewServer(sqsapi.New(set, slog.New(slog.NewTextHandler(t.Output(), nil))))
	t.Cleanup(server.Close)
	return sqs.New(sqs.Options{
		BaseEndpoint: aws.String(server.URL), Region: "us-east-1", RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	}), set
}

func mustDeliver(t *testing.T, set *queue.Set, bodies ...string) {
	t.Helper()
	for _, body := range bodies {
		if err := set.Deliver(t.Context(), "arn:q", []byte(body)); err != nil {
			t.Fatal(err)
		}
	}
}

func wantBodies(t *testing.T, set *queue.Set, name string, want ...string) {
	t.Helper()
	q, _ := set.Queue(name)
	var got []string
	for _, m := range q.Messages() {
		got = append(got, m.Body)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("in %s (-want +got):\n%s", name, diff)
	}
}
