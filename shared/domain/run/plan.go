package run

import (
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
)

// Before is a session as a start finds it. Positions are those of its log, 0 for
// none.
type Before struct {
	Active      string // the active run, "" for none
	ActiveInput int64  // position of its input
	Failed      bool   // the last run failed
	Unfinished  string // the last run, where it failed or was cancelled
	// Pending is the position of an input that was accepted and has no run: its
	// first PendingCount events, or all for 0.
	Pending, PendingCount int64
}

// StartPlan is what a start does besides beginning a run.
type StartPlan struct {
	// Cancels is the active run, which ends; Discards the run before which the
	// session is rewound. Both are "" for none.
	Cancels, Discards string
	// Takes is the position of an input that the run takes over, 0 for none: its
	// first TakesCount events, or all for 0.
	Takes, TakesCount int64
}

// Plan decides what a start does: begin, replace another run and take over its
// input, or neither. fault.Conflict, with run_id, where the active run or the last
// one keeps it from beginning.
func (s Start) Plan(b Before) (StartPlan, error) {
	switch {
	case b.Active != "" && s.OnActive != CancelAndMerge:
		return StartPlan{}, fault.New(fault.Conflict, "a run is in progress").With("run_id", b.Active)
	case b.Active != "":
		return StartPlan{Cancels: b.Active, Discards: b.Active, Takes: b.ActiveInput}, nil
	case b.Failed && b.Unfinished != "" && s.OnFailed == Block:
		return StartPlan{}, fault.New(fault.Conflict, "the last run failed").With("run_id", b.Unfinished)
	}
	return StartPlan{Discards: b.Unfinished, Takes: b.Pending, TakesCount: b.PendingCount}, nil
}

// InputOf is the input of the run: the events that it takes over, in the order in
// which they were accepted, and then its own. All of them are its invocation's, and
// none has an id. fault.Conflict, with run_id, where it has grown too large to be
// merged, as it is read and written as a whole; the active run then goes on.
func (s Start) InputOf(p StartPlan, taken []session.Event) ([]session.Event, error) {
	if p.TakesCount > 0 {
		taken = taken[:min(p.TakesCount, int64(len(taken)))]
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
	if p.Cancels != "" && (len(input) > MaxMerged || bytes > session.PageBytes) {
		return nil, fault.New(fault.Conflict, "the input of the active run has grown too large to be merged: let the run end").
			With("run_id", p.Cancels)
	}
	return input, nil
}

// Ending is how a run ends.
type Ending struct {
	Status  Status
	Problem *Problem
	Started bool  // a worker has claimed it
	Taken   int64 // events of its input that it took over from another run
}

// Aftermath is what a session keeps of a run that has ended.
type Aftermath struct {
	Status     session.Status
	Unfinished bool // the next run starts from before it
	// Pending is set where the next run takes over again what this one did: nobody
	// has seen it, so what failed was this start, and no answer to an input that was
	// accepted is lost.
	Pending bool
}

// Aftermath decides what a session keeps of a run that ends so.
func (e Ending) Aftermath() Aftermath {
	out := Aftermath{Status: session.Idle, Unfinished: e.Status != Completed}
	if e.Status == Failed {
		out.Status = session.Failed
		notStarted := !e.Started || e.Problem != nil && e.Problem.Code == CodeStart
		out.Pending = e.Taken > 0 && notStarted
	}
	return out
}
