package conversation_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

// dialogue returns runs of one user's message (u0, u1, …) and one answer each.
func dialogue(runs int) []session.Event {
	var out []session.Event
	for i := range runs {
		n := strconv.Itoa(i)
		input := event("r"+n, len(out), "user", `{"role":"user","parts":[{"text":"u`+n+`"}]}`)
		input.Fields["ag_ui_input"] = json.RawMessage(`{"message_id":"u` + n + `"}`)
		out = append(out, input)
		answer := event("r"+n, len(out), "helper", `{"role":"model","parts":[{"text":"a`+n+`"}]}`)
		answer.ID = "a" + n
		out = append(out, answer)
	}
	return out
}

// listed returns messages whose texts are their ids; those that begin with a or x are
// the agent's.
func listed(ids ...string) []conversation.Given {
	out := make([]conversation.Given, len(ids))
	for i, id := range ids {
		out[i] = conversation.Given{ID: id, Role: "user", Parts: []content.Part{content.Text(id)}}
		if id[0] == 'a' || id[0] == 'x' {
			out[i].Role = "assistant"
		}
	}
	return out
}

func request(messages []conversation.Given) conversation.Input {
	return conversation.Input{SessionID: "s", RunID: "new", Messages: messages, At: "/messages"}
}

func event(run string, n int, author, content string) session.Event {
	return session.Event{
		ID: fmt.Sprintf("e%d", n), Seq: int64(n + 1), SessionID: "s", InvocationID: run, Author: author,
		Status: session.EventCompleted, Fields: map[string]json.RawMessage{"content": json.RawMessage(content)},
	}
}

func whole(events []session.Event) conversation.History { return conversation.History{Events: events} }

func inputIDs(t testing.TB, p conversation.Plan) []string {
	t.Helper()
	ids := []string{}
	for _, m := range conversation.NewThread(p.Input).Messages() {
		ids = append(ids, m.ID)
	}
	return ids
}

func TestPlan(t *testing.T) {
	t.Parallel()
	type want struct {
		Rewind string
		Input  []string
	}
	for name, c := range map[string]struct {
		list []conversation.Given
		set  conversation.Options
		ends conversation.Ends
		want want
	}{
		"adds a message to the whole list":          {list: listed("u0", "a0", "u1", "a1", "n"), want: want{"", []string{"n"}}},
		"adds the only message":                     {list: listed("n"), want: want{"", []string{"n"}}},
		"adds nothing from a shorter list":          {list: listed("u0", "a0"), want: want{"", []string{}}},
		"adds nothing from an empty list":           {list: listed(), want: want{"", []string{}}},
		"adds nothing from an answered message":     {list: listed("u0", "a0", "u1"), want: want{"", []string{}}},
		"rewinds where the list goes on otherwise":  {list: listed("u0", "a0", "n"), want: want{"r1", []string{"n"}}},
		"repeats the inputs of a run that is split": {list: listed("u0", "a0", "u1", "n"), want: want{"r1", []string{"u1", "n"}}},
		"takes a foreign answer for the session's":  {list: listed("u0", "x", "u1", "x", "n"), want: want{"", []string{"n"}}},
		"rewinds after a foreign answer":            {list: listed("u0", "x", "n"), want: want{"r1", []string{"n"}}},
		"ignores the history of an unknown list":    {list: listed("m", "x", "n"), want: want{"", []string{"n"}}},
		"adds to a thread that has gone on":         {list: listed("u0", "a0", "n"), set: conversation.Options{Append: true}, want: want{"", []string{"n"}}},
		"answers the last message again":            {list: listed("u0", "a0", "u1"), set: conversation.Options{Regenerate: true}, want: want{"r1", []string{"u1"}}},
		"repeats the input of a run that is discarded": {
			list: listed("u0", "a0", "u1", "a1", "n"), ends: conversation.Ends{Discarded: "r1"}, want: want{"", []string{"u1", "n"}},
		},
		"leaves a discarded run out that the list lacks": {
			list: listed("u0", "a0", "n"), ends: conversation.Ends{Discarded: "r1"}, want: want{"", []string{"n"}},
		},
		"leaves the input of a replaced run to the start": {
			list: listed("u0", "a0", "u1", "n"), ends: conversation.Ends{Replaced: "r1"}, want: want{"", []string{"n"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := request(c.list)
			in.Options = c.set
			p, err := in.Plan(whole(dialogue(2)), c.ends)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, want{p.Rewind, inputIDs(t, p)}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// After the rewind and the start that a list leads to, the session shows exactly the
// user's messages in the list. A list without a new message changes nothing.
func TestPlan_property(t *testing.T) {
	t.Parallel()
	property.CheckN(t, 1000, func(t *rapid.T) {
		runs := rapid.IntRange(0, 4).Draw(t, "runs")
		events := dialogue(runs)
		thread := conversation.NewThread(events).Messages()
		kept := rapid.IntRange(0, len(thread)).Draw(t, "kept")
		var list, users []string
		for _, m := range thread[:kept] {
			if m.Role == "assistant" && rapid.IntRange(0, 3).Draw(t, "named") == 0 {
				m.ID = "x" + m.ID // the front end's own id
			}
			list = append(list, m.ID)
			if m.Role == "user" {
				users = append(users, m.ID)
			}
		}
		ends := conversation.Ends{}
		if runs > 0 && rapid.Bool().Draw(t, "failed") {
			ends.Discarded = "r" + strconv.Itoa(runs-1)
		}
		if p, err := request(listed(list...)).Plan(whole(events), ends); err != nil || len(p.Input) > 0 || p.Rewind != "" {
			t.Fatalf("a list that is only shorter gives %v, %v", p, err)
		}
		if kept == 0 {
			return // a list without known messages never rewinds
		}
		p, err := request(listed(append(list, "n")...)).Plan(whole(events), ends)
		if err != nil {
			t.Fatal(err)
		}
		after := events
		for _, run := range []string{p.Rewind, ends.Discarded} {
			if i := slices.IndexFunc(after, func(e session.Event) bool { return e.InvocationID == run }); i >= 0 {
				after = after[:i]
			}
		}
		var got []string
		for _, m := range conversation.NewThread(slices.Concat(after, p.Input)).Messages() {
			if m.Role == "user" {
				got = append(got, m.ID)
			}
		}
		if want := append(users, "n"); !slices.Equal(got, want) {
			t.Fatalf("the session shows %v, the list has %v", got, want)
		}
	})
}

func TestRepeats(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		list []conversation.Given
		ok   bool
	}{
		"accepts the same list":          {listed("u0", "a0", "u1"), true},
		"accepts a list with the answer": {listed("u0", "a0", "u1", "a1"), true},
		"accepts an empty list":          {listed(), true},
		"refuses another message":        {listed("u0", "a0", "n"), false},
		"refuses another text": {
			[]conversation.Given{{ID: "u1", Role: "user", Parts: []content.Part{content.Text("other")}}}, false,
		},
	} {
		err := request(c.list).Repeats(whole(dialogue(2)), "r1")
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDigest pins what ids of runs are derived with: an instance of another version finds
// the run of a repeated request.
func TestDigest(t *testing.T) {
	t.Parallel()
	if got := conversation.Digest("a", "bc"); got != "5310a58788781ab25d5ad7c3f8503582" {
		t.Errorf("got %s", got)
	}
	if conversation.Digest("ab", "c") == conversation.Digest("a", "bc") {
		t.Error("other texts have the same digest")
	}
}
