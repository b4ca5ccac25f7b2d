package price

import (
	"slices"

	"github.com/rethread/rethread/infra/bench/cost"
	"github.com/rethread/rethread/shared/observe/metrics"
)

// What is taken rather than measured: how long functions run, as a developer's
// machine says nothing of Lambda, and how people use the system. The sizes are
// those of template.yaml.
const (
	requestSeconds = 0.025 // of a function that answers a request, warm
	fanoutSeconds  = 0.015 // of a batch of changes
	requestGB      = 0.5
	streamGB       = 0.125 // of the function that streams server-sent events

	answerTokens    = 1000
	tokensPerSecond = 50
	flushMillis     = 150 // FlushEvery of the template

	minutes           = 60 // of an hour
	pingsPerHour      = 12 // of a client that hears nothing
	turnSeconds       = 90 // StreamTurn of the template
	turnsPerHour      = minutes * minutes / turnSeconds
	leaseWrites       = 2                     // of a turn: its place is taken and given back
	leaseReads        = 1 + turnSeconds/5*0.5 // the places are read, and every 5 s whether it is still its own
	ticksPerMonth     = 60 * 730
	socketInvocations = 4 // authorizer, connect, subscribe, disconnect

	// looks at one queue of notifications: five pollers, each for up to 20 seconds.
	looksPerMonth = 5 * 3 * 60 * 730
	orderedQueues = 3     // of webhooks, A2A and automations
	retryQueues   = 2     // for those of them that are slow or fail
	toldOf        = 3     // changes of a run that may be told of over HTTP: its beginning, its item, its end
	queuingGB     = 0.125 // of the function that looks whom
	// lookUps are for clients over A2A with each of these changes, for webhooks and
	// for automations with the beginning and the end.
	lookUps    = toldOf + 2
	slotWrites = 2

	deliverySeconds = 0.3 // of a delivery: most of it the receiver's
	deliveryGB      = 0.25
)

const (
	answerSeconds = answerTokens / tokensPerSecond
	// flushes of one answer: the first token at once, then one a FlushEvery.
	flushes = 1 + answerSeconds*1000/flushMillis
	// changes that watchers are told of: the input, the item's begin and end, the
	// end of the run, and each flush.
	changes = flushes + 4
)

// bills are all uses on the page.
func (a *accountant) bills() []bill {
	return []bill{a.turns(), a.loads(), a.answers(), a.viewers(), a.streams(), a.watched(), a.delivered(), a.storage(), a.telling(), a.idle()}
}

func (a *accountant) turns() bill {
	const n = 1000
	return bill{
		"1,000 turns",
		"A question of 300 characters and an answer of 2,000, each appended to a session by a request of its own.",
		slices.Concat([]line{
			a.writes(n, cost.Turn),
			a.reads(n, cost.Turn),
			{"HTTP API requests", "1,000 × 2", 2 * n, a.HTTPRequest},
		}, a.functions("events", 2*n, requestSeconds, requestGB)),
	}
}

func (a *accountant) loads() bill {
	const n = 1000
	return bill{
		"1,000 sessions opened",
		"The first 100 turns of a session are read, in two pages of 100 events.",
		slices.Concat([]line{
			a.reads(n, cost.LoadHundred),
			{"HTTP API requests", "1,000 × 2", 2 * n, a.HTTPRequest},
		}, a.functions("events", 2*n, requestSeconds, requestGB)),
	}
}

func (a *accountant) answers() bill {
	const n = 1000
	return bill{
		"1,000 streamed answers",
		"The runner calls an agent that streams 1,000 tokens, 50 a second, and stores what has come every 150 ms. " +
			"The function that tells watchers is invoked for each of these changes, whether anybody watches or not; " +
			"the stream of the table is free to read for it. A longer `FlushEvery` makes all of this cheaper.",
		slices.Concat([]line{
			a.writes(n, cost.StreamedAnswer),
			a.reads(n, cost.StreamedAnswer),
			{"HTTP API requests", "1,000", n, a.HTTPRequest},
		},
			a.functions("runs", n, requestSeconds, requestGB),
			a.functions("runner", n, answerSeconds, requestGB),
			a.functions("fanout", n*changes, fanoutSeconds, requestGB),
			[]line{a.reads(n*changes, cost.FindWatcher)},
			a.functions("dispatch", n*toldOf, fanoutSeconds, queuingGB),
			[]line{
				{"table reads", "1,000 × 5: who asked to be told, and what to do then", n * lookUps, a.TableRead},
				{"table writes", "1,000 × 2: its place among the runs that a user may have at once", n * slotWrites, a.TableWrite},
			},
		),
	}
}

func (a *accountant) viewers() bill {
	const n = 1000
	const messages = n * (1 + 1 + 2*pingsPerHour) // the subscription, its answer, pings and theirs
	return bill{
		"1,000 viewers for an hour",
		"Each opens a websocket, subscribes to a session, pings every 5 minutes, and leaves. What they see costs extra: the next but one.",
		slices.Concat([]line{
			{"connection minutes", "1,000 × 60", n * minutes, a.SocketMinute},
			{"messages", "1,000 × (subscribe, its answer, 12 × ping and pong)", messages, a.SocketMessage},
			a.writes(n, cost.Subscribe),
			a.reads(n, cost.Subscribe),
			a.reads(n, cost.CatchUp),
		}, a.functions("authorizer, watch", n*(socketInvocations+pingsPerHour), requestSeconds, requestGB)),
	}
}

func (a *accountant) streams() bill {
	const n = 1000
	const anew = n * (turnsPerHour - 1) // the first connection is reckoned with the viewers
	return bill{
		"1,000 viewers for an hour by server-sent events, on top",
		"A function holds each stream open, itself a subscriber by websocket that connects anew each turn of 90 s. Of who " +
			"leaves, up to a turn is paid for. It is the dear way: where clients can, let them use websockets.",
		slices.Concat([]line{
			{"REST API requests", "1,000 × " + number(turnsPerHour), n * turnsPerHour, a.StreamRequest},
		},
			a.functions("sse", n*turnsPerHour, turnSeconds, streamGB),
			a.functions("authorizer, watch", n*turnsPerHour+anew*socketInvocations, requestSeconds, requestGB),
			[]line{
				{"messages", number(anew) + " × (subscribe, its answer)", 2 * anew, a.SocketMessage},
				a.writes(anew, cost.Subscribe),
				a.reads(anew, cost.Subscribe),
				a.reads(anew, cost.CatchUp),
				{"table writes", number(n*turnsPerHour) + " × 2: its place among the streams of its user", n * turnsPerHour * leaseWrites, a.TableWrite},
				{"table reads", number(n*turnsPerHour) + " × 10: the same", n * turnsPerHour * leaseReads, a.TableRead},
			},
		),
	}
}

func (a *accountant) watched() bill {
	const n = 1000
	return bill{
		"1,000 viewers of one streamed answer, on top",
		"Each is sent every flush of an answer of 1,000 tokens. The fan-out takes longer for it, which is not reckoned." +
			" An item over 128 KB costs each of them one request more when it is whole: it is read over the HTTP API.",
		[]line{{"messages", "1,000 × " + number(changes) + " changes", n * changes, a.SocketMessage}},
	}
}

func (a *accountant) delivered() bill {
	const n = 1000
	return bill{
		"1,000 deliveries to a webhook",
		"Something happens that one webhook of the user wants to hear of, and its server answers within 0.3 s. A try " +
			"that fails costs as much again, and so do seven write units for what waits for a server that fails or is slow. The last line is for the same event on an EventBridge bus, where one is named.",
		slices.Concat(
			a.functions("dispatch", n, fanoutSeconds, queuingGB),
			[]line{
				{"table reads", "1,000 × 2: who wants to hear of it", 2 * n, a.TableRead},
				{"queue requests", "1,000 × (send, receive, delete)", 3 * n, a.QueueRequest},
			},
			a.functions("deliver", n, deliverySeconds, deliveryGB),
			[]line{
				{"table reads", "1,000 × 3: whether others wait before it, the webhook and its secrets", 3 * n, a.TableRead},
				{"table writes", "1,000: what became of it", n, a.TableWrite},
				{"events on a bus", "1,000", n, a.BusEvent},
			}),
	}
}

func (a *accountant) storage() bill {
	return bill{
		"1 GB for a month",
		"Bodies are compressed. The template keeps point-in-time recovery on, which costs by the size of the table.",
		[]line{
			{"storage", "1", 1, a.TableStorage},
			{"point-in-time recovery", "1", 1, a.TableBackup},
		},
	}
}

// What functions tell of themselves.
const (
	// answering is how many functions answer somebody, and so have a latency.
	answering = 14
	// lineGB is a request's line in the log and its line of metrics, with what
	// CloudWatch adds to each.
	lineGB = 0.9e-6
)

func (a *accountant) telling() bill {
	count := float64(len(metrics.All()) - 1 + answering)
	const n = 1_000_000
	return bill{
		"What functions tell in a month of 1,000,000 requests, on top",
		"Each has a line in the log and one of metrics, of which an hour costs only what was measured in it; none of " +
			"them while nobody comes. With the parameter Metrics off, only the lines of the log are left.",
		[]line{
			{"metrics", number(count), count, a.CustomMetric},
			{"lines", "1,000,000 × 0.9 KB", n * lineGB, a.LogGigabyte},
		},
	}
}

func (a *accountant) idle() bill {
	return bill{
		"A month in which nobody comes",
		"The sweeper looks every minute for what was left half done, Lambda looks at the queues of notifications all the " +
			"time, and alarms watch metrics; the rest waits for free.",
		slices.Concat(
			a.functions("sweeper", ticksPerMonth, requestSeconds, requestGB),
			[]line{{"metrics of alarms", number(float64(a.measures.AlarmMetrics)), float64(a.measures.AlarmMetrics), a.AlarmMetric}},
			[]line{
				{"looks at queues", "3 × 5 × 3 a minute", orderedQueues * looksPerMonth, a.QueueRequest},
				{"looks at queues of retries", "2 × 5 × 3 a minute", retryQueues * looksPerMonth, a.PlainQueueRequest},
			},
		),
	}
}
