package notification_test

import (
	"encoding/json"
	"testing"

	sdk "github.com/cloudevents/sdk-go/v2/event"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/domain/notification"
)

func TestEncode(t *testing.T) {
	t.Parallel()
	const head = `{"specversion":"1.0","id":"l.7","source":"/api/v1/sessions/s%2F1","type":`
	const times = `"time":"2025-01-02T00:00:00.007Z","datacontenttype":"application/json",`
	for name, test := range map[string]struct {
		event notification.Event
		want  string
	}{
		"a session": {
			event: notification.Event{Type: notification.SessionCreated},
			want:  head + `"session.created",` + times + `"data":{"user_id":"u","session_id":"s/1","agent":"a"}}`,
		},
		"a run that failed": {
			event: notification.Event{Type: notification.RunFailed, RunID: "r", Seq: 7, Error: "agent_error"},
			want: head + `"run.failed","subject":"runs/r",` + times +
				`"data":{"user_id":"u","session_id":"s/1","agent":"a","run_id":"r","seq":7,"error":{"code":"agent_error"}}}`,
		},
		"a fork": {
			event: notification.Event{Type: notification.SessionForked, Source: "old", Before: "turn"},
			want: head + `"session.forked",` + times + `"data":{"user_id":"u","session_id":"s/1","agent":"a",` +
				`"source_session_id":"old","rewind_before_invocation_id":"turn"}}`,
		},
		"the first version of an artifact": {
			event: notification.Event{Type: notification.ArtifactSaved, Artifact: "user:a b.png"},
			want: head + `"artifact.saved","subject":"artifacts/user:a%20b.png?version=0",` + times +
				`"data":{"user_id":"u","session_id":"s/1","agent":"a","artifact":{"name":"user:a b.png","version":0}}}`,
		},
		"feedback": {
			event: notification.Event{Type: notification.FeedbackCreated, TaskID: "t", Feedback: "up"},
			want: head + `"feedback.created","subject":"tasks/t",` + times +
				`"data":{"user_id":"u","session_id":"s/1","agent":"a","task_id":"t","feedback":{"type":"up"}}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := test.event
			e.ID, e.UserID, e.SessionID, e.Agent, e.Log, e.Time = "l.7", "u", "s/1", "a", "l", 1735776000007
			got, err := notification.EncodeCloudEvent(e)
			if diff := cmp.Diff(test.want, string(got)); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// The standard's own library accepts the encoded event, whatever the ids are.
func TestEncodeIsACloudEvent(t *testing.T) {
	t.Parallel()
	property.Check(t, func(rt *rapid.T) {
		text := rapid.String()
		e := notification.Event{
			ID: "l." + text.Draw(rt, "id"), Type: notification.TaskSaved, UserID: text.Draw(rt, "user"),
			SessionID: text.Draw(rt, "session"), TaskID: text.Draw(rt, "task"), Artifact: text.Draw(rt, "artifact"),
			Time: rapid.Int64Range(0, 4e12).Draw(rt, "time"),
		}
		raw, err := notification.EncodeCloudEvent(e)
		if err != nil {
			rt.Fatal(err)
		}
		var got sdk.Event
		if err := json.Unmarshal(raw, &got); err != nil {
			rt.Fatalf("%v: %s", err, raw)
		}
		if err := got.Validate(); err != nil {
			rt.Fatalf("%v: %s", err, raw)
		}
		var d notification.EventData
		if err := got.DataAs(&d); err != nil || d.SessionID != e.SessionID || got.Time().UnixMilli() != e.Time {
			rt.Fatalf("%v: %s", err, raw)
		}
		if again, err := notification.EncodeCloudEvent(e); err != nil || string(again) != string(raw) {
			rt.Fatalf("%v: %s then %s", err, raw, again)
		}
	})
}
