package modeltest_test

import (
	"context"

	lifecycle "github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
)

func befores() []before {
	start := starting("start", anyone, lifecycle.Reject, lifecycle.Discard)
	return []before{
		{"idle", nil},
		{"a run at work", []act{start}},
		{"a run with an item in progress", []act{start, beginning()}},
		{"a run that is kept, with an item in progress", []act{
			starting("start", anyone, lifecycle.Reject, lifecycle.Keep), beginning(),
		}},
		{"after a run that failed", []act{start, ending(lifecycle.Failed)}},
		{"after a run that was cancelled", []act{start, beginning(), cancelling()}},
	}
}

func acts() []act {
	return []act{
		starting("a start", anyone, lifecycle.Reject, lifecycle.Discard),
		starting("a start that may be repeated", same, lifecycle.Reject, lifecycle.Discard),
		starting("a start that blocks", anyone, lifecycle.Reject, lifecycle.Block),
		starting("a start that merges", anyone, lifecycle.CancelAndMerge, lifecycle.Discard),
		cancelling(), keeping(), ending(lifecycle.Completed), ending(lifecycle.Failed),
		appending("two"), producing(), beginning(),
		rewinding("one"), rewinding(first), deleting(),
	}
}

// anyone stands for who starts a run, as part of its id.
const anyone = "*"

func starting(name, id string, active lifecycle.OnActive, failed lifecycle.OnFailed) act {
	a := act{name: name, runs: id}
	a.do = func(ctx context.Context, s *stores.Store, who string) error {
		ref := refTo(a.run(who))
		_, err := s.Runs.Start(ctx, lifecycle.Start{
			Ref: ref, Mode: lifecycle.Managed, OnActive: active, OnFailed: failed,
			Input: []session.Event{said(ref.RunID)},
		})
		return err
	}
	return a
}

func cancelling() act {
	return act{name: "a cancellation", do: func(ctx context.Context, s *stores.Store, _ string) error {
		_, err := s.Runs.Cancel(ctx, refTo(first))
		return err
	}}
}

// keeping cancels the run so that it is kept.
func keeping() act {
	return act{name: "a cancellation that keeps", do: func(ctx context.Context, s *stores.Store, _ string) error {
		_, err := s.Runs.CancelAs(ctx, refTo(first), lifecycle.Keep)
		return err
	}}
}

func ending(status lifecycle.Status) act {
	return act{name: "an end as " + string(status), do: func(ctx context.Context, s *stores.Store, _ string) error {
		var problem *lifecycle.Problem
		if status == lifecycle.Failed {
			problem = lifecycle.NewProblem(lifecycle.CodeAgent, "it failed")
		}
		_, err := s.Runs.End(ctx, refTo(first), status, problem)
		return err
	}}
}

// appended is the text of an event that no run wrote.
const appended = "appended"

func appending(invocation string) act {
	return act{name: "an append", do: func(ctx context.Context, s *stores.Store, _ string) error {
		e := said(invocation)
		e.Fields["content"] = mustJSON(map[string]any{"parts": []map[string]string{{"text": appended}}})
		_, _, err := s.Sessions.Append(ctx, session.Append{UserID: runner, SessionID: "s", Events: []session.Event{e}})
		return err
	}}
}

func producing() act {
	return act{name: "an append by the run", do: func(ctx context.Context, s *stores.Store, _ string) error {
		_, err := s.Runs.AppendEvents(ctx, refTo(first), []session.Event{said("")})
		return err
	}}
}

func beginning() act {
	return act{name: "an item that begins", do: func(ctx context.Context, s *stores.Store, who string) error {
		e := said("")
		e.ID, e.Fields["content"] = "item of "+who, []byte(`{"role":"model"}`)
		_, err := s.Runs.BeginItem(ctx, refTo(first), e)
		return err
	}}
}

func rewinding(before string) act {
	return act{name: "a rewind before " + before, do: func(ctx context.Context, s *stores.Store, who string) error {
		_, err := s.History.Rewind(ctx, session.Rewind{
			UserID: runner, SessionID: "s", Before: before, Nonce: "rewind of " + who, CancelRun: true,
		})
		return err
	}}
}

func deleting() act {
	return act{name: "a deletion", ends: true, do: func(ctx context.Context, s *stores.Store, _ string) error {
		return s.Sessions.Delete(ctx, runner, "s")
	}}
}
