package e2e_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/rethread/rethread/infra/deployment"
	"github.com/rethread/rethread/infra/e2e"
	"github.com/rethread/rethread/shared/delivery"
	"github.com/rethread/rethread/shared/sqsqueue"
	"github.com/rethread/rethread/shared/webhook"
)

const (
	slowReceivers = 50
	// promptly is how soon somebody is told who has nothing to do with those who are
	// slow.
	promptly = 5 * time.Second
	// lookThrough stands for the 120,000 messages that SQS looks through.
	lookThrough = 300
	deadBacklog = 2000
	deadPart    = 200
)

// swamp is a server of which each path is slow: it answers after all the time that
// it has, or never.
type swamp struct {
	url string

	mu    sync.Mutex
	now   map[string]int // requests under way, by path
	most  int            // at once, to one path
	calls int
}

func newSwamp(t *testing.T) *swamp {
	t.Helper()
	s := &swamp{now: map[string]int{}}
	done := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // else nobody learns that the caller has left
		defer s.enter(r.URL.Path)()
		var late <-chan time.Time // never
		if strings.HasSuffix(r.URL.Path, "0") || strings.HasSuffix(r.URL.Path, "5") {
			late = time.After(9 * time.Second)
		}
		select {
		case <-late:
		case <-done:
		case <-r.Context().Done():
		}
	}))
	s.url = server.URL
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(done) })
	return s
}

func (s *swamp) enter(path string) (leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	s.now[path]++
	s.most = max(s.most, s.now[path])
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.now[path]--
	}
}

// TestSlowReceivers has fifty users with receivers that are slow, and one whose
// receiver is dead and has a backlog; and others who hear in time all the same.
func TestSlowReceivers(t *testing.T) {
	sys := e2e.Start(t, fmt.Sprint("RETHREAD_QUEUE_LIMIT=", lookThrough), "MAX_RUNS=0")
	mud := newSwamp(t)
	var owners []*e2e.User
	for i := range slowReceivers {
		u := sys.User(t, "slow")
		mustHook(t, u, e2e.M{"url": fmt.Sprintf("%s/%d", mud.url, i), "types": []string{"session.created"}})
		owners = append(owners, u)
	}
	happen := func(t *testing.T) { // something happens to all who are slow, at once
		t.Helper()
		var all sync.WaitGroup
		for _, u := range owners {
			all.Go(func() {
				if _, err := u.Try(t.Context(), http.MethodPost, api+"/sessions", e2e.M{}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
	alice := sys.User(t, "alice")
	r := newReceiver(t)
	path, _ := mustHook(t, alice, e2e.M{"url": r.url, "types": []string{"session.created"}})
	hear := func(t *testing.T) time.Duration {
		t.Helper()
		session := mustCreate(t, alice, nil)
		began := time.Now()
		for !strings.Contains(string(r.mustNext(t).body), session) {
		}
		return time.Since(began)
	}
	mustBePrompt := func(t *testing.T, what string, took ...time.Duration) {
		t.Helper()
		var longest time.Duration
		for _, d := range took {
			longest = max(longest, d)
		}
		t.Logf("%s: %d times, within %s at most", what, len(took), longest.Round(time.Millisecond))
		slices.Sort(took)
		if took[len(took)/2] > promptly || longest > 2*promptly { // this machine does much else
			t.Errorf("%s took %s, want %s at most: %v", what, longest, promptly, took)
		}
	}
	mustBePrompt(t, "a webhook, alone", hear(t))
	t.Run("a webhook beside fifty that are slow", func(t *testing.T) {
		happen(t)
		mustBePrompt(t, "a webhook beside fifty that are called for the first time", hear(t), hear(t))
		var took []time.Duration
		for range 4 {
			happen(t)
			took = append(took, hear(t), hear(t))
		}
		mustBePrompt(t, "a webhook beside fifty that are known", took...)
	})
	t.Run("a client over A2A beside them", func(t *testing.T) {
		c := mustDial(t, sys, alice, a2a.TransportProtocolJSONRPC, "1.0")
		var took []time.Duration
		for range 3 {
			happen(t)
			told := newReceiver(t)
			req := say("", "hello")
			req.Config = &a2a.SendMessageConfig{ReturnImmediately: true, PushConfig: &a2a.PushConfig{URL: told.url}}
			mustSend(t, c, req)
			began := time.Now()
			told.mustNext(t)
			took = append(took, time.Since(began))
			told.mustUpTo(t, "TASK_STATE_COMPLETED")
		}
		mustBePrompt(t, "an A2A notification", took...)
	})
	t.Run("an automation beside them", func(t *testing.T) {
		bob := sys.User(t, "bob")
		bob.Post(api+"/automations", e2e.M{
			"name": "greet", "on": e2e.M{"types": []string{"feedback.created"}},
			"do": e2e.M{"agent": "default", "session": "new", "input": "hello"},
		}, e2e.Header("Idempotency-Key", uuid.NewString())).Want(201)
		var took []time.Duration
		for n := range 3 {
			happen(t)
			session := mustCreate(t, bob, nil)
			task := fmt.Sprint("t", n)
			mustSave(t, bob, session, task, "hello")
			before := len(bob.Get(api + "/sessions").Want(200).List("data"))
			bob.Post(api+"/feedback", e2e.M{"taskId": task, "feedbackType": "up", "sessionId": sessionID(session)}).Want(202)
			began := time.Now()
			await(t, "the automation", func(ctx context.Context) bool {
				return len(mustRead(ctx, t, bob, api+"/sessions").List("data")) > before
			})
			took = append(took, time.Since(began))
		}
		mustBePrompt(t, "an automation", took...)
	})
	t.Run("a webhook beside one that is dead, with a backlog", func(t *testing.T) {
		testDeadReceiver(t, sys, hear, mustBePrompt)
	})
	mud.mu.Lock()
	defer mud.mu.Unlock()
	t.Logf("%d calls to %d slow receivers, %d at once to any", mud.calls, slowReceivers, mud.most)
	if mud.most != 1 || mud.calls < 2*slowReceivers {
		t.Errorf("%d calls, up to %d at once to one receiver", mud.calls, mud.most)
	}
	for _, d := range alice.Get(path + "/deliveries?limit=1000").Want(200).List("data") {
		if !strings.Contains(string(d), `"tries":1`) {
			t.Logf("a delivery was tried again: %s", d)
		}
	}
}

func sessionID(path string) string { return strings.TrimPrefix(path, api+"/sessions/") }

// testDeadReceiver queues more for a dead receiver than the queue is looked through.
func testDeadReceiver(
	t *testing.T, sys *e2e.System, hear func(*testing.T) time.Duration, prompt func(*testing.T, string, ...time.Duration),
) {
	t.Helper()
	carol := sys.User(t, "carol")
	gone := httptest.NewServer(http.NotFoundHandler())
	path, _ := mustHook(t, carol, e2e.M{"url": gone.URL, "types": []string{"task.saved"}})
	gone.Close()
	d, err := deployment.Find(t.Context(), deployment.Place{URL: sys.URL})
	if err != nil {
		t.Fatal(err)
	}
	target := webhook.Webhook{ID: path[strings.LastIndex(path, "/")+1:], UserID: carol.ID}.Target()
	queue := sqsqueue.New(d.Services.SQS, sqsqueue.URLs{
		Deliveries: map[delivery.Kind]string{webhook.Kind: d.Resource(deployment.Queue, "Deliveries")},
	})
	began := time.Now()
	var took []time.Duration
	for part := range deadBacklog / deadPart {
		var sending errgroup.Group
		sending.SetLimit(4)
		for i := range deadPart {
			sending.Go(func() error {
				return queue.Put(t.Context(), delivery.Delivery{Target: target, Event: delivery.Event{
					ID: fmt.Sprintf("dead.%d.%d", part, i), Type: delivery.TaskSaved, UserID: carol.ID, Time: time.Now().UnixMilli(),
				}})
			})
		}
		if err := sending.Wait(); err != nil {
			t.Fatal(err)
		}
		took = append(took, hear(t))
	}
	prompt(t, "a webhook behind a dead one's backlog", took...)
	parked := func(ctx context.Context) (n int) {
		pages := dynamodb.NewQueryPaginator(d.Services.DynamoDB, &dynamodb.QueryInput{
			TableName:              aws.String(d.Resource(deployment.Table, "Table")),
			KeyConditionExpression: aws.String("PK = :lane AND begins_with(SK, :parked)"), Select: types.SelectCount,
			ExpressionAttributeValues: map[string]types.AttributeValue{
				":lane":   &types.AttributeValueMemberS{Value: "DL#" + target.Group()},
				":parked": &types.AttributeValueMemberS{Value: "P#"},
			},
		})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return -1
			}
			n += int(page.Count)
		}
		return n
	}
	await(t, "all of the backlog to wait aside", func(ctx context.Context) bool { return parked(ctx) == deadBacklog })
	t.Logf("%d deliveries to a dead receiver queued and parked within %s, where %d are looked through", deadBacklog,
		time.Since(began).Round(time.Millisecond), lookThrough)
	prompt(t, "a webhook once that is parked", hear(t))
	carol.Delete(path).Want(204)
}
