package sse_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

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
		"nowhere in particular":              {newEvent(), `"s1"}`},
		"with a token in the query":          {query, `"s1"}`},
		"after a cursor":                     {mustPosition("cursor", "1.2.3"), `"s1","cursor":"1.2.3"}`},
		"with an item":                       {mustPosition("last_item_id", "e 1"), `"s1","last_item_id":"e 1"}`},
		"with an activity":                   {mustPosition("last_activity_id", "e1"), `"s1","last_item_id":"e1"}`},
		"after the last event of the stream": {again, `"s1","cursor":"0.7.0"}`},
		"in a session with a blank":          {spaced, `"s 1"}`},
	} {
		t.Run("a stream begins "+name, func(t *testing.T) {
			got := make(chan string, 1)
			a := open(t, newAPI(t, func(s *session) { got <- s.action; s.subscribed(); s.untilClosed() }), c.event)
			a.next()
			want(t, <-got, `{"action":"subscribe","request_id":"stream","session_id":`+c.rest)
		})
	}
}

// An event as a REST API sends it.
func TestPayload(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "watchstream.json"))
	if err != nil {
		t.Fatal(err)
	}
	var event events.APIGatewayProxyRequest
	if err := json.Unmarshal(text, &event); err != nil {
		t.Fatal(err)
	}
	got := make(chan string, 1)
	a := open(t, newAPI(t, func(s *session) { got <- s.action; s.subscribed(); s.untilClosed() }), event)
	a.next()
	want(t, <-got, `{"action":"subscribe","request_id":"stream","session_id":"s1","cursor":"0.12.0"}`)
}

func mustPosition(name, value string) events.APIGatewayProxyRequest {
	event := newEvent()
	event.QueryStringParameters = map[string]string{name: value}
	return event
}

// The id of an event is where a client goes on that has applied all before it:
// further back than the newest message while an item before it is incomplete or
// a message is late.
func TestIDs(t *testing.T) {
	type message struct{ kind, cursor, prev, status, id string }
	snapshot := func(cursor, prev, status, id string) message {
		return message{"item.snapshot", cursor, prev, status, id}
	}
	say := func(kind, cursor, prev, id string) message { return message{kind, cursor, prev, "", id} }
	for name, messages := range map[string][]message{
		"whole items": {snapshot("0.4.0", "0.3.0", "completed", "0.4.0"), snapshot("0.6.0", "0.4.0", "completed", "0.6.0")},
		"an item in progress": {
			snapshot("0.4.0", "0.3.0", "in_progress", "0.4.0"), say("item.delta", "0.4.1", "0.4.0", "0.4.1"),
			say("item.delta", "0.4.9", "0.4.1", "0.4.9"), say("item.completed", "0.4.9", "0.4.9", "0.4.9"),
			say("thread.status", "0.5.0", "0.4.9", "0.5.0"),
		},
		"an item behind which others come": {
			snapshot("0.4.2", "0.3.0", "in_progress", "0.4.2"), snapshot("0.5.0", "0.4.2", "completed", "0.4.2"),
			say("item.delta", "0.4.3", "0.4.2", "0.4.3"), say("item.failed", "0.4.3", "0.4.3", "0.5.0"),
		},
		"a delta is missing": {
			snapshot("0.4.0", "0.3.0", "in_progress", "0.4.0"), say("item.delta", "0.4.3", "0.4.2", "0.4.0"),
		},
		"a position is late": {
			snapshot("0.4.0", "0.3.0", "completed", "0.4.0"), snapshot("0.6.0", "0.5.0", "completed", "0.4.0"),
			snapshot("0.7.0", "0.6.0", "completed", "0.4.0"), snapshot("0.5.0", "0.4.0", "completed", "0.7.0"),
		},
		"everything comes twice": {
			snapshot("0.4.0", "0.3.0", "in_progress", "0.4.0"), say("item.delta", "0.4.1", "0.4.0", "0.4.1"),
			say("item.completed", "0.4.1", "0.4.1", "0.4.1"), snapshot("0.5.0", "0.4.1", "completed", "0.5.0"),
			snapshot("0.4.0", "0.3.0", "in_progress", "0.5.0"), say("item.delta", "0.4.1", "0.4.0", "0.5.0"),
			say("item.completed", "0.4.1", "0.4.1", "0.5.0"),
		},
		"a rewind": {
			snapshot("0.4.0", "0.3.0", "in_progress", "0.4.0"), say("thread.rewound", "1.5.0", "0.4.0", "1.5.0"),
			say("item.delta", "0.4.1", "0.4.0", "1.5.0"), snapshot("1.6.0", "1.5.0", "completed", "1.6.0"),
		},
		"a rewind that is late": {
			snapshot("0.4.0", "0.3.0", "completed", "0.4.0"), snapshot("1.6.0", "1.5.0", "completed", "0.4.0"),
			say("thread.rewound", "1.5.0", "0.4.0", "1.5.0"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := open(t, newAPI(t, func(s *session) {
				s.subscribed()
				for _, m := range messages {
					s.send(`{"type":%q,"session_id":"s1","cursor":%q,"prev":%q,"item":{"status":%q}}`, m.kind, m.cursor, m.prev, m.status)
				}
				s.untilClosed()
			}), newEvent())
			a.next()
			var ids []string
			for _, m := range messages {
				ids = append(ids, m.id)
			}
			if diff := cmp.Diff(ids, a.ids(len(ids))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
