package run

import (
	"slices"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
)

// Before is the state of a session before a start. Positions are those of its log,
// 0 for none.
type Before struct {
	Active      string // the active run, "" for none
	ActiveInput int64  // position of its input
	ActiveKept  bool   // it is kept when it is cancelled
	Failed      bool   // the last run failed
	Unfinished  string // the last run, if it failed or was cancelled and is not kept
	// Pending is the position of an accepted input without a run: its first
	// PendingCount events, or all if PendingCount is 0.
	Pending, PendingCount int64
	// Queue is the starts that wait.
	Queue []Queued
}

// StartPlan is what a start does besides beginning a run.
type StartPlan struct {
	// Cancels is the active run to be cancelled; Discards is the run before which
	// the session is rewound: not the cancelled one if that is kept. Both are "" for
	// none.
	Cancels, Discards string
	// Takes is the position of an input that the run takes over, 0 for none: its
	// first TakesCount events, or all if TakesCount is 0.
	Takes, TakesCount int64
	// Merges is the queued starts whose inputs the run takes over after that one.
	// Enqueues is set if the start waits in the queue, and nothing else happens.
	Merges   []Queued
	Enqueues bool
}

// Plan decides what a start does: begin, replace another run and take over its
// input, wait in the queue, or none of these. It returns fault.Conflict, with run_id,
// if the active run, the last one or a queued one prevents the start.
func (s Start) Plan(b Before) (StartPlan, error) {
	if s.OnActive == Enqueue && (b.Active != "" || len(b.Queue) > 0) {
		return StartPlan{Enqueues: true}, nil
	}
	next := b.next()
	switch {
	case b.Active != "" && s.OnActive != CancelAndMerge:
		return StartPlan{}, fault.New(fault.RunActive, "a run is in progress").With("run_id", b.Active)
	case b.Active != "":
		plan := StartPlan{Cancels: b.Active, Merges: b.Queue}
		if !b.ActiveKept { // else its input stays where it is
			plan.Discards, plan.Takes = b.Active, b.ActiveInput
		}
		return plan, nil
	case next != nil && s.OnActive != CancelAndMerge:
		return StartPlan{}, fault.New(fault.InputsQueued, "inputs are queued and about to start").With("run_id", next.RunID)
	case b.blocks(s.OnFailed):
		return StartPlan{}, fault.New(fault.LastRunFailed, "the last run failed").With("run_id", b.Unfinished)
	}
	plan := StartPlan{Discards: b.Unfinished, Takes: b.Pending, TakesCount: b.PendingCount}
	if next != nil {
		plan.Merges = b.Queue
	}
	return plan, nil
}

// replaces returns the run that the start replaces although it might answer: the
// active one or the first that waits. "" is for none.
func (p StartPlan) replaces() string {
	if p.Cancels == "" && len(p.Merges) > 0 {
		return p.Merges[0].RunID
	}
	return p.Cancels
}

// InputOf returns the input of the run: the events that it takes over, in the order
// in which they were accepted, then its own. All of them get its invocation, and
// those that it takes over no id. It returns fault.Conflict, with run_id, if the
// input is too large to be merged, since it is read and written as a whole; the
// active run then continues.
func (s Start) InputOf(p StartPlan, taken []session.Event) ([]session.Event, error) {
	if p.TakesCount > 0 {
		taken = taken[:min(p.TakesCount, int64(len(taken)))]
	}
	for _, q := range p.Merges {
		taken = append(slices.Clip(taken), q.Input...)
	}
	input := make([]session.Event, 0, len(taken)+len(s.Input))
	for _, e := range taken {
		input = append(input, session.Event{
			Author: e.Author, StateDelta: e.StateDelta, ArtifactDelta: e.ArtifactDelta, Fields: e.Fields,
		})
	}
	input = append(input, s.Input...)
	bytes := 0
	for i := range input {
		bytes += input[i].Size()
		input[i].InvocationID = s.RunID
	}
	if run := p.replaces(); run != "" && (len(input) > MaxMerged || bytes > session.PageBytes) {
		return nil, fault.New(fault.QueueFull, "the input of the active run has grown too large to be merged: let the run end").
			With("run_id", run)
	}
	return input, nil
}

// Ending is how a run ended.
type Ending struct {
	Status  Status
	Problem *Problem
	Started bool  // a worker has claimed it
	Taken   int64 // how many events of its input it took over from another run
	Keep    bool  // whether it is kept although it failed or was cancelled
}

// Aftermath is what a session records about an ended run.
type Aftermath struct {
	Status     session.Status
	Unfinished bool // the next run starts from before it
	// Pending is set if the next run takes over the same input again: no worker has
	// seen it, so only this start failed, and an accepted input must still be
	// answered. The input of a run that is kept is in the history anyway.
	Pending bool
	// Kept is set if the run failed and is kept: it is shown as the session's last
	// run, and no start discards it.
	Kept bool
}

// Aftermath decides what a session records about the run.
func (e Ending) Aftermath() Aftermath {
	out := Aftermath{Status: session.Idle, Unfinished: e.Status != Completed && !e.Keep}
	if e.Status == Failed {
		out.Status, out.Kept = session.Failed, e.Keep
		notStarted := !e.Started || e.Problem != nil && e.Problem.Code == CodeStart
		out.Pending = e.Taken > 0 && notStarted && !e.Keep
	}
	return out
}
