package sse_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
)

func TestPositions(t *testing.T) {
	again := mustPosition("cursor", "0.1.0")
	again.MultiValueHeaders = map[string][]string{"authorization": {"Bearer good"}, "last-event-id": {"0.7.0"}}
	spaced := newEvent()
	spaced.PathParameters["session_id"] = "s%201"
	query := mustPosition("token", "good")
	query.Headers = nil
	for name, c := range map[string]struct {
		event events.APIGatewayProxyRequest
		rest  string
	}{
		"at the current status":              {newEvent(), `"s1"}`},
		"with a token in the query":          {query, `"s1"}`},
		"after a cursor":                     {mustPosition("cursor", "1.2.3"), `"s1","cursor":"1.2.3"}`},
		"with an item":                       {mustPosition("last_item_id", "e 1"), `"s1","last_item_id":"e 1"}`},
		"with an activity":                   {mustPosition("last_activity_id", "e1"), `"s1","last_item_id":"e1"}`},
		"after the last event of the stream": {again, `"s1","cursor":"0.7.0"}`},
		"in a session whose id has a blank":  {spaced, `"s 1"}`},
	} {
		bubble(t, "begins a stream "+name, func(t *testing.T) {
			got := make(chan string, 1)
			a := open(t, newAPI(t, func(s *session) { got <- s.action; s.subscribed(); s.untilClosed() }), c.event)
			a.next()
			want(t, <-got, `{"action":"subscribe","request_id":"stream","session_id":`+c.rest)
		})
	}
}

// TestPayload decodes a recorded event of a REST API.
func TestPayload(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "sse.json"))
	if err != nil {
		t.Fatal(err)
	}
	var event events.APIGatewayProxyRequest
	if err := json.Unmarshal(text, &event); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		got := make(chan string, 1)
		a := open(t, newAPI(t, func(s *session) { got <- s.action; s.subscribed(); s.untilClosed() }), event)
		a.next()
		want(t, <-got, `{"action":"subscribe","request_id":"stream","session_id":"s1","cursor":"0.12.0"}`)
	})
}

func mustPosition(name, value string) events.APIGatewayProxyRequest {
	event := newEvent()
	event.QueryStringParameters = map[string]string{name: value}
	return event
}

// Events are sent in order, each once. The id of an event is where a client
// continues that has applied everything before it: earlier than the newest
// message while a previous item is incomplete.
func TestIDs(t *testing.T) {
	type message struct{ kind, cursor, prev, status string }
	snapshot := func(cursor, prev, status string) message { return message{"item.snapshot", cursor, prev, status} }
	marker := func(kind, cursor, prev string) message { return message{kind, cursor, prev, ""} }
	for name, c := range map[string]struct {
		messages []message
		want     []string // ids and cursors
	}{
		"whole items": {
			[]message{snapshot("0.4.0", "0.3.0", "completed"), snapshot("0.6.0", "0.4.0", "completed")},
			[]string{"0.4.0 0.4.0", "0.6.0 0.6.0"},
		},
		"an item in progress": {[]message{
			snapshot("0.4.0", "0.3.0", "in_progress"), marker("item.delta", "0.4.1", "0.4.0"),
			marker("item.delta", "0.4.9", "0.4.1"), marker("item.completed", "0.4.10", "0.4.9"), snapshot("0.5.0", "0.4.10", "completed"),
		}, []string{"0.4.0 0.4.0", "0.4.1 0.4.1", "0.4.9 0.4.9", "0.4.10 0.4.10", "0.5.0 0.5.0"}},
		"an item that later items overtake": {[]message{
			snapshot("0.4.2", "0.3.0", "in_progress"), snapshot("0.5.0", "0.4.2", "completed"),
			marker("item.delta", "0.4.3", "0.4.2"), marker("item.failed", "0.4.4", "0.4.3"),
		}, []string{"0.4.2 0.4.2", "0.4.2 0.5.0", "0.4.3 0.4.3", "0.5.0 0.4.4"}},
		"a delta is missing": {
			[]message{snapshot("0.4.0", "0.3.0", "in_progress"), marker("item.delta", "0.4.3", "0.4.2")},
			[]string{"0.4.0 0.4.0"},
		},
		"a delta is late": {[]message{
			snapshot("0.4.0", "0.3.0", "in_progress"), marker("item.completed", "0.4.3", "0.4.2"), marker("item.delta", "0.4.2", "0.4.1"),
			marker("item.delta", "0.4.1", "0.4.0"),
		}, []string{"0.4.0 0.4.0", "0.4.3 0.4.3"}},
		"a position is late": {[]message{
			snapshot("0.4.0", "0.3.0", "completed"), snapshot("0.6.0", "0.5.0", "completed"),
			snapshot("0.7.0", "0.6.0", "completed"), snapshot("0.5.0", "0.4.0", "completed"),
		}, []string{"0.4.0 0.4.0", "0.5.0 0.5.0", "0.6.0 0.6.0", "0.7.0 0.7.0"}},
		"every message twice": {[]message{
			snapshot("0.4.0", "0.3.0", "in_progress"), marker("item.delta", "0.4.1", "0.4.0"),
			marker("item.completed", "0.4.2", "0.4.1"), snapshot("0.5.0", "0.4.2", "completed"),
			snapshot("0.4.0", "0.3.0", "in_progress"), marker("item.delta", "0.4.1", "0.4.0"), marker("item.completed", "0.4.2", "0.4.1"),
		}, []string{"0.4.0 0.4.0", "0.4.1 0.4.1", "0.4.2 0.4.2", "0.5.0 0.5.0"}},
		"a rewind": {[]message{
			snapshot("0.4.0", "0.3.0", "in_progress"), marker("thread.rewound", "1.5.0", "0.4.0"),
			marker("item.delta", "0.4.1", "0.4.0"), snapshot("1.6.0", "1.5.0", "completed"),
		}, []string{"0.4.0 0.4.0", "1.5.0 1.5.0", "1.6.0 1.6.0"}},
		"a rewind that is late": {[]message{
			snapshot("0.4.0", "0.3.0", "completed"), snapshot("1.6.0", "1.5.0", "completed"), marker("thread.rewound", "1.5.0", "0.4.0"),
		}, []string{"0.4.0 0.4.0", "1.5.0 1.5.0", "1.6.0 1.6.0"}},
	} {
		bubble(t, name, func(t *testing.T) {
			a := open(t, newAPI(t, func(s *session) {
				s.subscribed()
				s.endReplay("0.3.0", "idle")
				for _, m := range c.messages {
					s.send(`{"type":%q,"session_id":"s1","cursor":%q,"prev":%q,"to_seq":3,"item":{"status":%q}}`, m.kind, m.cursor, m.prev, m.status)
				}
				s.message("thread.deleted", "0.0.0", "0.0.0") // does not wait for missing messages
				s.untilClosed()
			}), newEvent())
			all := a.all()
			if diff := cmp.Diff(c.want, all[1:len(all)-1]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
