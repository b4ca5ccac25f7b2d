package run_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// turnsOf returns events by a notation: one letter for each event is its
// invocation; an upper-case letter is an event with a function's response.
func turnsOf(notation string) []session.Event {
	var out []session.Event
	for i, c := range notation {
		e := session.Event{Seq: int64(i + 1), InvocationID: strings.ToLower(string(c))}
		if invocation := string(c); invocation != e.InvocationID {
			e.Fields = map[string]json.RawMessage{"content": json.RawMessage(`{"parts":[{"function_response":{}}]}`)}
		}
		out = append(out, e)
	}
	return out
}

// recent returns the selection of events in turnsOf's notation, and how many
// events it took to select them.
func recent(events []session.Event, limit run.HistoryLimit) (selected string, truncated bool, read int) {
	r := run.NewRecent(limit)
	for _, e := range slices.Backward(events) {
		if read++; !r.Add(e) {
			break
		}
	}
	kept, truncated := r.Events()
	var b strings.Builder
	for _, e := range kept {
		b.WriteString(e.InvocationID)
	}
	return b.String(), truncated, read
}

func TestRecent(t *testing.T) {
	size := session.Event{InvocationID: "a"}.Size()
	for name, c := range map[string]struct {
		events    string
		limit     run.HistoryLimit
		want      string
		truncated bool
		read      int
	}{
		"no events":                                 {"", run.HistoryLimit{Turns: 2}, "", false, 0},
		"no limit":                                  {"aabbcc", run.HistoryLimit{}, "aabbcc", false, 6},
		"as many turns as there are":                {"aabbcc", run.HistoryLimit{Turns: 3}, "aabbcc", false, 6},
		"fewer turns than there are":                {"aabbcc", run.HistoryLimit{Turns: 2}, "bbcc", true, 5},
		"one turn":                                  {"aabbcc", run.HistoryLimit{Turns: 1}, "cc", true, 3},
		"all bytes":                                 {"aabbcc", run.HistoryLimit{Bytes: 6 * size}, "aabbcc", false, 6},
		"bytes for two turns and a half":            {"aabbcc", run.HistoryLimit{Bytes: 5 * size}, "bbcc", true, 6},
		"bytes for less than the newest turn":       {"aabbccc", run.HistoryLimit{Bytes: size}, "ccc", true, 4},
		"both limits":                               {"aabbccdd", run.HistoryLimit{Turns: 3, Bytes: 4 * size}, "ccdd", true, 5},
		"a response stays with its call":            {"aabbCc", run.HistoryLimit{Turns: 1}, "bbcc", true, 5},
		"responses stay with their calls":           {"aabBCc", run.HistoryLimit{Turns: 1}, "bbcc", true, 5},
		"a call and its response in one turn":       {"aabBb", run.HistoryLimit{Turns: 1}, "bbb", true, 4},
		"a response is dropped with its call":       {"abCcdd", run.HistoryLimit{Turns: 1}, "dd", true, 3},
		"an invocation that continues after others": {"abab", run.HistoryLimit{Turns: 3}, "bab", true, 4},
	} {
		t.Run(name, func(t *testing.T) {
			got, truncated, read := recent(turnsOf(c.events), c.limit)
			if got != c.want || truncated != c.truncated || read != c.read {
				t.Errorf("%q, truncated %v, after %d events; want %q, %v, %d", got, truncated, read, c.want, c.truncated, c.read)
			}
		})
	}
}

// A selection is the end of the history, within its limits but for the newest turn,
// and no turn more would fit.
func TestRecent_is_the_longest_end_within_the_limit(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		events := turnsOf(rapid.StringMatching(`[abcABC]{0,30}`).Draw(t, "events"))
		limit := run.HistoryLimit{
			Turns: rapid.IntRange(0, 6).Draw(t, "turns"), Bytes: rapid.IntRange(0, 8_000).Draw(t, "bytes"),
		}
		turns := groups(events)
		var want []session.Event
		bytes, n := 0, 0
		for _, turn := range slices.Backward(turns) {
			for _, e := range turn {
				bytes += e.Size()
			}
			n++
			if n > 1 && (limit.Turns > 0 && n > limit.Turns || limit.Bytes > 0 && bytes > limit.Bytes) {
				break
			}
			want = append(slices.Clone(turn), want...)
		}
		r := run.NewRecent(limit)
		for _, e := range slices.Backward(events) {
			if !r.Add(e) {
				break
			}
		}
		got, truncated := r.Events()
		if diff := cmp.Diff(seqs(want), seqs(got)); diff != "" || truncated != (len(want) < len(events)) {
			t.Fatalf("truncated %v; selected of %s (-want +got):\n%s", truncated, fmt.Sprint(limit), diff)
		}
	})
}

// groups returns the turns of a history.
func groups(events []session.Event) [][]session.Event {
	var out [][]session.Event
	for i, e := range events {
		if i > 0 && (e.InvocationID == events[i-1].InvocationID || e.Fields != nil) {
			out[len(out)-1] = append(out[len(out)-1], e)
			continue
		}
		out = append(out, []session.Event{e})
	}
	return out
}

func seqs(events []session.Event) []int64 {
	out := []int64{}
	for _, e := range events {
		out = append(out, e.Seq)
	}
	return out
}
