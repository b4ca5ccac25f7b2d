package e2e_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/rethread/rethread/infra/deployment"
	"github.com/rethread/rethread/infra/e2e"
	"github.com/rethread/rethread/infra/redrive/deadletter"
	"github.com/rethread/rethread/shared/sqsqueue"
)

// testRedrive has `make redrive` send back a notification whose receiver was down,
// once as SQS puts it aside and once as the function does.
func testRedrive(t *testing.T, sys *e2e.System) {
	t.Helper()
	impatient := sys.Of(t, func(template string) string { // a try that fails is the last
		return strings.Replace(template, "maxReceiveCount: 200", "maxReceiveCount: 1", 1)
	})
	r := newReceiver(t, 500)
	c := mustDial(t, impatient, impatient.User(t, "alice"), a2a.TransportProtocolJSONRPC, "1.0")
	req := say("", "hello")
	req.Config = &a2a.SendMessageConfig{ReturnImmediately: true, PushConfig: &a2a.PushConfig{URL: r.url}}
	mustSend(t, c, req)
	r.mustUpTo(t, "TASK_STATE_COMPLETED") // what came behind went its way

	d, err := deployment.Find(t.Context(), deployment.Place{URL: impatient.URL})
	if err != nil {
		t.Fatal(err)
	}
	letter := mustLieIn(t, d, deadletter.Abandoned)
	if out, err := redrive(t, impatient, "DRY=1"); err != nil || !strings.Contains(out, "seen  run.started") {
		t.Errorf("%v\n%s", err, out)
	}
	back := func() {
		t.Helper()
		if out, err := redrive(t, impatient, "QUEUE=abandoned"); err != nil || !strings.Contains(out, "1 sent back, 0 left, 0 gone") {
			t.Fatalf("%v\n%s", err, out)
		}
		if n := r.mustNext(t); n.answer != 204 || !strings.Contains(string(n.body), "TASK_STATE_WORKING") {
			t.Errorf("told is %d %s", n.answer, n.body)
		}
	}
	back()
	queue := sqsqueue.New(d.Services.SQS, d.Resource(deployment.Queue, "Deliveries"), d.Resource(deployment.Queue, deadletter.Abandoned))
	given := sqsqueue.Abandoned{Reason: "the target answers 500", Tries: 40, Body: json.RawMessage(aws.ToString(letter.Body))}
	if err := queue.GiveUp(t.Context(), given, letter.Attributes["MessageGroupId"], "again"); err != nil {
		t.Fatal(err)
	}
	back()
	if out, err := redrive(t, impatient); err != nil || !strings.Contains(out, "0 sent back, 0 left, 0 gone") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := redrive(t, impatient, "QUEUE=other"); err == nil || !strings.Contains(out, "QUEUE is abandoned or failures") {
		t.Errorf("%v\n%s", err, out)
	}
}

// mustLieIn waits for a message in a queue, and leaves it there to be received.
func mustLieIn(t *testing.T, d *deployment.Deployment, queue string) (found types.Message) {
	t.Helper()
	url := aws.String(d.Resource(deployment.Queue, queue))
	await(t, "a letter in "+queue, func(ctx context.Context) bool {
		out, err := d.Services.SQS.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
			QueueUrl: url, MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
		})
		if err != nil || len(out.Messages) == 0 {
			return false
		}
		found = out.Messages[0]
		return true
	})
	if _, err := d.Services.SQS.ChangeMessageVisibility(t.Context(), &sqs.ChangeMessageVisibilityInput{
		QueueUrl: url, ReceiptHandle: found.ReceiptHandle, VisibilityTimeout: 0,
	}); err != nil {
		t.Fatal(err)
	}
	return found
}

func redrive(t *testing.T, sys *e2e.System, env ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "run", "./infra/redrive")
	cmd.Dir = sys.Root
	cmd.Env = append(os.Environ(), "STACK=", "QUEUE=", "DRY=", "DROP=", "RETHREAD_URL="+sys.URL)
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}
