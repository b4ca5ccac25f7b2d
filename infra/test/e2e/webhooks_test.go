package e2e_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	cloudevents "github.com/cloudevents/sdk-go/v2/event"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/rethread/rethread/infra/test/e2e"
	"github.com/rethread/rethread/shared/domain/notification"
)

const webhooks = api + "/webhooks"

// mustHook registers a webhook, and returns its path and secret.
func mustHook(t *testing.T, u *e2e.User, body e2e.M) (path, secret string) {
	t.Helper()
	made := u.Post(webhooks, body, e2e.Header("Idempotency-Key", uuid.NewString())).Want(201)
	return webhooks + "/" + made.Str("data.id"), made.Str("data.secret")
}

// mustOpen verifies and parses a message like a receiver.
func mustOpen(t *testing.T, n posted, secrets ...string) cloudevents.Event {
	t.Helper()
	for _, secret := range secrets {
		receiver, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			t.Fatal(err)
		}
		if err := receiver.Verify(n.body, n.header); err != nil {
			t.Errorf("%v: %v", err, n.header)
		}
	}
	var e cloudevents.Event
	if err := json.Unmarshal(n.body, &e); err != nil {
		t.Fatalf("%v: %s", err, n.body)
	}
	if err := e.Validate(); err != nil || n.header.Get("Content-Type") != cloudevents.ApplicationCloudEventsJSON {
		t.Errorf("%v: %s, headers %v", err, n.body, n.header)
	}
	return e
}

func dataOf(t *testing.T, e cloudevents.Event) notification.EventData {
	t.Helper()
	var d notification.EventData
	if err := e.DataAs(&d); err != nil {
		t.Fatal(err)
	}
	return d
}

// mustTest sends a test event, which follows everything queued before, and returns
// the notifications up to it.
func (r *inbox) mustTest(t *testing.T, u *e2e.User, path string) (before []posted, test posted) {
	t.Helper()
	u.Post(path+"/test", nil, e2e.Header("Idempotency-Key", uuid.NewString())).Want(202)
	for {
		n := r.mustNext(t)
		if strings.Contains(string(n.body), `"type":"webhook.test"`) {
			return before, n
		}
		before = append(before, n)
	}
}

// mustRead reads a resource that is polled.
func mustRead(ctx context.Context, t *testing.T, u *e2e.User, path string) *e2e.Answer {
	t.Helper()
	answer, err := u.Try(ctx, http.MethodGet, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return answer.Want(200)
}

// mustDeliver waits until a delivery has a state.
func mustDeliver(t *testing.T, u *e2e.User, path, state string) *e2e.Answer {
	t.Helper()
	var got *e2e.Answer
	await(t, "the delivery to be "+state, func(ctx context.Context) bool {
		got = mustRead(ctx, t, u, path)
		return got.Str("data.state") == state
	})
	return got
}

// mustFinish runs an agent and waits for the end.
func mustFinish(t *testing.T, u *e2e.User, session, text string) (run string) {
	t.Helper()
	_, run = mustRun(t, u, session, text, nil)
	await(t, "the end of the run", func(ctx context.Context) bool {
		return mustRead(ctx, t, u, session+"/runs/"+run).Str("data.status") == "completed"
	})
	return run
}

// testWebhooks checks webhooks, from an event to the receiver.
func testWebhooks(t *testing.T, sys *e2e.System) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, *e2e.System){
		"delivers events in order, signed, and retries":                  testWebhookDelivery,
		"applies the filters":                                            testWebhookFilters,
		"rotates secrets without a gap":                                  testWebhookRotation,
		"disables a webhook that is gone until its owner reactivates it": testWebhookGone,
		"a deleted webhook gets no more events":                          testWebhookDeleted,
		"refuses addresses of private networks":                          testWebhookAddresses,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, sys)
		})
	}
}

func testWebhookDelivery(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice := sys.User(t, "alice")
	r := newInbox(t, http.StatusInternalServerError, http.StatusFound)
	path, secret := mustHook(t, alice, e2e.M{"url": r.url, "types": []string{"run.*"}})
	session := mustCreate(t, alice, nil)
	runs := []string{mustFinish(t, alice, session, "hello"), mustFinish(t, alice, session, "hello again")}

	var received []string
	var first []posted
	for len(received) < 4 {
		n := r.mustNext(t)
		e := mustOpen(t, n, secret)
		if len(received) == 0 {
			first = append(first, n)
		}
		if n.answer < 300 {
			received = append(received, e.Type()+" "+dataOf(t, e).RunID)
		}
		d := dataOf(t, e)
		if e.Source() != session || d.SessionID != strings.TrimPrefix(session, api+"/sessions/") || d.UserID != alice.ID ||
			e.Subject() != "runs/"+d.RunID {
			t.Errorf("%s", n.body)
		}
	}
	want := []string{"run.started " + runs[0], "run.completed " + runs[0], "run.started " + runs[1], "run.completed " + runs[1]}
	if diff := cmp.Diff(want, received); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	id := first[0].header.Get("webhook-id")
	for _, n := range first {
		if n.header.Get("webhook-id") != id || string(n.body) != string(first[0].body) {
			t.Errorf("another message: %s, %v", n.body, n.header)
		}
	}
	record := path + "/deliveries/" + id
	done := mustDeliver(t, alice, record, "delivered")
	if len(first) != 3 || len(done.List("data.attempts")) != 3 || done.Int("data.attempts.0.status") != 500 ||
		done.Int("data.attempts.1.status") != 302 || done.Int("data.attempts.2.status") != 204 || done.Int("data.tries") != 3 {
		t.Errorf("%d attempts, recorded %s", len(first), done.Body)
	}

	alice.Post(record+"/replay", nil, e2e.Header("Idempotency-Key", uuid.NewString())).Want(202)
	if n := r.mustNext(t); n.header.Get("webhook-id") != id || string(n.body) != string(first[0].body) {
		t.Errorf("replayed as %s, %v", n.body, n.header)
	}
	await(t, "the record of the replay", func(ctx context.Context) bool {
		return mustRead(ctx, t, alice, record).Int("data.tries") == 4
	})
	var listed []string
	for _, page := range allPages(t, alice, path+"/deliveries?limit=3") {
		listed = append(listed, page.Each("data", "event_type")...)
	}
	slices.Reverse(listed)
	if diff := cmp.Diff([]string{"run.started", "run.completed", "run.started", "run.completed"}, listed); diff != "" {
		t.Errorf("listed (-want +got):\n%s", diff)
	}
	alice.Get(path + "/deliveries/none").Want(404)
	sys.User(t, "mallory").Get(record).Want(404)
}

// listener is a receiver with its webhook, its expected state and its
// notifications.
type listener struct {
	*inbox
	path, secret string
	want         []string
	seen         []posted
}

// notified reports whether the listener was notified of the end of a run.
func (l *listener) notified(run string) bool {
	return slices.ContainsFunc(l.seen, func(n posted) bool {
		return strings.Contains(string(n.body), `"type":"run.completed","subject":"runs/`+run+`"`)
	})
}

func testWebhookFilters(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice := sys.User(t, "alice")
	session, other := mustCreate(t, alice, nil), mustCreate(t, alice, nil)
	mustFinish(t, alice, session, "before there was a webhook")
	listen := func(want []string, filters e2e.M) *listener {
		l := &listener{inbox: newInbox(t), want: want}
		filters["url"] = l.url
		l.path, l.secret = mustHook(t, alice, filters)
		return l
	}
	both, ends := []string{"run.started", "run.completed"}, []string{"run.completed"}
	sessionID := strings.TrimPrefix(session, api+"/sessions/")
	all := []*listener{
		listen(slices.Concat(both, both), e2e.M{"types": []string{"run.*"}}),
		listen(slices.Concat(ends, ends), e2e.M{"types": []string{"run.completed", "session.forked"}}),
		listen(both, e2e.M{"types": []string{"run.*"}, "session_ids": []string{sessionID}}),
		listen(slices.Concat(both, both), e2e.M{"types": []string{"run.*"}, "agents": []string{"demo", "other"}}),
		listen(nil, e2e.M{"types": []string{"run.*"}, "agents": []string{"other"}}),
		listen(nil, e2e.M{"types": []string{"run.failed", "feedback.*"}}),
	}
	for _, s := range []string{session, other} {
		_, run := mustRun(t, alice, s, "hello", e2e.M{"agent": "demo"})
		for _, l := range all { // a test event cannot overtake the notification of the end
			for len(l.want) > 0 && !l.notified(run) && (s == session || l != all[2]) {
				l.seen = append(l.seen, l.mustNext(t))
			}
		}
	}
	for i, l := range all {
		before, test := l.mustTest(t, alice, l.path)
		mustOpen(t, test, l.secret)
		var got []string
		for _, n := range append(l.seen, before...) {
			got = append(got, mustOpen(t, n, l.secret).Type())
		}
		if diff := cmp.Diff(l.want, got); diff != "" {
			t.Errorf("listener %d (-want +got):\n%s", i, diff)
		}
	}
}

func testWebhookRotation(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice := sys.User(t, "alice")
	r := newInbox(t)
	path, first := mustHook(t, alice, e2e.M{"url": r.url})
	_, n := r.mustTest(t, alice, path)
	mustOpen(t, n, first)
	second := alice.Post(path+"/secret/rotate", e2e.M{}).Want(200).Str("data.secret")
	_, n = r.mustTest(t, alice, path)
	mustOpen(t, n, first, second)
	if got := len(strings.Fields(n.header.Get("webhook-signature"))); got != 2 || first == second {
		t.Errorf("%d signatures", got)
	}
	third := alice.Post(path+"/secret/rotate", e2e.M{"revoke": true}).Want(200).Str("data.secret")
	_, n = r.mustTest(t, alice, path)
	mustOpen(t, n, third)
	if got := len(strings.Fields(n.header.Get("webhook-signature"))); got != 1 {
		t.Errorf("%d signatures after the others were revoked", got)
	}
	if got := alice.Get(path + "/secret").Want(200).Str("data.secret"); got != third {
		t.Errorf("shows %q", got)
	}
}

func testWebhookGone(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice := sys.User(t, "alice")
	r := newInbox(t, http.StatusGone)
	path, secret := mustHook(t, alice, e2e.M{"url": r.url})
	test := alice.Post(path+"/test", nil).Want(202)
	mustOpen(t, r.mustNext(t), secret)
	record := path + "/deliveries/" + test.Str("data.id")
	mustDeliver(t, alice, record, "failed")
	if got := alice.Get(path).Want(200); got.Str("data.status") != "disabled" || got.Str("data.disabled_reason") != "gone" {
		t.Errorf("the webhook is %s", got.Body)
	}
	alice.Post(path+"/test", nil).Want(409)
	alice.Post(record+"/replay", nil).Want(409)
	if got := alice.Patch(path, e2e.M{"status": "active"}).Want(200); got.Raw("data.disabled_reason") != "null" {
		t.Errorf("the webhook is %s", got.Body)
	}
	alice.Post(record+"/replay", nil).Want(202)
	if n := r.mustNext(t); n.header.Get("webhook-id") != test.Str("data.id") {
		t.Errorf("arrived as %v", n.header)
	}
	mustDeliver(t, alice, record, "delivered")
}

func testWebhookDeleted(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice := sys.User(t, "alice")
	r, stays := newInbox(t), newInbox(t)
	path, _ := mustHook(t, alice, e2e.M{"url": r.url})
	kept, _ := mustHook(t, alice, e2e.M{"url": stays.url})
	r.mustTest(t, alice, path)
	alice.Delete(path).Want(204)
	alice.Get(path).Want(404)
	alice.Delete(path).Want(404)
	session := mustCreate(t, alice, nil)
	mustFinish(t, alice, session, "hello")
	stays.mustUpTo(t, "run.completed")
	stays.mustTest(t, alice, kept)
	if n := len(r.come); n > 0 {
		t.Errorf("it got %d more events", n)
	}
	report := alice.Delete(api + "/me/data").Want(200)
	if report.Int("data.removed.webhooks") != 1 || report.Int("data.removed.deliveries") < 1 {
		t.Errorf("erased %s", report.Body)
	}
	alice.Get(kept).Want(404)
}

func testWebhookAddresses(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice := sys.User(t, "alice")
	path, _ := mustHook(t, alice, e2e.M{"url": newInbox(t).url})
	for _, url := range []string{
		"https://10.0.0.1/", "https://169.254.169.254/latest/", "https://[fd00::1]/", "https://router.local/", "ftp://example.com/",
	} {
		alice.Post(webhooks, e2e.M{"url": url}).Want(422)
		alice.Patch(path, e2e.M{"url": url}).Want(422)
	}
}
