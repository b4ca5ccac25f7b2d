package price

import (
	"slices"

	"github.com/rethread/rethread/infra/bench/cost"
	"github.com/rethread/rethread/infra/bench/meter/scenario"
	"github.com/rethread/rethread/shared/observe/metrics"
)

// Assumptions, which are not measured: functions' durations, because a developer's
// machine does not predict Lambda, and how users use the system. The memory sizes
// are those of template.yaml.
const (
	requestSeconds = 0.025 // of a function that answers a request, warm
	fanoutSeconds  = 0.015 // of a batch of changes
	requestGB      = 0.5
	streamGB       = 0.125 // of the function that streams server-sent events

	answerTokens = 1000

	minutes           = 60 // of an hour
	pingsPerHour      = 12 // of an idle client
	turnSeconds       = 90 // StreamTurn of the template
	turnsPerHour      = minutes * minutes / turnSeconds
	leaseWrites       = 2                     // of a turn: its slot is taken and released
	leaseReads        = 1 + turnSeconds/5*0.5 // the slots are read, and every 5 s whether it still has its own
	ticksPerMonth     = 60 * 730
	socketInvocations = 4 // authorizer, connect, subscribe, disconnect

	// pollsPerMonth are the receives of one queue: five pollers that each wait 20 s.
	pollsPerMonth = 5 * 3 * 60 * 730
	orderedQueues = 3     // for webhooks, A2A and automations
	retryQueues   = 2     // for receivers that are slow or fail
	queuingGB     = 0.125 // of the function dispatch

	deliverySeconds = 0.3 // of a delivery: most of it is the receiver's
	deliveryGB      = 0.25
)

// bills returns the uses that come on top, whose parts were measured at the store.
func (a *accountant) bills() []bill {
	return []bill{a.queued(), a.histories(), a.streams(), a.frontends(), a.watched(), a.delivered(), a.storage(), a.telling()}
}

func (a *accountant) queued() bill {
	const n = 1000
	const changes = 2 // of a queue: an input is added, and its run begins
	begin, start := a.units(cost.BeginQueued), a.units(cost.StartRun)
	return bill{
		"1,000 questions asked during an answer, on top",
		"Each waits in its session's queue until its run begins ([`on_active: enqueue`](runs.md#inputs-that-wait)). The answers cost " +
			"what all answers cost. Sessions in which no question waits pay nothing.",
		slices.Concat([]line{
			a.writes(n, cost.QueueInput),
			a.reads(n, cost.QueueInput),
			{
				"table writes", "1,000 × " + number(begin.Writes-start.Writes) + " units more: " + cost.BeginQueued + ", not " + cost.StartRun,
				n * (begin.Writes - start.Writes), a.TableWrite,
			},
		},
			a.functions("fanout", n*changes, fanoutSeconds, requestGB),
			[]line{a.reads(n*changes, cost.FindWatcher)},
			a.functions("dispatch", n, requestSeconds, queuingGB),
		),
	}
}

func (a *accountant) histories() bill {
	const n = 1000
	whole := cost.WholeHistory(History)
	return bill{
		"1,000 runs in a session of 1,000 turns, on top",
		"A run reads what its agent is asked: the whole history, unless the agent's configuration limits it " +
			"([`history`](agent-protocol.md#configuration)). Limited to the newest 20 turns, 1,000 runs read " +
			number(n*a.units(cost.LimitedHistory).Reads) + " units however long their sessions are. A model's provider " +
			"charges for the history too, usually far more than AWS.",
		[]line{a.reads(n, whole)},
	}
}

func (a *accountant) streams() bill {
	const n = 1000
	const again = n * (turnsPerHour - 1) // the first connection is in the bill of viewers
	return bill{
		"1,000 watched hours by server-sent events, on top",
		"A function holds each stream open; it is itself a websocket subscriber, which reconnects each turn of 90 s. After a " +
			"viewer leaves, up to one turn is still paid for. Websockets are much cheaper: use them in clients that can.",
		slices.Concat([]line{
			{"REST API requests", "1,000 × " + number(turnsPerHour), n * turnsPerHour, a.StreamRequest},
		},
			a.functions("sse", n*turnsPerHour, turnSeconds, streamGB),
			a.functions("authorizer, watch", n*turnsPerHour+again*socketInvocations, requestSeconds, requestGB),
			[]line{
				{"messages", number(again) + " × (subscribe, its answer)", 2 * again, a.SocketMessage},
				a.writes(again, cost.Subscribe),
				a.reads(again, cost.Subscribe),
				a.reads(again, cost.CatchUp),
				{"table writes", number(n*turnsPerHour) + " × 2: one of the user's slots for streams", n * turnsPerHour * leaseWrites, a.TableWrite},
				{"table reads", number(n*turnsPerHour) + " × 10: the same", n * turnsPerHour * leaseReads, a.TableRead},
			},
		),
	}
}

func (a *accountant) frontends() bill {
	const n = 1000
	answer := a.metered(scenario.Watched).Seconds
	return bill{
		"1,000 answers streamed to AG-UI, useChat or Responses, on top",
		"On top of an answer that is watched by one: a function holds the stream open while the agent answers, with the memory of " +
			"AGUIFunction, AISDKFunction and ResponsesFunction, which is why it costs more than a stream of server-sent events.",
		slices.Concat(
			[]line{{"REST API requests", "1,000", n, a.StreamRequest}},
			a.functions("agui, aisdk or responses", n, answer, a.record.Memory["AGUIFunction"]),
			[]line{
				{"table writes", "1,000 × 2: one of the user's slots for streams", n * leaseWrites, a.TableWrite},
				{"table reads", "1,000 × " + number(1+answer/5*0.5) + ": the same", n * (1 + answer/5*0.5), a.TableRead},
			},
		),
	}
}

func (a *accountant) watched() bill {
	frames := float64(a.metered(scenario.Watched).Frames)
	const n = 1000
	return bill{
		"1,000 viewers of one streamed answer, on top",
		"Each viewer is sent every flush of an answer of 1,000 tokens. The longer run time of `fanout` is not included." +
			" An item over 128 KB costs each viewer one more request when it is complete: it is read over the HTTP API.",
		[]line{{"messages", "1,000 × " + number(frames) + " changes", n * frames, a.SocketMessage}},
	}
}

func (a *accountant) delivered() bill {
	const n = 1000
	return bill{
		"1,000 deliveries to a webhook",
		"An event matches one webhook of the user, whose server answers within 0.3 s. Each failed attempt costs " +
			"as much again; a delivery that waits for a slow or failing server costs seven more write units. The last line is the same event on an EventBridge bus, if one is configured.",
		slices.Concat(
			a.functions("dispatch", n, fanoutSeconds, queuingGB),
			[]line{
				{"table reads", "1,000 × 2: look up webhooks and automations", 2 * n, a.TableRead},
				{"queue requests", "1,000 × (send, receive, delete)", 3 * n, a.QueueRequest},
			},
			a.functions("deliver", n, deliverySeconds, deliveryGB),
			[]line{
				{"table reads", "1,000 × 3: earlier waiting deliveries, the webhook and its secrets", 3 * n, a.TableRead},
				{"table writes", "1,000: the record of the delivery", n, a.TableWrite},
				{"events on a bus", "1,000", n, a.BusEvent},
			}),
	}
}

func (a *accountant) storage() bill {
	return bill{
		"1 GB for a month",
		"Bodies are compressed. The template keeps point-in-time recovery on, which is priced by the size of the table.",
		[]line{
			{"storage", "1", 1, a.TableStorage},
			{"point-in-time recovery", "1", 1, a.TableBackup},
		},
	}
}

// lineGB is the size of a request's log line and metrics line, including what CloudWatch
// adds to each.
const lineGB = 0.9e-6

func (a *accountant) telling() bill {
	count := float64(len(metrics.All()) - 1 + a.measures.Answering)
	const n = 1_000_000
	return bill{
		"Logs and metrics in a month of 1,000,000 requests, on top",
		"Each request writes a log line and a line of metrics. A metric is priced by the hours in which it was measured, so it " +
			"costs nothing without requests. With the parameter `Metrics` set to `off`, only the log lines remain.",
		[]line{
			{"metrics", number(count), count, a.CustomMetric},
			{"lines", "1,000,000 × 0.9 KB", n * lineGB, a.LogGigabyte},
		},
	}
}

func (a *accountant) idle() bill {
	const each, logged = pollsPerMonth, 230.0 // bytes of a tick's line in the log
	alarms := float64(a.measures.AlarmMetrics)
	shared := slices.Concat(
		a.functions("sweeper", ticksPerMonth, requestSeconds, requestGB),
		[]line{
			a.reads(ticksPerMonth, cost.Sweep),
			{"logs", number(ticksPerMonth) + " × " + number(logged) + " bytes", ticksPerMonth * logged / gigabyte, a.LogGigabyte},
			{"metrics of alarms", number(alarms), alarms, a.AlarmMetric},
			{"polls of a queue", "5 × 3 a minute", each, a.QueueRequest},
		},
	)
	further := []line{
		{"polls of further queues", "2 × 5 × 3 a minute", (orderedQueues - 1) * each, a.QueueRequest},
		{"polls of retry queues", "2 × 5 × 3 a minute", retryQueues * each, a.PlainQueueRequest},
	}
	if n := float64(a.measures.Dashboards); n > 0 {
		further = append(further, line{"dashboard", number(n), n, a.Dashboard})
	}
	return bill{
		"A month without requests",
		"The sweeper checks every minute for unfinished work, alarms watch metrics, and Lambda polls the queues of notifications all the time. " +
			"With one queue that is " + dollars(bill{Lines: shared}.Total()) + "; each further queue adds its polls: " +
			dollars(each*a.QueueRequest.Dollars) + " if it is FIFO, " + dollars(each*a.PlainQueueRequest.Dollars) + " if it is not. " +
			"The five queues keep slow receivers apart from others ([ADR 25](adr/0025-lanes-for-slow-receivers.md)). " +
			"A dashboard costs " + dollars(a.Dashboard.Dollars) + " more (parameter `Dashboards`); everything else is free while idle.",
		slices.Concat(shared, further),
	}
}
