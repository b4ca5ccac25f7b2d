package endings_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/test/frontendtest"
)

type object = map[string]any

// end is how a run ended, in words that all protocols share, and what it said.
type end struct{ how, said string }

// protocol starts a run and tells how it ended.
type protocol struct {
	name string
	// start streams a run; queued, one that waits for the run in progress.
	start func(t *testing.T, r *frontendtest.Rig, queued bool) *reader
	// resume streams the same run from the middle. first is the stream so far.
	resume func(t *testing.T, r *frontendtest.Rig, first *reader) *reader
	// poll and reload read the run when it is over; first is its stream.
	poll, reload func(t *testing.T, r *frontendtest.Rig, first *reader) end
}

// reader is a stream, what it had said when it began, and how its events are read.
type reader struct {
	*frontendtest.Stream

	fold func(events []object) end
	// untilEnd leaves a stream that goes on after a question, as a subscription of A2A.
	untilEnd bool
	read     func(t *testing.T) end // instead of fold, for a reader that is no stream
}

func (r *reader) end(t *testing.T) end {
	t.Helper()
	switch {
	case r.Stream == nil:
	case r.untilEnd:
		for r.fold(r.All).how == "nothing" && r.Next(t) != nil {
		}
		r.Close()
	default:
		r.End(t)
	}
	if r.read != nil {
		return r.read(t)
	}
	return r.fold(r.All)
}

// untilSaid reads until the agent has said something.
func (r *reader) untilSaid(t *testing.T) {
	t.Helper()
	for r.fold(r.All).said == "" {
		if r.Next(t) == nil {
			t.Fatalf("nothing was said: %v", r.All)
		}
	}
}

func get(t *testing.T, r *frontendtest.Rig, path string, header ...string) *frontendtest.Stream {
	t.Helper()
	return r.Call(t, frontendtest.Alice, http.MethodGet, path, "", header...)
}

func parsed(t *testing.T, s *frontendtest.Stream) object {
	t.Helper()
	var out object
	if err := json.Unmarshal([]byte(s.Body), &out); err != nil || s.Status != http.StatusOK {
		t.Fatalf("got %d %s", s.Status, s.Body)
	}
	return out
}

func overAGUI() protocol {
	fold := func(events []object) end {
		e := end{how: "nothing"}
		for _, one := range events {
			switch one["type"] {
			case "TEXT_MESSAGE_CONTENT":
				e.said += one["delta"].(string)
			case "MESSAGES_SNAPSHOT":
				for _, m := range one["messages"].([]any) {
					if m.(object)["role"] == "user" {
						e.said = ""
					}
					if m.(object)["role"] == "assistant" && m.(object)["content"] != nil {
						e.said = m.(object)["content"].(string)
					}
				}
			case "RUN_ERROR":
				e.how = "failed"
				if one["code"] == "run_rewound" {
					e.how = "gone"
				}
			case "RUN_FINISHED":
				outcome, _ := one["outcome"].(object)
				e.how = map[any]string{"success": "completed", "cancelled": "cancelled", "interrupt": "asks"}[outcome["type"]]
			}
		}
		return e
	}
	read := func(t *testing.T, s *frontendtest.Stream) *reader { t.Helper(); return &reader{Stream: s, fold: fold} }
	thread := func(t *testing.T, r *frontendtest.Rig, _ *reader) *reader {
		t.Helper()
		return read(t, get(t, r, "/agui/helper/threads/s"))
	}
	body := func(queued bool) string {
		out := `{"threadId":"s","runId":"r1","protocolVersion":"1.0","messages":[{"id":"u1","role":"user","content":"hi"}]`
		if queued {
			out += `,"forwardedProps":{"rethread":{"on_active":"enqueue"}}`
		}
		return out + "}"
	}
	post := func(t *testing.T, r *frontendtest.Rig, queued bool) *reader {
		t.Helper()
		return read(t, r.Call(t, frontendtest.Alice, http.MethodPost, "/agui/helper", body(queued)))
	}
	return protocol{
		name: "AG-UI", start: post, resume: thread,
		poll: func(t *testing.T, r *frontendtest.Rig, _ *reader) end { // the same request again
			t.Helper()
			again := post(t, r, false)
			if again.Status == http.StatusConflict && strings.Contains(again.Body, "run_rewound") {
				return end{how: "gone"}
			}
			return again.end(t)
		},
		reload: func(t *testing.T, r *frontendtest.Rig, first *reader) end {
			t.Helper()
			return thread(t, r, first).end(t)
		},
	}
}

func overAISDK() protocol {
	fold := func(events []object) end {
		e := end{how: "nothing"}
		for _, one := range events {
			switch one["type"] {
			case "text-delta":
				e.said += one["delta"].(string)
			case "reset-step":
				e.said = ""
			case "error":
				e.how = "failed"
			case "abort":
				e.how = "cancelled"
			case "finish":
				e.how = map[any]string{"stop": "completed", "length": "truncated", "content-filter": "refused", "tool-calls": "asks"}[one["finishReason"]]
			}
		}
		return e
	}
	post := func(t *testing.T, r *frontendtest.Rig, queued bool) *reader {
		t.Helper()
		body := `{"id":"s","messages":[{"id":"u1","role":"user","parts":[{"type":"text","text":"hi"}]}],"rethread":{"run_id":"r1"`
		if queued {
			body += `,"on_active":"enqueue"`
		}
		return &reader{Stream: r.Call(t, frontendtest.Alice, http.MethodPost, "/ai-sdk/helper", body+"}}"), fold: fold}
	}
	return protocol{
		name: "AI SDK", start: post,
		resume: func(t *testing.T, r *frontendtest.Rig, _ *reader) *reader {
			t.Helper()
			get(t, r, "/ai-sdk/helper/s/messages")
			return &reader{Stream: get(t, r, "/ai-sdk/helper/s/stream"), fold: fold}
		},
		poll: func(t *testing.T, r *frontendtest.Rig, _ *reader) end { // a page that had loaded before the end
			t.Helper()
			s := get(t, r, "/ai-sdk/helper/s/stream")
			if s.Status == http.StatusNoContent {
				return end{how: "gone"}
			}
			return (&reader{Stream: s, fold: fold}).end(t)
		},
		reload: func(t *testing.T, r *frontendtest.Rig, _ *reader) end {
			t.Helper()
			var messages []struct {
				ID, Role string
				Parts    []object
			}
			s := get(t, r, "/ai-sdk/helper/s/messages")
			if err := json.Unmarshal([]byte(s.Body), &messages); err != nil {
				t.Fatal(err)
			}
			e := end{how: "gone"} // or nothing but what was said: messages have no end
			for _, m := range messages {
				for _, p := range m.Parts {
					switch {
					case m.Role != "assistant":
					case p["type"] == "dynamic-tool" && p["state"] == "input-available" && p["providerExecuted"] == nil:
						e.how = "asks"
					case p["type"] == "text":
						e.how, e.said = "shown", p["text"].(string)
					}
				}
			}
			return e
		},
	}
}

func responses() protocol {
	of := func(response object) end {
		status, _ := response["status"].(string)
		e := end{how: status}
		if details, _ := response["incomplete_details"].(object); details != nil {
			e.how = map[any]string{"max_output_tokens": "truncated", "content_filter": "refused"}[details["reason"]]
		}
		for _, item := range response["output"].([]any) {
			if item.(object)["type"] == "function_call" {
				e.how = "asks"
			}
			content, _ := item.(object)["content"].([]any)
			for _, part := range content {
				e.said += part.(object)["text"].(string)
			}
		}
		return e
	}
	fold := func(events []object) end {
		e := end{how: "nothing"}
		for _, one := range events {
			if response, ok := one["response"].(object); ok && response["status"] != "in_progress" && response["status"] != "queued" {
				return of(response)
			}
			if one["type"] == "response.output_text.delta" {
				e.said += one["delta"].(string)
			}
		}
		return e
	}
	id := func(first *reader) string { return first.All[0]["response"].(object)["id"].(string) }
	poll := func(t *testing.T, r *frontendtest.Rig, first *reader) end {
		t.Helper()
		return of(parsed(t, get(t, r, "/v1/responses/"+id(first))))
	}
	return protocol{
		name: "Responses",
		start: func(t *testing.T, r *frontendtest.Rig, queued bool) *reader {
			t.Helper()
			body := `{"model":"helper","input":"hi","stream":true,"conversation":"s"`
			if queued {
				body += `,"rethread":{"on_active":"enqueue"}`
			}
			return &reader{Stream: r.Call(t, frontendtest.Alice, http.MethodPost, "/v1/responses", body+"}"), fold: fold}
		},
		resume: func(t *testing.T, r *frontendtest.Rig, first *reader) *reader {
			t.Helper()
			return &reader{Stream: get(t, r, "/v1/responses/"+id(first)+"?stream=true&starting_after=8"), fold: fold}
		},
		poll: poll,
		reload: func(t *testing.T, r *frontendtest.Rig, first *reader) end {
			t.Helper()
			again := &reader{Stream: get(t, r, "/v1/responses/"+id(first)+"?stream=true"), fold: fold}
			return again.end(t)
		},
	}
}
