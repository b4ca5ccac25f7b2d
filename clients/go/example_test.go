package rethread_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	rethread "github.com/rethread/rethread/clients/go"
)

// server answers requests by method and path, in the place of a deployment.
type server map[string]string

// RoundTrip implements http.RoundTripper.
func (s server) RoundTrip(r *http.Request) (*http.Response, error) {
	status, body := http.StatusOK, s[r.Method+" "+r.URL.RequestURI()]
	if body == "" {
		status, body = http.StatusNotFound, `{"title": "Not Found", "detail": "no such session"}`
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

func open(s server) *rethread.Client {
	client, err := rethread.New(rethread.Config{
		URL: "https://api.example", StreamURL: "https://api.example", Token: rethread.StaticToken("token"), HTTP: &http.Client{Transport: s},
	})
	if err != nil {
		panic(err)
	}
	return client
}

// A list is read page by page while it is used.
func ExampleList_All() {
	client := open(server{
		"GET /api/v1/sessions?agent=guide":          `{"data": [{"id": "s1", "name": "Lisbon"}], "meta": {"next_cursor": "2"}}`,
		"GET /api/v1/sessions?agent=guide&cursor=2": `{"data": [{"id": "s2", "name": "Porto"}], "meta": {"next_cursor": null}}`,
	})
	for session, err := range client.Sessions.List(rethread.SessionQuery{Agent: "guide"}).All(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(session.ID, session.Name)
	}
	// Output:
	// s1 Lisbon
	// s2 Porto
}

// The reasons of failures are told apart with errors.Is; Error has the rest.
func ExampleError() {
	_, err := open(server{}).Sessions.Get(context.Background(), "s1")
	var failed *rethread.Error
	if errors.Is(err, rethread.ErrNotFound) && errors.As(err, &failed) {
		fmt.Println(failed.Status, failed.Detail)
	}
	// Output: 404 no such session
}

// Events of an invocation can be appended again: the server knows them by their ids.
func ExampleInvocation() {
	client := open(server{"POST /api/v1/sessions/s1/events": `{"data": [
		{"id": "turn-1.1", "seq": 1, "author": "user"}, {"id": "turn-1.2", "seq": 2, "author": "guide"}]}`})
	turn := client.Events.Invocation("s1", "turn-1")
	stored, err := turn.Append(context.Background(), []rethread.EventRequest{
		{Author: "user", Content: rethread.Text("user", "Lisbon in May?")},
		{Author: "guide", Content: rethread.Text("model", "Lovely.")},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, event := range stored {
		fmt.Println(event.ID, event.Author)
	}
	// Output:
	// turn-1.1 user
	// turn-1.2 guide
}
