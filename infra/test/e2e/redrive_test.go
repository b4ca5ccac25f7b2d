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
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/infra/ops/deployment"
	"github.com/rethread/rethread/infra/ops/redrive/deadletter"
	"github.com/rethread/rethread/infra/test/e2e"
	"github.com/rethread/rethread/shared/client/queue"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/receiver"
)

// testRedrive has `make redrive` send back a notification whose receiver was down,
// once as SQS moves it to the dead letter queue and once as the function does.
func testRedrive(t *testing.T, sys *e2e.System) {
	t.Helper()
	impatient := sys.Another(t, "DELIVERY_BACKOFF=8s")
	r := newInbox(t, 500)
	c := mustDial(t, impatient, impatient.User(t, "alice"), a2a.TransportProtocolJSONRPC, "1.0")
	req := say("", "hello")
	req.Config = &a2a.SendMessageConfig{ReturnImmediately: true, PushConfig: &a2a.PushConfig{URL: r.url}}
	mustSend(t, c, req)
	d, err := deployment.Find(t.Context(), deployment.Location{URL: impatient.URL})
	if err != nil {
		t.Fatal(err)
	}
	body := mustPark(t, d)
	r.mustUpTo(t, "TASK_STATE_COMPLETED") // it was retried, and later notifications were delivered
	queue := queue.New(d.Services.SQS, queue.URLs{
		Deliveries: map[delivery.Kind]string{receiver.PushKind: d.Resource(deployment.Queue, deadletter.Abandoned)},
		Abandoned:  d.Resource(deployment.Queue, deadletter.Abandoned),
	})
	var given delivery.Delivery
	if err := json.Unmarshal([]byte(body), &given); err != nil {
		t.Fatal(err)
	}
	if err := queue.Put(t.Context(), given); err != nil { // as SQS moves it to the dead letter queue
		t.Fatal(err)
	}
	if out, err := redrive(t, impatient, "DRY=1"); err != nil || !strings.Contains(out, "seen  run.started") {
		t.Errorf("%v\n%s", err, out)
	}
	back := func() {
		t.Helper()
		if out, err := redrive(t, impatient, "QUEUE=abandoned"); err != nil || !strings.Contains(out, "1 sent back, 0 left, 0 gone") {
			t.Fatalf("%v\n%s", err, out)
		}
		if n := r.mustNext(t); n.answer != 204 || !strings.Contains(string(n.body), "TASK_STATE_WORKING") {
			t.Errorf("got %d %s", n.answer, n.body)
		}
	}
	back()
	given.Again = "again"
	if err := queue.Discard(t.Context(), given, "the target answers 500", 40); err != nil {
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

// mustPark waits for a delivery that waits in the table for its next attempt.
func mustPark(t *testing.T, d *deployment.Deployment) (body string) {
	t.Helper()
	await(t, "a delivery that waits", func(ctx context.Context) bool {
		out, err := d.Services.DynamoDB.Scan(ctx, &dynamodb.ScanInput{
			TableName:        aws.String(d.Resource(deployment.Table, "Table")),
			FilterExpression: aws.String("begins_with(PK, :lane) AND begins_with(SK, :parked)"),
			ExpressionAttributeValues: map[string]types.AttributeValue{
				":lane": &types.AttributeValueMemberS{Value: "DL#"}, ":parked": &types.AttributeValueMemberS{Value: "P#"},
			},
		})
		if err != nil || len(out.Items) == 0 {
			return false
		}
		parked, ok := out.Items[0]["d"].(*types.AttributeValueMemberS)
		if ok {
			body = parked.Value
		}
		return ok
	})
	return body
}

func redrive(t *testing.T, sys *e2e.System, env ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), sys.Program("redrive"))
	cmd.Dir = sys.Root
	cmd.Env = append(os.Environ(), "STACK=", "QUEUE=", "DRY=", "DROP=", "RETHREAD_URL="+sys.URL)
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}
