package rethread_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	rethread "github.com/rethread/rethread/clients/go"
)

// recordedCall is a call of a recorded case.
type recordedCall struct {
	Operation string
	Arguments struct {
		SessionID string `json:"session_id"`
		Name      string
		Query     map[string]string
		Body      json.RawMessage
		Content   string
		MIMEType  string `json:"mime_type"`

		InvocationID string `json:"invocation_id"`
		Batches      [][]rethread.EventRequest
	}
	IdempotencyKey string `json:"idempotency_key"`
	IfMatch        string `json:"if_match"`
	TimeoutMS      int64  `json:"timeout_ms"`
}

// make makes the call.
func (c recordedCall) make(ctx context.Context, client *rethread.Client) (any, error) {
	a, opts := c.Arguments, c.options()
	switch c.Operation {
	case "createSession":
		return client.Sessions.Create(ctx, decoded[rethread.SessionRequest](a.Body), opts...)
	case "getSession":
		return client.Sessions.Get(ctx, a.SessionID, opts...)
	case "updateSession":
		return client.Sessions.Update(ctx, a.SessionID, decoded[rethread.SessionChange](a.Body), opts...)
	case "deleteSession":
		return nil, client.Sessions.Delete(ctx, a.SessionID, opts...)
	case "listSessions":
		if names := slices.Collect(maps.Keys(a.Query)); !slices.Equal(names, []string{"agent"}) {
			return nil, fmt.Errorf("the runner does not know the parameters %v", names)
		}
		return client.Sessions.List(rethread.SessionQuery{Agent: a.Query["agent"]}, opts...).Collect(ctx)
	case "getForks":
		return client.Sessions.Forks(ctx, a.SessionID, opts...)
	case "rewindSession":
		return client.Sessions.Rewind(ctx, a.SessionID, decoded[rethread.RewindRequest](a.Body), opts...)
	case "appendEvents":
		return client.Events.Append(ctx, a.SessionID, decoded[rethread.AppendRequest](a.Body), opts...)
	case "appendInvocation":
		return c.appendInvocation(ctx, client)
	case "startRun":
		return client.Runs.Start(ctx, a.SessionID, decoded[rethread.RunRequest](a.Body), opts...)
	case "putArtifact":
		return client.Artifacts.Put(ctx, a.SessionID, a.Name, rethread.Upload{Content: []byte(a.Content), MIMEType: a.MIMEType}, opts...)
	}
	return nil, fmt.Errorf("the runner does not know the operation %q", c.Operation)
}

// appendInvocation appends batches, and returns the result of the last one.
func (c recordedCall) appendInvocation(ctx context.Context, client *rethread.Client) (stored []rethread.Event, err error) {
	writer := client.Events.Invocation(c.Arguments.SessionID, c.Arguments.InvocationID)
	for _, batch := range c.Arguments.Batches {
		stored, err = writer.Append(ctx, batch, c.options()...)
		if err != nil && !errors.Is(err, rethread.ErrInvalid) {
			return nil, err
		}
	}
	return stored, err
}

func (c recordedCall) options() []rethread.Option {
	var out []rethread.Option
	if c.IdempotencyKey != "" {
		out = append(out, rethread.WithIdempotencyKey(c.IdempotencyKey))
	}
	if c.IfMatch != "" {
		out = append(out, rethread.IfMatch(c.IfMatch))
	}
	if c.TimeoutMS > 0 {
		out = append(out, rethread.WithTimeout(time.Duration(c.TimeoutMS)*time.Millisecond))
	}
	return out
}

// decoded decodes JSON of a case. It panics if that is not possible, a mistake in the
// case.
func decoded[T any](raw json.RawMessage) T {
	var out T
	if err := json.Unmarshal(raw, &out); err != nil {
		panic(err)
	}
	return out
}

// differs says how a value differs from what is expected of it; "" if it does not.
func differs(want json.RawMessage, value any) string {
	if len(want) == 0 {
		return "" // JSON's null: a call without a result
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return lacks("the result", decoded[any](want), decoded[any](raw))
}

// lacks says what of want is not in got: objects have at least the members of want,
// lists the same length.
func lacks(at string, want, got any) string {
	switch want := want.(type) {
	case map[string]any:
		members, _ := got.(map[string]any)
		for name, value := range want {
			if diff := lacks(at+"."+name, value, members[name]); diff != "" {
				return diff
			}
		}
		if members == nil {
			return fmt.Sprintf("%s is %v, not an object", at, got)
		}
		return ""
	case []any:
		list, _ := got.([]any)
		if len(list) != len(want) {
			return fmt.Sprintf("%s has %d entries, not %d", at, len(list), len(want))
		}
		for i := range want {
			if diff := lacks(fmt.Sprintf("%s[%d]", at, i), want[i], list[i]); diff != "" {
				return diff
			}
		}
		return ""
	}
	if !reflect.DeepEqual(want, got) {
		return fmt.Sprintf("%s is %v, not %v", at, got, want)
	}
	return ""
}

// shownDiffers says how a watched session differs from what it should show.
func shownDiffers(want json.RawMessage, session rethread.Watched) string {
	items := []map[string]string{}
	for _, e := range session.Items {
		items = append(items, map[string]string{"id": e.ID, "status": e.Status, "text": e.Text()})
	}
	return differs(want, map[string]any{"status": session.Status, "run_id": session.RunID, "epoch": session.Epoch, "items": items})
}
