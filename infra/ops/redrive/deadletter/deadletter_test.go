package deadletter_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	tabletypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/local/host"
	"github.com/rethread/rethread/infra/local/localtest"
	"github.com/rethread/rethread/infra/local/queue"
	"github.com/rethread/rethread/infra/local/repo"
	"github.com/rethread/rethread/infra/ops/deployment"
	"github.com/rethread/rethread/infra/ops/redrive/deadletter"
)

const patience = 5 * time.Minute

// rig is a system with a function that fails until it is repaired.
type rig struct {
	*deployment.Deployment

	system   *host.System
	letters  *queue.Queue // the queue Failures
	repaired string       // file that repairs the function
}

func newRig(t *testing.T) *rig {
	t.Helper()
	dir := t.TempDir()
	localtest.Build(t, "./testdata/stubborn", filepath.Join(dir, "functions", "stubborn", "bootstrap"))
	r := &rig{repaired: filepath.Join(dir, "mended")}
	text, err := os.ReadFile("testdata/template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	template := filepath.Join(dir, "template.yaml")
	if err := os.WriteFile(template, []byte(strings.Replace(string(text), "{{switch}}", r.repaired, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := repo.Root("")
	if err != nil {
		t.Fatal(err)
	}
	r.system, err = host.Start(t.Context(), host.Options{
		Root: root, Template: template, Bin: filepath.Join(dir, "functions"), HTTPAddress: "127.0.0.1:0",
		Output: io.Discard, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.system.Close)
	r.letters, _ = r.system.Queues().Queue(deadletter.Failures)
	if r.Deployment, err = deployment.Find(t.Context(), deployment.Location{URL: r.system.URL()}); err != nil {
		t.Fatal(err)
	}
	return r
}

// mustPut writes an item with that key.
func (r *rig) mustPut(t *testing.T, key string) {
	t.Helper()
	_, err := r.Services.DynamoDB.PutItem(t.Context(), &dynamodb.PutItemInput{
		TableName: aws.String(r.Resource(deployment.Table, "Table")),
		Item:      map[string]tabletypes.AttributeValue{"PK": &tabletypes.AttributeValueMemberS{Value: key}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (r *rig) mustInvoke(t *testing.T, payload string) {
	t.Helper()
	_, err := r.Services.Lambda.Invoke(t.Context(), &lambda.InvokeInput{
		FunctionName:   aws.String(r.Resource(deployment.Function, "StubbornFunction")),
		InvocationType: lambdatypes.InvocationTypeEvent, Payload: []byte(payload),
	})
	if err != nil {
		t.Fatal(err)
	}
}

// mustSend puts a letter into the queue.
func (r *rig) mustSend(t *testing.T, body string) {
	t.Helper()
	_, err := r.Services.SQS.SendMessage(t.Context(), &sqs.SendMessageInput{
		QueueUrl: aws.String(r.Resource(deployment.Queue, deadletter.Failures)), MessageBody: &body,
	})
	if err != nil {
		t.Fatal(err)
	}
}

// mustHave waits for that many letters.
func (r *rig) mustHave(t *testing.T, n int) []queue.Message {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	messages, err := r.letters.Wait(ctx, n)
	if err != nil {
		t.Fatalf("%d letters: %v", len(messages), err)
	}
	return messages
}

// mustEmpty empties the queue and returns the letters' outcomes, in short.
func (r *rig) mustEmpty(t *testing.T, office deadletter.Redriver) []string {
	t.Helper()
	var out []string
	office.Deployment = r.Deployment
	office.Report = func(l deadletter.Letter) {
		what, _, _ := strings.Cut(l.What, ", from ")
		reason, _, _ := strings.Cut(l.Reason, ": ")
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s", l.Outcome, what, reason)))
	}
	if err := office.Empty(t.Context(), deadletter.Failures); err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return out
}

// recordsLetter is a letter about records, with the members that are changed here.
type recordsLetter struct {
	RequestContext json.RawMessage `json:"requestContext"`
	Batch          map[string]any  `json:"DDBStreamBatchInfo"`
}

func TestEmpty(t *testing.T) {
	r := newRig(t)
	for i, key := range []string{"job/1", "other", "job/2"} {
		r.mustPut(t, key)
		r.mustHave(t, (i+2)/2)
	}
	r.mustInvoke(t, `{"job": "in the background"}`)
	all := r.mustHave(t, 3)

	var first, second recordsLetter
	for i, into := range []*recordsLetter{&first, &second} {
		if err := json.Unmarshal([]byte(all[i].Body), into); err != nil {
			t.Fatal(err)
		}
	}
	both := first
	both.Batch["endSequenceNumber"], both.Batch["batchSize"] = second.Batch["endSequenceNumber"], 2
	send := func(p recordsLetter) {
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		r.mustSend(t, string(text))
	}
	send(both)
	lost := second
	lost.Batch["streamArn"] = strings.Replace(fmt.Sprint(lost.Batch["streamArn"]), "/stream/", "/stream/1", 1)
	send(lost)
	r.mustSend(t, "hello")
	r.mustSend(t, `{"requestContext": {"functionArn": "arn:aws:lambda:us-east-1:1:function:another"}, "requestPayload": {}}`)

	const job = `StubbornFunction: {"job":"in the background"}; RetriesExhausted after 1 tries`
	const nothing = "it is of an unknown kind and cannot be sent back"
	foreign := "left " + r.letters.Messages()[6].Body + " " + nothing
	t.Run("a dry run lists the letters and leaves them in the queue", func(t *testing.T) {
		want := []string{
			"left hello " + nothing, foreign, "seen StubbornFunction: 1 records of its stream", "seen StubbornFunction: 1 records of its stream",
			"seen StubbornFunction: 1 records of its stream", "seen StubbornFunction: 2 records of its stream", "seen " + job,
		}
		if diff := cmp.Diff(want, r.mustEmpty(t, deadletter.Redriver{DryRun: true})); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if counts := r.letters.Count(); counts.Visible != 7 {
			t.Errorf("counts: %+v", counts)
		}
	})
	t.Run("keeps letters that fail again", func(t *testing.T) {
		want := []string{
			"gone StubbornFunction: 1 records of its stream gone", "left StubbornFunction: 1 records of its stream it failed again",
			"left StubbornFunction: 1 records of its stream it failed again", "left StubbornFunction: 2 records of its stream it failed again",
			"left hello " + nothing, foreign, "sent " + job,
		}
		if diff := cmp.Diff(want, r.mustEmpty(t, deadletter.Redriver{})); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		r.mustHave(t, 7)
	})
	t.Run("sends everything back after the repair, except filtered records", func(t *testing.T) {
		if err := os.WriteFile(r.repaired, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		want := []string{
			"gone StubbornFunction: 1 records of its stream gone", "left hello " + nothing, foreign,
			"sent StubbornFunction: 1 records of its stream", "sent StubbornFunction: 1 records of its stream",
			"sent StubbornFunction: 2 records of its stream", "sent " + job,
		}
		if diff := cmp.Diff(want, r.mustEmpty(t, deadletter.Redriver{})); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		lines := []string{"records job/1", "records job/1 job/2", "records job/2", `{"job":"in the background"}`}
		if diff := cmp.Diff(lines, r.mustDo(t, len(lines))); diff != "" {
			t.Errorf("the function got (-want +got):\n%s", diff)
		}
	})
	t.Run("deletes letters whose data no longer exists if requested", func(t *testing.T) {
		want := []string{"gone StubbornFunction: 1 records of its stream gone", "left hello " + nothing, foreign}
		if diff := cmp.Diff(want, r.mustEmpty(t, deadletter.Redriver{DropGone: true})); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if n := len(r.letters.Messages()); n != 2 {
			t.Errorf("%d letters remain", n)
		}
	})
}

// TestEmpty_wakes checks that an abandoned wake is sent to the queue of its kind,
// unchanged, and that one of an unknown kind stays.
func TestEmpty_wakes(t *testing.T) {
	r := newRig(t)
	wakes := map[string]string{ // by their queue
		"DeliveryRetries": `{"kind":"webhook","group":"g1","turn":7}`,
		"Retries":         `{"kind":"a2a","group":"g2","turn":8}`,
	}
	for _, wake := range wakes {
		r.mustSend(t, wake)
	}
	r.mustSend(t, `{"kind":"pigeon","group":"g3","turn":9}`)
	want := []string{
		`left {"kind":"pigeon","group":"g3","turn":9} it is of an unknown kind and cannot be sent back`,
		"sent turn 7 of what waits for a target of kind webhook (g1)",
		"sent turn 8 of what waits for a target of kind a2a (g2)",
	}
	if diff := cmp.Diff(want, r.mustEmpty(t, deadletter.Redriver{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, wake := range wakes {
		back, ok := r.system.Queues().Queue(name)
		if !ok {
			t.Fatalf("no queue %s", name)
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		messages, err := back.Wait(ctx, 1)
		if err != nil || len(messages) != 1 || messages[0].Body != wake {
			t.Errorf("queue %s has %v, want %s: %v", name, messages, wake, err)
		}
	}
	if left := r.letters.Messages(); len(left) != 1 {
		t.Errorf("%d letters remain", len(left))
	}
}

// mustDo waits until the function has written that many lines, and returns them in
// order.
func (r *rig) mustDo(t *testing.T, n int) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		text, err := os.ReadFile(r.repaired)
		if err != nil {
			t.Fatal(err)
		}
		if lines := strings.Split(strings.TrimSpace(string(text)), "\n"); len(lines) >= n {
			slices.Sort(lines)
			return lines
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			t.Fatalf("the function has written %s", text)
		}
	}
}
