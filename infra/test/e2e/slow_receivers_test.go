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
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/rethread/rethread/infra/ops/deployment"
	"github.com/rethread/rethread/infra/test/e2e"
	"github.com/rethread/rethread/shared/client/queue"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/notification"
	"github.com/rethread/rethread/shared/domain/receiver"
)

const (
	slowReceivers = 50
	// A receiver that slow receivers do not concern must get an event within promptly or,
	// on a busy machine, within several times what it takes beside as many prompt ones.
	promptly = 5 * time.Second
	several  = 5
	// lookThrough replaces the 120,000 messages that SQS searches.
	lookThrough = 150
	deadBacklog = 600
	deadPart    = 100
)

// swamp is a server whose paths become slow on request: it answers at the end of
// its time limit, or never.
type swamp struct {
	url  string
	slow atomic.Bool

	mu    sync.Mutex
	now   map[string]int // requests in progress, by path
	most  int            // concurrent requests to one path
	calls int
}

func newSwamp(t *testing.T) *swamp {
	t.Helper()
	s := &swamp{now: map[string]int{}}
	done := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // otherwise the disconnect of the caller is not noticed
		if !s.slow.Load() {
			return
		}
		defer s.enter(r.URL.Path)()
		var late <-chan time.Time // never sends
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

// crowd is users with a receiver each in a swamp, and one user with a prompt
// receiver.
type crowd struct {
	sys    *e2e.System
	mud    *swamp
	owners []*e2e.User
	paths  []string // of their webhooks

	alice  *e2e.User
	path   string
	prompt *inbox
	// most limits the time until a receiver gets an event.
	most time.Duration
}

func newCrowd(t *testing.T, sys *e2e.System) *crowd {
	t.Helper()
	c := &crowd{sys: sys, mud: newSwamp(t), alice: sys.User(t, "alice"), prompt: newInbox(t)}
	for i := range slowReceivers {
		u := sys.User(t, "slow")
		path, _ := mustHook(t, u, e2e.M{"url": fmt.Sprintf("%s/%d", c.mud.url, i), "types": []string{"session.created"}})
		c.owners, c.paths = append(c.owners, u), append(c.paths, path)
	}
	c.path, _ = mustHook(t, c.alice, e2e.M{"url": c.prompt.url, "types": []string{"session.created"}})
	return c
}

// happen causes an event for all slow users concurrently.
func (c *crowd) happen(t *testing.T) {
	t.Helper()
	var all sync.WaitGroup
	for _, u := range c.owners {
		all.Go(func() {
			if _, err := u.Try(t.Context(), http.MethodPost, api+"/sessions", e2e.M{}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// promptDelay returns how long the prompt receiver waits for an event.
func (c *crowd) promptDelay(t *testing.T) time.Duration {
	t.Helper()
	session := mustCreate(t, c.alice, nil)
	began := time.Now()
	for !strings.Contains(string(c.prompt.mustNext(t).body), session) {
	}
	return time.Since(began)
}

func (c *crowd) mustBePrompt(t *testing.T, what string, took ...time.Duration) {
	t.Helper()
	longest := slices.Max(took)
	t.Logf("%s: %d times, within %s at most", what, len(took), longest.Round(time.Millisecond))
	if longest > c.most {
		t.Errorf("%s took %s, want %s at most: %v", what, longest, c.most, took)
	}
}

// TestSlowReceivers has fifty users with slow receivers, one with a dead receiver
// and a backlog, and others whose receivers must get their events in time: within
// 5 s or, if this machine needs more than 1 s with fifty-one prompt receivers, five
// times that. In the end all of their lanes are empty.
func TestSlowReceivers(t *testing.T) {
	c := newCrowd(t, e2e.Start(t, fmt.Sprint("RETHREAD_QUEUE_LIMIT=", lookThrough), "MAX_RUNS=0"))
	var alone []time.Duration
	for range 3 {
		c.happen(t)
		alone = append(alone, c.promptDelay(t))
	}
	c.most = max(promptly, several*slices.Max(alone))
	t.Logf("a webhook beside fifty that are prompt takes %v, so beside slow ones %s are allowed", alone, c.most)
	c.mud.slow.Store(true)
	t.Run("a webhook beside fifty slow ones", func(t *testing.T) {
		c.happen(t)
		c.mustBePrompt(t, "a webhook beside fifty that are slow for the first time", c.promptDelay(t), c.promptDelay(t))
		var took []time.Duration
		for range 2 {
			c.happen(t)
			took = append(took, c.promptDelay(t), c.promptDelay(t))
		}
		c.mustBePrompt(t, "a webhook beside fifty that are known", took...)
	})
	t.Run("an A2A client beside them", c.testPush)
	t.Run("an automation beside them", c.testAutomation)
	t.Run("a webhook beside a dead one with a backlog", c.testDead)
	t.Run("their lanes are deleted", c.testLeft)
	c.mud.mu.Lock()
	defer c.mud.mu.Unlock()
	t.Logf("%d calls to %d slow receivers, %d at once to any", c.mud.calls, slowReceivers, c.mud.most)
	if c.mud.most != 1 || c.mud.calls < 2*slowReceivers {
		t.Errorf("%d calls, up to %d at once to one receiver", c.mud.calls, c.mud.most)
	}
}

func (c *crowd) testPush(t *testing.T) {
	client := mustDial(t, c.sys, c.alice, a2a.TransportProtocolJSONRPC, "1.0")
	var took []time.Duration
	for range 2 {
		c.happen(t)
		server := newInbox(t)
		req := say("", "hello")
		req.Config = &a2a.SendMessageConfig{ReturnImmediately: true, PushConfig: &a2a.PushConfig{URL: server.url}}
		mustSend(t, client, req)
		began := time.Now()
		server.mustNext(t)
		took = append(took, time.Since(began))
		server.mustUpTo(t, "TASK_STATE_COMPLETED")
	}
	c.mustBePrompt(t, "an A2A notification", took...)
}

func (c *crowd) testAutomation(t *testing.T) {
	bob := c.sys.User(t, "bob")
	bob.Post(api+"/automations", e2e.M{
		"name": "greet", "on": e2e.M{"types": []string{"feedback.created"}},
		"do": e2e.M{"agent": "default", "session": "new", "input": "hello"},
	}, e2e.Header("Idempotency-Key", uuid.NewString())).Want(201)
	var took []time.Duration
	for n := range 2 {
		c.happen(t)
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
	c.mustBePrompt(t, "an automation", took...)
}

// testLeft deletes the webhooks while deliveries wait for them and they are being
// called.
func (c *crowd) testLeft(t *testing.T) {
	c.happen(t)
	var deleting errgroup.Group
	deleting.SetLimit(8)
	for i, u := range c.owners {
		deleting.Go(func() error {
			answer, err := u.Try(t.Context(), http.MethodDelete, c.paths[i], nil)
			if err == nil && answer.Status != http.StatusNoContent {
				err = fmt.Errorf("DELETE %s: %d %s", c.paths[i], answer.Status, answer.Body)
			}
			return err
		})
	}
	if err := deleting.Wait(); err != nil {
		t.Fatal(err)
	}
	c.alice.Delete(c.path).Want(204)
	groups := []string{target(c.alice, c.path).Group()}
	for i, u := range c.owners {
		groups = append(groups, target(u, c.paths[i]).Group())
	}
	d := c.deployment(t)
	var left []string
	defer func() {
		if len(left) > 0 {
			t.Logf("left are %v", left)
		}
	}()
	await(t, "the lanes of webhooks that are gone to go", func(ctx context.Context) bool {
		var now []string
		for _, group := range groups {
			out, err := d.Services.DynamoDB.Query(ctx, &dynamodb.QueryInput{
				TableName:                 aws.String(d.Resource(deployment.Table, "Table")),
				KeyConditionExpression:    aws.String("PK = :lane"),
				ExpressionAttributeValues: map[string]types.AttributeValue{":lane": &types.AttributeValueMemberS{Value: "DL#" + group}},
			})
			if err != nil {
				return false
			}
			for _, item := range out.Items {
				now = append(now, fmt.Sprint(group, item["SK"], item["du"]))
			}
		}
		left = now
		return len(left) == 0
	})
}

func (c *crowd) deployment(t *testing.T) *deployment.Deployment {
	t.Helper()
	d, err := deployment.Find(t.Context(), deployment.Location{URL: c.sys.URL})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// target is the webhook at a path.
func target(u *e2e.User, path string) delivery.Target {
	return receiver.Webhook{ID: path[strings.LastIndex(path, "/")+1:], UserID: u.ID}.Target()
}

func sessionID(path string) string { return strings.TrimPrefix(path, api+"/sessions/") }

// testDead queues more messages for a dead receiver than the queue is searched.
func (c *crowd) testDead(t *testing.T) {
	carol := c.sys.User(t, "carol")
	gone := httptest.NewServer(http.NotFoundHandler())
	path, _ := mustHook(t, carol, e2e.M{"url": gone.URL, "types": []string{"task.saved"}})
	gone.Close()
	d, target := c.deployment(t), target(carol, path)
	queue := queue.New(d.Services.SQS, queue.URLs{
		Deliveries: map[delivery.Kind]string{receiver.WebhookKind: d.Resource(deployment.Queue, "Deliveries")},
	})
	began := time.Now()
	var took []time.Duration
	for part := range deadBacklog / deadPart {
		var sending errgroup.Group
		sending.SetLimit(4)
		for i := range deadPart {
			sending.Go(func() error {
				return queue.Put(t.Context(), delivery.Delivery{Target: target, Event: notification.Event{
					ID: fmt.Sprintf("dead.%d.%d", part, i), Type: notification.TaskSaved, UserID: carol.ID, Time: time.Now().UnixMilli(),
				}})
			})
		}
		if err := sending.Wait(); err != nil {
			t.Fatal(err)
		}
		took = append(took, c.promptDelay(t))
	}
	c.mustBePrompt(t, "a webhook behind a dead one's backlog", took...)
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
	await(t, "the whole backlog to be parked", func(ctx context.Context) bool { return parked(ctx) == deadBacklog })
	t.Logf("%d deliveries to a dead receiver queued and parked within %s, where %d are looked through", deadBacklog,
		time.Since(began).Round(time.Millisecond), lookThrough)
	c.mustBePrompt(t, "a webhook once that is parked", c.promptDelay(t))
	carol.Delete(path).Want(204)
	await(t, "none of it to wait any more", func(ctx context.Context) bool { return parked(ctx) == 0 })
}
