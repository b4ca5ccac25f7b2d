package stores_test

import "github.com/rethread/rethread/shared/domain/run"

func playQueue(w *world) {
	ctx := w.t.Context()
	mustCreate(w.t, w.s, alice, "s", nil)
	mustStart(w.t, w.s, startOf(w.t, "s", "r", "hi"))
	w.loser.begin()
	for _, id := range []string{"q1", "q2", "q3"} {
		w.note("enqueue", nil, mustStart(w.t, w.s, enqueueOf(w.t, "s", id)).Status)
	}
	cancelled, err := w.s.Runs.Cancel(ctx, refOf("s", "q2"))
	w.note("cancel", err, cancelled.Status)
	mustEnd(w.t, w.s, refOf("s", "r"), run.Completed, nil)
	begun, err := w.s.Runs.StartQueued(ctx, alice, "s")
	w.note("start", err, derefRun(begun).ID)
	w.note("merge", nil, mustStart(w.t, w.s, mergeOf(w.t, "s", "m")).Status)
	again, err := w.s.Runs.Run(ctx, refOf("s", "q3"))
	w.note("run", err, again.Status)
	got := mustThread(w.t, w.s, "s")
	w.note("thread", nil, shown(got), got.Queue.Version, len(got.Queue.Starts))
	usage, err := w.s.Runs.Usage(ctx, alice)
	w.note("usage", err, usage.Runs.Used)
}

func derefRun(r *run.Run) (out run.Run) {
	if r != nil {
		out = *r
	}
	return out
}
