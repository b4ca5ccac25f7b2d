package agui_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/client/agent/agentconfig"
	"github.com/rethread/rethread/shared/client/agent/agenttest"
	"github.com/rethread/rethread/shared/client/agent/endpoint"
	"github.com/rethread/rethread/shared/domain/session"
)

func TestState(t *testing.T) {
	given := session.Values{
		"a": json.RawMessage("1"), "b": json.RawMessage(`{"x": [1, 2]}`), "user:u": json.RawMessage(`"x"`), "app:p": json.RawMessage("true"),
	}
	const message, next = `TEXT_MESSAGE_CHUNK "messageId":"m1","delta":"a"`, `TEXT_MESSAGE_CHUNK "messageId":"m2","delta":"b"`
	for name, c := range map[string]struct {
		sent []string
		want []string // state deltas of the events; "" for none
	}{
		"a snapshot removes what the agent had set": {
			[]string{`STATE_SNAPSHOT "snapshot":{"b":{"x":[1,2]},"c":9007199254740993,"user:u":"y"}`, message, runFinished},
			[]string{`{"a":null,"c":9007199254740993,"user:u":"y"}`},
		},
		"a snapshot keeps what the agent may not know": {
			[]string{`STATE_SNAPSHOT "snapshot":{"a":1}`, message, runFinished}, []string{""},
		},
		"a later snapshot removes what an earlier one had": {
			[]string{`STATE_SNAPSHOT "snapshot":{"a":1,"b":{"x":[1,2]},"c":1}`, message, `STATE_DELTA "delta":[{"op":"add","path":"/d","value":1}]`, next, `STATE_SNAPSHOT "snapshot":{"a":1}`, runFinished},
			[]string{`{"c":1,"d":1}`, `{"b":null,"c":null,"d":null}`},
		},
		"a snapshot that changes nothing": {
			[]string{`STATE_SNAPSHOT "snapshot":{"a":1,"b":{"x":[1,2]}}`, message, runFinished}, []string{""},
		},
		"a snapshot that repeats the conversation": {
			[]string{`STATE_SNAPSHOT "snapshot":{"a":1,"b":{"x":[1,2]},"messages":[{}],"tools":[],"copilotkit":{},"ag-ui":{}}`, message, runFinished}, []string{""},
		},
		"no snapshot": {[]string{`STATE_SNAPSHOT "snapshot":null`, message, runFinished}, []string{""}},
		"a patch":     {[]string{`STATE_DELTA "delta":[{"op":"add","path":"/b/x/-","value":3},{"op":"remove","path":"/a"},{"op":"remove","path":"/user:u"},{"op":"replace","path":"/app:p","value":"<"}]`, message, runFinished}, []string{`{"a":null,"app:p":"<","b":{"x":[1,2,3]},"user:u":null}`}},
		"each event has what has changed since the last one": {
			[]string{`STATE_DELTA "delta":[{"op":"add","path":"/c","value":1}]`, message, `STATE_DELTA "delta":[{"op":"add","path":"/d","value":1}]`, next, `STATE_DELTA "delta":[{"op":"remove","path":"/c"}]`, runFinished},
			[]string{`{"c":1,"d":1}`, `{"c":null}`},
		},
		"without a message": {[]string{`STATE_DELTA "delta":[{"op":"add","path":"/c","value":1}]`, runFinished}, []string{`{"c":1}`}},
		"after the last message": {
			[]string{callBegins, callEnds, callResult, `STATE_DELTA "delta":[{"op":"add","path":"/c","value":1}]`, runFinished},
			[]string{"", "", `{"c":1}`},
		},
		"temporary keys are left out": {[]string{`STATE_DELTA "delta":[{"op":"add","path":"/temp:t","value":1}]`, message, runFinished}, []string{`{}`}},
	} {
		t.Run(name, func(t *testing.T) {
			req := agenttest.Ask(t, "hi")
			req.State = given
			req.Events = append(req.Events, agenttest.Event(t, `{"invocation_id":"i","author":"helper","ag_ui":{"agent":"helper"},"actions":{"state_delta":{"a":1,"user:u":"x"}}}`),
				agenttest.Event(t, `{"invocation_id":"i","author":"x","actions":{"state_delta":{"b":1}}}`))
			r := agenttest.MustRecord(t, newAGUI(t, agenttest.Streams(aguiStream(c.sent...)), agentconfig.Frontend{}), req)
			var got []string
			for _, e := range r.Events {
				var actions struct {
					Delta json.RawMessage `json:"state_delta"`
				}
				if raw := e.Fields["actions"]; raw != nil {
					if err := json.Unmarshal(raw, &actions); err != nil {
						t.Fatal(err)
					}
				}
				got = append(got, string(actions.Delta))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("state deltas (-want +got):\n%s", diff)
			}
			if string(given["a"]) != "1" || len(given) != 4 {
				t.Errorf("the request's own state changed: %s", given)
			}
		})
	}
	t.Run("without a state", func(t *testing.T) {
		sent := aguiStream(`STATE_DELTA "delta":[{"op":"add","path":"/c","value":1}]`, message, runFinished)
		r := agenttest.MustRecord(t, newAGUI(t, agenttest.Streams(sent), agentconfig.Frontend{}), agenttest.Ask(t, "hi"))
		if got := string(r.Events[0].Fields["actions"]); got != `{"state_delta":{"c":1}}` {
			t.Errorf("got %s", got)
		}
	})
}

// An agent that continues a run gets the state that its earlier output has left.
func TestStateOfAContinuedRun(t *testing.T) {
	req := withEvents(t, agenttest.Said("user", "user", `{"text":"x"}`))
	req.State = session.Values{"a": json.RawMessage("1"), "b": json.RawMessage("1")}
	req.Continuation = 1
	req.Said = []session.Event{agenttest.Event(t, `{"invocation_id":"run-1","author":"helper","ag_ui":{"agent":"helper"},"actions":{"state_delta":{"a":2,"b":null,"c":3}}}`)}
	want := mustJSON(t, `{"a":2,"c":3}`)
	if diff := cmp.Diff(want, askedOfAGUI(t, agentconfig.Frontend{}, req)["state"]); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
	sent := aguiStream(`STATE_SNAPSHOT "snapshot":{"a":2}`, `TEXT_MESSAGE_CHUNK "messageId":"m","delta":"a"`, runFinished)
	r := agenttest.MustRecord(t, newAGUI(t, agenttest.Streams(sent), agentconfig.Frontend{}), req)
	if got := string(r.Events[0].Fields["actions"]); got != `{"state_delta":{"c":null}}` {
		t.Errorf("got %s", got)
	}
}

// Any patch either changes the state or fails the run.
func TestAnyPatch(t *testing.T) {
	var answer string
	a := newAGUI(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { agenttest.Streams(answer)(rw, r) }), agentconfig.Frontend{})
	pointers := rapid.SampledFrom([]string{"", "/", "/a", "/a/0", "/a/-", "/a/1", "/a/-1", "/a/01", "/a/9999999999999999999", "/b", "/b/c", "/b/c/d", "/~0", "/~", "a"})
	values := rapid.SampledFrom([]string{"null", "1", `"x"`, "[]", "[null,[1]]", "{}", `{"c":null}`, `{"c":{"d":1}}`})
	applied := 0
	property.Check(t, func(rt *rapid.T) {
		var patch []string
		for range rapid.IntRange(1, 5).Draw(rt, "operations") {
			members := []string{fmt.Sprintf(`"op":%q`, rapid.SampledFrom([]string{"add", "remove", "replace", "move", "copy", "test", "odd"}).Draw(rt, "op"))}
			drawn := map[string]string{
				"path":  fmt.Sprintf("%q", pointers.Draw(rt, "path")),
				"from":  fmt.Sprintf("%q", pointers.Draw(rt, "from")),
				"value": values.Draw(rt, "value"),
			}
			for _, name := range slices.Sorted(maps.Keys(drawn)) {
				if rapid.IntRange(0, 9).Draw(rt, "has") > 0 {
					members = append(members, fmt.Sprintf("%q:%s", name, drawn[name]))
				}
			}
			patch = append(patch, "{"+strings.Join(members, ",")+"}")
		}
		answer = aguiStream(`STATE_DELTA "delta":[`+strings.Join(patch, ",")+`]`, `TEXT_MESSAGE_CHUNK "messageId":"m","delta":"a"`, runFinished)
		req := agenttest.Ask(t, "hi")
		req.State = session.Values{"a": json.RawMessage("[1,null]"), "b": json.RawMessage(values.Draw(rt, "b"))}
		_, err := agenttest.Record(t, a, req)
		var failed *endpoint.Error
		if err == nil {
			applied++
		} else if !errors.As(err, &failed) || failed.Code != endpoint.CodeProtocol {
			rt.Fatalf("%s: %v", patch, err)
		}
	})
	if applied == 0 {
		t.Error("no patch was applied")
	}
	t.Logf("%d patches were applied", applied)
}
