package boot_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/rethread/rethread/infra/local/awsevents"
	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/transport/gateway"
)

// captured is an event of AWS's own into which a test writes its path.
func captured[Event any](t *testing.T, name string) Event {
	t.Helper()
	var event Event
	if err := json.Unmarshal(awsevents.Captured(t, name), &event); err != nil {
		t.Fatal(err)
	}
	return event
}

func TestPathOfHTTPAPI(t *testing.T) {
	t.Parallel()
	const route = "DELETE /api/v1/sessions/{session_id}/tasks/{task_id}"
	for _, test := range []struct {
		name, route, raw, stage string
		parameters              map[string]string
		want                    string // empty: refused
	}{
		{"plain", route, "/api/v1/sessions/a/tasks/b", "", map[string]string{"session_id": "a", "task_id": "b"}, "/api/v1/sessions/a/tasks/b"},
		{"blanks", route, "/api/v1/sessions/my chat/tasks/b", "", map[string]string{"session_id": "my chat", "task_id": "b"}, "/api/v1/sessions/my%20chat/tasks/b"},
		{"a slash in a parameter", route, "/api/v1/sessions/a/b/tasks/c", "", map[string]string{"session_id": "a/b", "task_id": "c"}, "/api/v1/sessions/a%2Fb/tasks/c"},
		{"cut at an escaped ?", route, "/api/v1/sessions/a", "", map[string]string{"session_id": "a?b", "task_id": "c"}, "/api/v1/sessions/a%3Fb/tasks/c"},
		{"an escaped ? that is not cut", route, "/api/v1/sessions/a?b/tasks/c", "", map[string]string{"session_id": "a?b", "task_id": "c"}, "/api/v1/sessions/a%3Fb/tasks/c"},
		{"an escape that was escaped", route, "/api/v1/sessions/a%2Fb/tasks/c", "", map[string]string{"session_id": "a%2Fb", "task_id": "c"}, "/api/v1/sessions/a%252Fb/tasks/c"},
		{"below a stage", route, "/live/api/v1/sessions/a/tasks/b", "live", map[string]string{"session_id": "a", "task_id": "b"}, "/api/v1/sessions/a/tasks/b"},
		{"a parameter that takes the rest", "GET /console/{path+}", "/console/assets/my app.js", "", map[string]string{"path": "assets/my app.js"}, "/console/assets/my%20app.js"},
		{"a parameter is missing", route, "/api/v1/sessions/a", "", map[string]string{"session_id": "a"}, ""},
		{"a parameter of another path", route, "/api/v1/sessions/x/tasks/b", "", map[string]string{"session_id": "a", "task_id": "b"}, ""},
		{"the path goes on", route, "/api/v1/sessions/a/tasks/b/c", "", map[string]string{"session_id": "a", "task_id": "b"}, ""},
		{"cut elsewhere", route, "/api/v1/sess", "", map[string]string{"session_id": "a?b", "task_id": "c"}, ""},
		{"no route", "$default", "/api/v1/sessions/a", "", nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			event := captured[events.APIGatewayV2HTTPRequest](t, "apigw-v2-request-jwt-authorizer")
			event.RouteKey, event.RawPath, event.PathParameters = test.route, test.raw, test.parameters
			if test.stage != "" {
				event.RequestContext.Stage = test.stage
			}
			got := ""
			answer, err := boot.HTTP(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				got = r.URL.EscapedPath()
				if r.URL.RawQuery != event.RawQueryString || len(r.Cookies()) != 0 && r.Cookies()[0].Name == "" {
					t.Errorf("the query is %q", r.URL.RawQuery)
				}
				w.WriteHeader(http.StatusNoContent)
			}))(t.Context(), event)
			if err != nil || got != test.want {
				t.Fatalf("%v: asked for %q, want %q", err, got, test.want)
			}
			if test.want == "" && (answer.StatusCode != http.StatusBadRequest || !strings.Contains(answer.Body, `"detail"`) ||
				answer.Headers["Content-Type"] != "application/problem+json") {
				t.Errorf("answered %+v", answer)
			}
		})
	}
}

func TestPathOfRESTAPI(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, path, full, want, base string }{
		{"plain", "/a2a/demo", "/live/a2a/demo", "/a2a/demo", "https://gy415nuibc.execute-api.us-east-1.amazonaws.com/live"},
		{"blanks", "/api/sessions/my%20chat/export", "/live/api/sessions/my%20chat/export", "/api/sessions/my%20chat/export", "https://gy415nuibc.execute-api.us-east-1.amazonaws.com/live"},
		{"what needs no escape", "/a2a/demo/message%3Asend", "/a2a/demo/message:send", "/a2a/demo/message:send", "https://gy415nuibc.execute-api.us-east-1.amazonaws.com"},
		{"an escaped ?", "/api/sessions/a%3fb/export", "/live/api/sessions/a%3Fb/export", "/api/sessions/a%3Fb/export", "https://gy415nuibc.execute-api.us-east-1.amazonaws.com/live"},
		{"an escaped slash", "/api/sessions/a%2fb/export", "/api/sessions/a%2fb/export", "/api/sessions/a%2Fb/export", "https://gy415nuibc.execute-api.us-east-1.amazonaws.com"},
		{"an escape that was escaped", "/api/sessions/a%2520b", "/live/api/sessions/a%2520b", "/api/sessions/a%2520b", "https://gy415nuibc.execute-api.us-east-1.amazonaws.com/live"},
		{"no escape at all", "/api/sessions/a%zz", "/live/api/sessions/a%zz", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			event := captured[events.APIGatewayProxyRequest](t, "apigw-request")
			event.Path, event.RequestContext.Path = test.path, test.full
			event.RequestContext.Authorizer = nil
			var got, base string
			answer, err := boot.Streaming(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				got, base = r.URL.EscapedPath(), gateway.Base(r.Context())
				if r.URL.Query().Get("name") != "me" || r.Header.Get("HeaderName") != "headerValue" {
					t.Errorf("got %s with %v", r.URL, r.Header)
				}
			}), slog.New(slog.DiscardHandler), time.Now)(t.Context(), event)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(answer.Body)
			if err != nil || got != test.want || base != test.base {
				t.Fatalf("%v: asked for %q below %q, want %q below %q", err, got, base, test.want, test.base)
			}
			if refused := answer.StatusCode == http.StatusBadRequest && strings.Contains(string(body), `"detail"`); refused != (test.want == "") {
				t.Errorf("answered %d %s", answer.StatusCode, body)
			}
		})
	}
}
