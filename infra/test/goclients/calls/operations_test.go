package calls_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	rethread "github.com/rethread/rethread/clients/go"
	"github.com/rethread/rethread/infra/contract"
)

// otherwise lists the operations that programs use in another way: most with the
// SDK of their protocol.
func otherwise() []string {
	return []string{
		"callAgent", "getFromAgent", "postToAgent", "deleteFromAgent", // A2A
		"runAgent", "connectAgent", "joinThread", "stopThread", // AG-UI
		"chatWithAgent", "resumeChat", "listChatMessages", "stopChat", // AI SDK
		"createResponse", "getResponse", "deleteResponse", "cancelResponse", "listInputItems", // Open Responses
		"createConversation", "getConversation", "updateConversation", "deleteConversation",
		"listItems", "addItems", "getItem", "deleteItem", "listModels", "getModel",
		"callMCP", "streamMCP", "endMCP", "getMCPMetadata", "getApiMetadata", // Model Context Protocol
		"getAddresses", // the client itself, when it needs them
	}
}

const (
	artifact = "putArtifact"  // a repeat would store another version
	watching = "watchSession" // it reads the thread first, and repeats by itself
)

func operations(t *testing.T) []contract.Operation {
	t.Helper()
	spec, err := contract.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return spec.Operations()
}

func TestEveryOperationHasAMethod(t *testing.T) {
	t.Parallel()
	var want []string
	for _, o := range operations(t) {
		want = append(want, o.ID)
	}
	slices.Sort(want)
	own := slices.Collect(maps.Keys(methods(t.Context(), nil)))
	got := slices.Concat(own, otherwise())
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the contract's operations (-want), those of the client and the others (+got):\n%s", diff)
	}
	t.Logf("%d operations, %d of them with a method", len(want), len(own))
}

// TestMethods checks that each method sends what the contract says, and repeats it when
// that is safe.
func TestMethods(t *testing.T) {
	t.Parallel()
	for _, o := range operations(t) {
		if slices.Contains(otherwise(), o.ID) {
			continue
		}
		t.Run(o.ID, func(t *testing.T) {
			t.Parallel()
			testRequest(t, o)
			if o.ID != watching {
				testRepeats(t, o)
			}
		})
	}
}

func testRequest(t *testing.T, o contract.Operation) {
	t.Helper()
	keyed := slices.Contains(o.Parameters, "Idempotency-Key")
	got := (&network{id: o.ID}).want(t)
	path := regexp.MustCompile("^" + regexp.MustCompile(`\\\{\w+\\\}`).ReplaceAllString(regexp.QuoteMeta(o.Path), "[^/]+") + "$")
	if got.method != o.Method || !path.MatchString(got.path) {
		t.Errorf("it sends %s %s, not %s %s", got.method, got.path, o.Method, o.Path)
	}
	for name := range got.query {
		if !slices.Contains(o.Parameters, name) {
			t.Errorf("the operation has no parameter %s", name)
		}
	}
	if got.header.Get("Authorization") != "Bearer token" || (got.header.Get("Idempotency-Key") != "") != keyed {
		t.Errorf("it sends the headers %v; it has a key: %t", got.header, keyed)
	}
	if keyed {
		own := (&network{id: o.ID}).want(t, rethread.WithIdempotencyKey("mine"))
		if key := own.header.Get("Idempotency-Key"); key != "mine" {
			t.Errorf("it sends the key %q instead of the caller's", key)
		}
	}
}

func testRepeats(t *testing.T, o contract.Operation) {
	t.Helper()
	for name, f := range map[string]failure{"429": {status: 429}, "503": {status: 503}, "a lost answer": {lost: true}} {
		n := &network{id: o.ID, failures: []failure{f}}
		err := n.call(t)
		if o.ID == artifact && f.status != http.StatusTooManyRequests {
			if err == nil || len(n.asked) != 1 {
				t.Errorf("after %s it is sent %d times: %v", name, len(n.asked), err)
			}
			continue
		}
		if err != nil || len(n.asked) != 2 {
			t.Errorf("after %s it is sent %d times: %v", name, len(n.asked), err)
		} else if diff := cmp.Diff(n.asked[0], n.asked[1], cmp.AllowUnexported(asked{})); diff != "" {
			t.Errorf("after %s another request is sent:\n%s", name, diff)
		}
	}
	if o.Method == http.MethodDelete && o.ID != "eraseMyData" {
		n := &network{id: o.ID, failures: []failure{{lost: true}, {status: http.StatusNotFound}}}
		if err := n.call(t); err != nil {
			t.Errorf("a repeat that finds nothing fails: %v", err)
		}
	}
	if slices.Contains(o.Parameters, "If-Match") {
		n := &network{id: o.ID, failures: []failure{{lost: true}}}
		err := n.call(t, rethread.IfMatch(`"1"`))
		if !errors.Is(err, rethread.ErrConnection) || len(n.asked) != 1 || n.asked[0].header.Get("If-Match") != `"1"` {
			t.Errorf("after a lost answer a conditional change is sent %d times: %v", len(n.asked), err)
		}
	}
}

// network answers requests: first with failures, then with success.
type network struct {
	id       string
	failures []failure
	asked    []asked
}

type failure struct {
	status int
	lost   bool
}

// asked is a request that was sent.
type asked struct {
	method, path string
	query        map[string][]string
	header       http.Header
	body         string
}

// call makes the call of the operation.
func (n *network) call(t *testing.T, o ...rethread.Option) error {
	t.Helper()
	c, err := rethread.New(rethread.Config{
		URL: "https://api.example", StreamURL: "https://api.example", Token: rethread.StaticToken("token"), HTTP: &http.Client{Transport: n},
		Random: func() float64 { return 0 },
	})
	if err != nil {
		t.Fatal(err)
	}
	call, has := methods(t.Context(), c, o...)[n.id]
	if !has {
		t.Fatal("the client has no method for it")
	}
	return call()
}

// want makes the call, which must succeed, and returns its last request.
func (n *network) want(t *testing.T, o ...rethread.Option) asked {
	t.Helper()
	if err := n.call(t, o...); err != nil {
		t.Fatal(err)
	}
	return n.asked[len(n.asked)-1]
}

var errLost = errors.New("connection reset")

// RoundTrip implements http.RoundTripper.
func (n *network) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	n.asked = append(n.asked, asked{r.Method, r.URL.EscapedPath(), r.URL.Query(), r.Header, string(body)})
	if len(n.failures) == 0 {
		out := answer(r.Context(), http.StatusOK, n.success(r.URL.Path))
		out.Header.Set("X-Artifact-Version", "0")
		return out, nil
	}
	f := n.failures[0]
	n.failures = n.failures[1:]
	if f.lost {
		return nil, errLost
	}
	return answer(r.Context(), f.status, "{}"), nil
}

// success is a body that the method can decode.
func (n *network) success(path string) string {
	switch {
	case strings.HasSuffix(path, "/watch"):
		return "data: {\"type\": \"thread.deleted\", \"session_id\": \"s\", \"cursor\": \"0.0.0\", \"prev\": \"0.0.0\"}\n\n"
	case n.id == watching:
		return `{"data": {"status": "idle", "items": [], "cursor": "0.0.0"}, "meta": {"next_cursor": null}}`
	case n.id == "listMessages":
		return "[]"
	case strings.HasPrefix(n.id, "list"), n.id == "appendEvents", n.id == "pushRunEvents":
		return `{"data": [], "meta": {"next_cursor": null}}`
	}
	return `{"data": {}, "meta": {}}`
}

func answer(ctx context.Context, status int, body string) *http.Response {
	return &http.Response{
		StatusCode: status, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader([]byte(body))),
		Request: (&http.Request{}).WithContext(ctx),
	}
}
