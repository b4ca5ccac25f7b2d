package conversation_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

// drawn is a session whose runs have inputs of front ends and of others, texts, thoughts,
// calls whose ids are unique or not, their responses, and activities.
type drawn struct {
	events []session.Event
	runs   []string
	calls  []string // ids for front ends that wait for an answer
}

func drawSession(t *rapid.T) drawn {
	var d drawn
	for i := range rapid.IntRange(1, 6).Draw(t, "runs") {
		run := fmt.Sprintf("r%d", i)
		d.runs = append(d.runs, run)
		for range rapid.IntRange(1, 2).Draw(t, "inputs") {
			e := event(run, len(d.events), "user", `{"parts":[{"text":"hi"}]}`)
			if rapid.IntRange(0, 5).Draw(t, "front end") > 0 {
				e.Fields["ag_ui_input"] = json.RawMessage(fmt.Sprintf(`{"message_id":"u%d"}`, len(d.events)))
			}
			d.events = append(d.events, e)
		}
		for range rapid.IntRange(0, 3).Draw(t, "outputs") {
			if rapid.IntRange(0, 7).Draw(t, "of an older run") == 0 {
				d.output(t, rapid.SampledFrom(d.runs).Draw(t, "run"))
			} else {
				d.output(t, run)
			}
		}
	}
	return d
}

func (d *drawn) output(t *rapid.T, run string) {
	n := len(d.events)
	id := rapid.SampledFrom([]string{"", "c1", fmt.Sprintf("call-0123456789-%d", n)}).Draw(t, "id")
	answered := rapid.SampledFrom([]string{"", "c1", fmt.Sprintf("call-0123456789-%d", rapid.IntRange(0, n).Draw(t, "of"))}).Draw(t, "answered")
	name := rapid.SampledFrom([]string{"ask", "look"}).Draw(t, "name")
	e := event(run, n, "helper", `{"parts":[`+rapid.SampledFrom([]string{
		`{"text":"hello"}`, `{"text":"well","thought":true},{"text":"hello"}`,
		`{"function_call":{"id":"` + id + `","name":"` + name + `","args":{}}}`,
		`{"function_response":{"id":"` + answered + `","name":"` + name + `","response":{}}}`,
	}).Draw(t, "parts")+`]}`)
	if rapid.Bool().Draw(t, "waits") {
		e.Fields["long_running_tool_ids"] = json.RawMessage(`["` + id + `"]`)
	}
	if rapid.IntRange(0, 3).Draw(t, "activity") == 0 {
		e.Fields["ag_ui"] = json.RawMessage(`{"activities":[{"message_id":"plan","activity_type":"PLAN","content":{}}]}`)
	}
	d.events = append(d.events, e)
	for _, c := range conversation.NewThread(d.events).View().Open(func(string) bool { return true }) {
		if !slices.Contains(d.calls, c.ID) {
			d.calls = append(d.calls, c.ID)
		}
	}
}

// drawInput draws a request whose list has some of the session's messages in order, with
// new ones at the end.
func (d *drawn) drawInput(t *rapid.T) conversation.Input {
	var list []conversation.Given
	add := func(id, role string) {
		list = append(list, conversation.Given{ID: id, Role: role, Parts: []content.Part{content.Text(id)}})
	}
	messages := conversation.NewThread(d.events).Messages()
	from := rapid.IntRange(0, len(messages)).Draw(t, "from")
	until := rapid.IntRange(from, len(messages)).Draw(t, "until")
	for i, m := range messages[from:until] {
		switch rapid.IntRange(0, 9).Draw(t, "listed") {
		case 0: // left out
		case 1:
			add(fmt.Sprintf("x%d", i), "assistant")
		default:
			add(m.ID, m.Role)
			list[len(list)-1].CallID = m.CallID
		}
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "new") {
		add(fmt.Sprintf("n%d", i), "user")
	}
	in := request(list)
	if len(d.calls) > 0 && rapid.IntRange(0, 2).Draw(t, "answers") == 0 {
		call := rapid.SampledFrom(d.calls).Draw(t, "call")
		if rapid.Bool().Draw(t, "tool") {
			in.Messages = append(in.Messages, conversation.Given{ID: "t", Role: "tool", CallID: call, Response: json.RawMessage(`{}`)})
		} else {
			in.Answers = []conversation.Answer{{CallID: call, At: "/resume/0"}}
		}
	}
	in.Append = rapid.IntRange(0, 4).Draw(t, "append") == 0
	in.Regenerate = rapid.IntRange(0, 4).Draw(t, "regenerate") == 0
	if len(list) > 0 && rapid.IntRange(0, 4).Draw(t, "edits") == 0 {
		in.Edit = list[len(list)-1].ID
	}
	return in
}

// A plan from the newest events is that from all of them, or asks for older ones; so are
// the events before its run and the answer to a repeated request.
func TestPlanFromNewestEvents_property(t *testing.T) {
	t.Parallel()
	var plans, older int
	property.CheckN(t, 3000, func(t *rapid.T) {
		d := drawSession(t)
		in := d.drawInput(t)
		ends := conversation.Ends{}
		last := d.runs[len(d.runs)-1]
		switch rapid.IntRange(0, 5).Draw(t, "ends") {
		case 0:
			ends.Discarded = last
		case 1:
			ends.Replaced = last
		}
		all := conversation.History{Events: d.events}
		want, wantErr := in.Plan(all, ends)
		repeats := in.Repeats(all, last)
		asking := in
		asking.RunID = rapid.SampledFrom(d.runs).Draw(t, "asking")
		continued, err := asking.ContinuedID(all)
		if err != nil {
			t.Fatal(err)
		}
		for from := 1; from < len(d.events); from++ {
			h := conversation.Newest(d.events[from:], true)
			if err := in.Repeats(h, last); !errors.Is(err, conversation.ErrOlder) && fmt.Sprint(err) != fmt.Sprint(repeats) {
				t.Fatalf("the last run is repeated with %v from event %d on, with %v from all", err, from, repeats)
			}
			id, err := asking.ContinuedID(h)
			_, own := h.Split(asking.RunID)
			if len(own) > 0 && !errors.Is(err, conversation.ErrOlder) && id != continued {
				t.Fatalf("the run is %s with %v from event %d on, %s from all", id, err, from, continued)
			}
			got, err := in.Plan(h, ends)
			if errors.Is(err, conversation.ErrOlder) {
				older++
				continue
			}
			plans++
			if diff := cmp.Diff(want, got); diff != "" || fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Fatalf("from event %d on: %v, want %v\n%s", from, err, wantErr, diff)
			}
			removed := []string{got.Rewind, ends.Discarded, ends.Replaced}
			whole, part := all.Until(removed...).Events, h.Until(removed...).Events
			if len(got.Input) > 0 && !cmp.Equal(whole[max(0, len(whole)-len(part)):], part) {
				t.Fatalf("from event %d on the run begins after other events", from)
			}
		}
	})
	t.Logf("%d plans, %d that ask for older events", plans, older)
	if plans < 1000 || older < 1000 {
		t.Errorf("%d plans and %d that ask for older events are too few", plans, older)
	}
}

func TestPlanLooksBack(t *testing.T) {
	t.Parallel()
	events := dialogue(conversation.LookBack)
	for name, c := range map[string]struct {
		list  []conversation.Given
		from  int
		older bool
	}{
		"takes a message alone for new after that many events":  {listed("n"), len(events) - conversation.LookBack - 2, false},
		"looks for a message alone among that many":             {listed("n"), len(events) - conversation.LookBack + 2, true},
		"looks for the messages of a list further back":         {listed("u0", "n"), 2, true},
		"needs no more than the last known message":             {listed("u0", "x", "a48", "u49", "a49", "n"), len(events) - 6, false},
		"needs the run that is rewound":                         {listed("u48", "n"), len(events) - 4, true},
		"finds the run that is rewound":                         {listed("u48", "n"), len(events) - 6, false},
		"needs nothing for an empty list":                       {nil, len(events) - 3, false},
		"looks for the messages of a list without any new ones": {listed("u0", "a0"), len(events) - 6, true},
	} {
		_, err := request(c.list).Plan(conversation.Newest(events[c.from:], true), conversation.Ends{})
		if errors.Is(err, conversation.ErrOlder) != c.older {
			t.Errorf("%s: %v", name, err)
		}
	}
}
