package price

import (
	"fmt"
	"maps"
	"slices"

	"github.com/rethread/rethread/infra/bench/meter/scenario"
)

// gigabyte is a GB of logs and of transfer.
const gigabyte = 1e9

// metered returns a scenario's measure: that with History turns before, or the only one.
func (a *accountant) metered(name string) scenario.Measure {
	var found *scenario.Measure
	for i, m := range a.record.Measures {
		if m.Scenario == name && (found == nil || m.History == History) {
			found = &a.record.Measures[i]
		}
	}
	if found == nil {
		if a.missing == nil {
			a.missing = fmt.Errorf("%q was not measured: run make meter again", name)
		}
		return scenario.Measure{Count: 1}
	}
	return *found
}

// whole returns everything that a measured scenario costs, for so many times the
// scenario.
func (a *accountant) whole(m scenario.Measure, times float64) []line {
	units := m.Total()
	lines := []line{
		a.measured("table writes", times, units.Writes, a.TableWrite),
		a.measured("table reads", times, units.Reads, a.TableRead),
		a.measured("HTTP API requests", times, float64(m.HTTP), a.HTTPRequest),
		a.measured("messages of the WebSocket API", times, float64(m.Frames), a.SocketMessage),
	}
	for _, function := range slices.Sorted(maps.Keys(m.Invocations)) {
		lines = append(lines, a.functions(function, times*float64(m.Invocations[function]), seconds(function, m), a.record.Memory[function])...)
	}
	return append(lines,
		line{"logs", number(times) + " × " + number(float64(m.Logged)) + " bytes", times * float64(m.Logged) / gigabyte, a.LogGigabyte},
		line{"transfer", number(times) + " × " + number(float64(m.Sent)) + " bytes", times * float64(m.Sent) / gigabyte, a.SentGigabyte},
	)
}

func (a *accountant) measured(what string, times, each float64, p price) line {
	return line{what, number(times) + " × " + number(each), times * each, p}
}

// seconds returns how long a function is assumed to run.
func seconds(function string, m scenario.Measure) float64 {
	switch function {
	case "RunnerFunction":
		return m.Seconds // it waits for the agent
	case "FanoutFunction", "AutomationsFunction":
		return fanoutSeconds
	}
	return requestSeconds
}

// wholes are the uses of which the whole cost was measured: the first table of the page.
func (a *accountant) wholes() []bill {
	turns, load := a.metered(scenario.SafeInvocation), a.metered(scenario.Load)
	ids, key := a.metered(scenario.SafeIDs), a.metered(scenario.SafeKey)
	alone, watched, hour := a.metered(scenario.Streamed), a.metered(scenario.Watched), a.metered(scenario.Hour)
	const n = 1000
	return []bill{
		{
			"1,000 turns, safe to resend",
			"A question of 300 characters and an answer of 2,000, appended to a session together, with ids that name their invocation. " +
				"These are the cheapest that are safe: a writer numbers the events of its invocation, `<invocation_id>.1`, `<invocation_id>.2` and so on, " +
				"and sends an event again under its number, without an `Idempotency-Key`. Several writers of one invocation must not use the same number twice. With an `Idempotency-Key` and no ids, " +
				number(float64(key.Count)) + " turns take " + number(key.Total().Writes) + " write units instead of " + number(turns.Total().Writes) +
				"; with other ids " + number(ids.Total().Writes) + ", since each needs a claim of its own. " +
				"One instance of the function appends all turns; a turn after one of another instance reads a unit more.",
			a.whole(turns, n/float64(turns.Count)),
		},
		{
			"1,000 sessions opened",
			"The thread of " + number(float64(load.Count)) + " turns is read as one page.",
			a.whole(load, n),
		},
		{
			"1,000 streamed answers, watched by one",
			"The runner calls an agent that streams " + number(answerTokens) + " tokens, 50 a second. One watcher is subscribed and receives each change. " +
				"It takes as long as the agent.",
			a.whole(watched, n),
		},
		{"1,000 streamed answers, watched by nobody", "The same without a watcher.", a.whole(alone, n)},
		{
			"1,000 watched hours by websockets",
			"A watcher opens a websocket, subscribes to a session, pings every 5 minutes, and leaves after an hour. The messages about changes cost extra: see above.",
			append(a.whole(hour, n), line{"connection minutes", "1,000 × 60", n * minutes, a.SocketMinute}),
		},
		a.idle(),
	}
}
