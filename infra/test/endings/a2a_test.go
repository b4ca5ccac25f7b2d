package endings_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/test/frontendtest"
)

// dialect is what versions of A2A name differently.
type dialect struct {
	version, stream, resume, get, message, rest string
}

func a2aNew() protocol {
	return a2aIn("A2A 1.0", dialect{
		"1.0", "SendStreamingMessage", "SubscribeToTask", "GetTask",
		`{"message":{"messageId":"m","role":"ROLE_USER","contextId":"s","parts":[{"text":"hi"}]}}`, "/a2a/helper/tasks/",
	})
}

func a2aOld() protocol {
	return a2aIn("A2A 0.3", dialect{
		"", "message/stream", "tasks/resubscribe", "tasks/get",
		`{"message":{"kind":"message","messageId":"m","role":"user","contextId":"s","parts":[{"kind":"text","text":"hi"}]}}`, "/a2a/helper/v1/tasks/",
	})
}

// a2aState returns the end that a state of a task means; "" for a state that is no end.
func a2aState(status any) string {
	of, _ := status.(object)
	state, _ := of["state"].(string)
	return map[string]string{
		"completed": "completed", "failed": "failed", "canceled": "cancelled", "cancelled": "cancelled", "input-required": "asks",
	}[strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(state, "TASK_STATE_")), "_", "-")]
}

func a2aText(artifact any) string {
	of, _ := artifact.(object)
	parts, _ := of["parts"].([]any)
	text := ""
	for _, p := range parts {
		said, _ := p.(object)["text"].(string)
		text += said
	}
	return text
}

// a2aTask reads a task; an answer of the other dialect has it as result.
func a2aTask(task object) end {
	e := end{how: a2aState(task["status"])}
	artifacts, _ := task["artifacts"].([]any)
	for _, a := range artifacts {
		e.said += a2aText(a)
	}
	return e
}

// a2aFold reads a stream of either version.
func a2aFold(events []object) end {
	e := end{how: "nothing"}
	for _, one := range events {
		result, _ := one["result"].(object)
		for _, name := range []string{"task", "statusUpdate", "artifactUpdate"} { // 1.0 wraps each
			if inner, ok := result[name].(object); ok {
				result = inner
			}
		}
		if how := a2aState(result["status"]); how != "" {
			e.how = how
		}
		if artifact := result["artifact"]; artifact != nil {
			if result["append"] == true {
				e.said += a2aText(artifact)
			} else {
				e.said = a2aText(artifact)
			}
		}
		if artifacts, ok := result["artifacts"].([]any); ok {
			e.said = a2aTask(object{"artifacts": artifacts}).said
		}
	}
	return e
}

func a2aIn(name string, d dialect) protocol {
	call := func(t *testing.T, r *frontendtest.Rig, method, params string) *frontendtest.Stream {
		t.Helper()
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)
		return r.Call(t, frontendtest.Alice, http.MethodPost, "/a2a/helper", body, "A2A-Version", d.version)
	}
	id := func(first *reader) string {
		result, _ := first.All[0]["result"].(object)
		if task, ok := result["task"].(object); ok {
			result = task
		}
		for _, name := range []string{"statusUpdate", "artifactUpdate"} {
			if update, ok := result[name].(object); ok {
				result = update
			}
		}
		if task, ok := result["taskId"].(string); ok {
			return task
		}
		task, _ := result["id"].(string)
		return task
	}
	return protocol{
		name: name,
		start: func(t *testing.T, r *frontendtest.Rig, _ bool) *reader {
			t.Helper()
			return &reader{Stream: call(t, r, d.stream, d.message), fold: a2aFold}
		},
		resume: func(t *testing.T, r *frontendtest.Rig, first *reader) *reader {
			t.Helper()
			return &reader{Stream: call(t, r, d.resume, `{"id":"`+id(first)+`"}`), fold: a2aFold, untilEnd: true}
		},
		poll: func(t *testing.T, r *frontendtest.Rig, first *reader) end {
			t.Helper()
			s := call(t, r, d.get, `{"id":"`+id(first)+`"}`)
			if strings.Contains(s.Body, "-32001") {
				return end{how: "gone"}
			}
			result, _ := parsed(t, s)["result"].(object)
			return a2aTask(result)
		},
		reload: func(t *testing.T, r *frontendtest.Rig, first *reader) end {
			t.Helper()
			s := get(t, r, d.rest+id(first), "A2A-Version", d.version)
			if s.Status == http.StatusNotFound {
				return end{how: "gone"}
			}
			return a2aTask(parsed(t, s))
		},
	}
}
