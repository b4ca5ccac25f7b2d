package aisdkconvert_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/aisdk/aisdkconvert"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

// drawnSession draws runs that a message begins, or answers to calls of the run before.
func drawnSession(t *rapid.T) []session.Event {
	var out []session.Event
	waiting := ""
	for i := range rapid.IntRange(1, 6).Draw(t, "runs") {
		runID, input := fmt.Sprintf("r%d", i), `{"text":"hi"}`
		if waiting != "" && rapid.IntRange(0, 3).Draw(t, "answered") > 0 {
			input = fmt.Sprintf(`{"function_response":{"id":%q,"name":"ask","response":{"result":"yes"}}}`, waiting)
		}
		waiting = ""
		e := event(fmt.Sprintf("e%d", len(out)), runID, "user", input)
		e.Fields[run.FrontEndMember] = json.RawMessage(fmt.Sprintf(`{"message_id":"u%d"}`, i))
		out = append(out, e)
		for range rapid.IntRange(0, 2).Draw(t, "outputs") {
			id := rapid.SampledFrom([]string{"c1", fmt.Sprintf("call-0123456789-%d", len(out))}).Draw(t, "id")
			part := `{"text":"hello"}`
			if rapid.Bool().Draw(t, "calls") {
				part = fmt.Sprintf(`{"function_call":{"id":%q,"name":"ask","args":{}}}`, id)
			}
			e := event(fmt.Sprintf("e%d", len(out)), runID, "helper", part)
			if waiting = ""; rapid.Bool().Draw(t, "waits") && part != `{"text":"hello"}` {
				waiting = id
				e.Fields["long_running_tool_ids"] = json.RawMessage(fmt.Sprintf(`[%q]`, id))
			}
			out = append(out, e)
		}
	}
	for i := range out {
		out[i].Seq = int64(i + 1)
	}
	return out
}

// drawnRequest draws a request whose list has messages of the session in order, the last
// of them with outputs of its calls, and perhaps a new one.
func drawnRequest(t *rapid.T, events []session.Event) aisdkconvert.Request {
	r := aisdkconvert.Request{ID: "s", OnActive: run.Reject}
	messages := aisdkconvert.Messages(events, "")
	from := rapid.IntRange(0, len(messages)).Draw(t, "from")
	messages = messages[from:rapid.IntRange(from, len(messages)).Draw(t, "until")]
	for i, m := range messages {
		raw, err := json.Marshal(m)
		var given aisdkconvert.Given
		if err != nil || json.Unmarshal(raw, &given) != nil {
			t.Fatal("a message cannot be listed")
		}
		for j := range given.Parts {
			if p := &given.Parts[j]; i == len(messages)-1 && p.State == "input-available" && !p.ProviderExecuted {
				p.State, p.Output = "output-available", json.RawMessage(`"yes"`)
			}
		}
		r.Messages = append(r.Messages, given)
	}
	if rapid.Bool().Draw(t, "new") {
		r.Messages = append(r.Messages, aisdkconvert.Given{ID: "n", Role: "user", Parts: []aisdkconvert.GivenPart{{Type: "text", Text: "n"}}})
	}
	r.Regenerate = rapid.IntRange(0, 4).Draw(t, "regenerate") == 0
	if n := len(r.Messages); n > 0 && rapid.IntRange(0, 2).Draw(t, "named") == 0 {
		r.MessageID = r.Messages[n-1].ID
	}
	return r
}

// A request is compared with the newest events of a session as with all of them, or asks
// for older ones.
func TestInputFromNewestEvents_property(t *testing.T) {
	t.Parallel()
	var plans, older int
	property.CheckN(t, 2000, func(t *rapid.T) {
		events := drawnSession(t)
		r := drawnRequest(t, events)
		plan := func(h conversation.History) (conversation.Input, conversation.Plan, error) {
			in, err := r.Input(session.Session{ID: "s"}, h, false)
			if err != nil {
				return in, conversation.Plan{}, err
			}
			p, err := in.Plan(h, conversation.Ends{})
			return in, p, err
		}
		wantIn, want, wantErr := plan(history(events...))
		for from := 1; from < len(events); from++ {
			gotIn, got, err := plan(conversation.Newest(events[from:], true))
			if errors.Is(err, conversation.ErrOlder) {
				older++
				continue
			}
			plans++
			if diff := cmp.Diff(want, got); diff != "" || fmt.Sprint(err) != fmt.Sprint(wantErr) || gotIn.RunID != wantIn.RunID {
				t.Fatalf("from event %d on the run is %s with %v, want %s with %v\n%s", from, gotIn.RunID, err, wantIn.RunID, wantErr, diff)
			}
		}
	})
	t.Logf("%d plans, %d that ask for older events", plans, older)
	if plans < 300 || older < 300 {
		t.Errorf("%d plans and %d that ask for older events are too few", plans, older)
	}
}

// A stream with the newest events before its run sends the same as one with all.
func TestStreamFromNewestEvents_property(t *testing.T) {
	t.Parallel()
	var streams, older int
	property.CheckN(t, 2000, func(t *rapid.T) {
		events := drawnSession(t)
		last := events[len(events)-1].InvocationID
		before, own := history(events...).Split(last)
		start := aisdkconvert.Start{SessionID: "s", RunID: last, Replay: rapid.Bool().Draw(t, "replay"), Before: before.With(own)}
		send := func(start aisdkconvert.Start) ([]aisdkconvert.Chunk, error) {
			s, chunks, err := aisdkconvert.NewStream(start)
			if err != nil {
				return nil, err
			}
			more, err := s.Update(own)
			if errors.Is(err, conversation.ErrOlder) {
				older++
				s.Before(before.With(own))
				more, err = s.Update(own)
			}
			end, ended := s.Finish(run.Run{Status: run.Completed})
			return slices.Concat(chunks, more, end), errors.Join(err, ended)
		}
		want, err := send(start)
		if err != nil {
			t.Fatal(err)
		}
		if len(before.Events) == 0 {
			return
		}
		start.Before = conversation.Newest(before.Events[rapid.IntRange(0, len(before.Events)-1).Draw(t, "from"):], true).With(own)
		got, err := send(start)
		if errors.Is(err, conversation.ErrOlder) {
			older++
			return
		}
		streams++
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
	t.Logf("%d streams, %d that asked for older events", streams, older)
	if streams < 300 || older < 300 {
		t.Errorf("%d streams and %d that asked for older events are too few", streams, older)
	}
}

// Pages read from the newest events back are, put together, the messages of the session.
func TestMessagesPage_property(t *testing.T) {
	t.Parallel()
	var pages int
	property.CheckN(t, 2000, func(t *rapid.T) {
		events := drawnSession(t)
		limit := rapid.IntRange(0, 4).Draw(t, "limit")
		var got []aisdkconvert.Message
		for rest := events; ; pages++ {
			newest := rapid.IntRange(1, len(rest)).Draw(t, "newest")
			h := conversation.Newest(rest[len(rest)-newest:], newest < len(rest))
			page, err := aisdkconvert.MessagesPage(h, "", limit, 1<<20)
			if errors.Is(err, conversation.ErrOlder) {
				page, err = aisdkconvert.MessagesPage(history(rest...), "", limit, 1<<20)
			}
			if err != nil {
				t.Fatal(err)
			}
			got = slices.Concat(page.Messages, got)
			if page.Before == 0 {
				break
			}
			rest = rest[:page.Before-1]
		}
		if diff := cmp.Diff(shown(t, aisdkconvert.Messages(events, "")), shown(t, got)); diff != "" {
			t.Fatal(diff)
		}
	})
	t.Logf("%d pages before the last", pages)
	if pages < 1000 {
		t.Errorf("%d pages before the last are too few", pages)
	}
}
