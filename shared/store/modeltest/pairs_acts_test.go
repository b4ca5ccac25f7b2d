package modeltest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/archive"
	lifecycle "github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/store/stores"
)

const shareID = "shared before"

// pairActs are the operations of callers on one session. The names of what they
// create contain the caller.
func pairActs(t *testing.T, document []byte) []act {
	t.Helper()
	return []act{
		startingAs("start", lifecycle.Reject), startingAs("merge", lifecycle.CancelAndMerge),
		cancelling(), keeping(),
		{name: "append", do: func(ctx context.Context, s *stores.Store, who string) error {
			_, _, err := s.Sessions.Append(ctx, session.Append{
				UserID: runner, SessionID: "s", Events: []session.Event{saying("appended by "+who, who)},
			})
			return err
		}},
		rewinding("one"), rewinding("two"),
		{name: "fork", do: func(ctx context.Context, s *stores.Store, who string) error {
			_, err := s.History.Fork(ctx, session.ForkOf{SessionID: "s", UserID: runner, ID: "fork of " + who, Nonce: "fork of " + who})
			return err
		}},
		{name: "save", do: func(ctx context.Context, s *stores.Store, who string) error {
			_, _, err := s.Tasks.Save(ctx, task.Save{SessionID: "s", UserID: runner, Invocations: []string{"one"}, Task: task.Task{
				ID: "task", Bubbles: json.RawMessage(`[{"id":"b","type":"user","text":"saved by ` + who + `"}]`),
			}})
			return err
		}},
		deleting(),
		{name: "share", do: func(ctx context.Context, s *stores.Store, who string) error {
			_, err := s.Shares.Share(ctx, access.NewShare{
				ID: "shared by " + who, OwnerID: runner, SessionID: "s", Right: access.Read, UserID: "guest of " + who,
			})
			return err
		}},
		{name: "revoke", do: func(ctx context.Context, s *stores.Store, _ string) error {
			return s.Shares.Revoke(ctx, runner, "s", shareID)
		}},
		{name: "import", do: func(ctx context.Context, s *stores.Store, who string) error {
			part, err := archive.Parse(document)
			if err != nil {
				return err
			}
			_, err = s.Archives.Import(ctx, archive.Upload{UserID: runner, ImportID: "import of " + who, Number: 1, Digest: "1", Part: part})
			return err
		}},
	}
}

func startingAs(name string, active lifecycle.OnActive) act {
	return act{name: name, do: func(ctx context.Context, s *stores.Store, who string) error {
		_, err := s.Runs.Start(ctx, lifecycle.Start{
			Ref: refTo(who), Mode: lifecycle.Managed, OnActive: active, OnFailed: lifecycle.Discard,
			Input: []session.Event{saying("asked by "+who, who)},
		})
		return err
	}}
}

// saying returns an event with a text, which stores the last caller in the state.
func saying(text, invocation string) session.Event {
	e := said(invocation)
	e.StateDelta = session.Delta{"last": mustJSON(text), "user:last": mustJSON(text)}
	e.Fields["content"] = mustJSON(map[string]any{"parts": []map[string]string{{"text": text}}})
	e.Fields["actions"] = mustJSON(map[string]any{"state_delta": e.StateDelta})
	return e
}

// exported returns a session as a document.
func exported(t *testing.T, s *stores.Store) []byte {
	t.Helper()
	var doc bytes.Buffer
	if err := s.Archives.Export(t.Context(), runner, "s", archive.NewWriter(&doc)); err != nil {
		t.Fatal(err)
	}
	return doc.Bytes()
}
