package stores_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/hooks"
)

// maxRestored is how many artifacts a rewind may restore.
const maxRestored = 88

// The largest transaction ends an active run with an item in progress, restores as
// many artifacts as allowed and shared state, and changes the queue. It fits.
func TestEnqueue_largest_transaction(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(*testing.T, *stores.Store){
		"merged into another start": func(t *testing.T, s *stores.Store) {
			t.Helper()
			mustStart(t, s, mergeOf(t, "s", "three"))
		},
		"after a failure": func(t *testing.T, s *stores.Store) {
			t.Helper()
			mustEnd(t, s, refOf("s", "one"), run.Failed, run.NewProblem("boom", "it broke"))
			mustStartQueued(t, s, "two")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			largest := 0
			s := stores.New(hooks.New(storetest.Engine(t), hooks.Hooks{
				Before: func(_ context.Context, c hooks.Call) error {
					mu.Lock()
					defer mu.Unlock()
					largest = max(largest, len(c.Writes))
					return nil
				},
			}))
			mustCreate(t, s, alice, "s", nil)
			delta := map[string]int64{}
			for n := range maxRestored {
				file := fmt.Sprint("file", n)
				mustPut(t, s, alice, "s", file, "before")
				delta[file] = mustPut(t, s, alice, "s", file, "after").Version
			}
			mustStart(t, s, startOf(t, "s", "one", "one"))
			if _, err := s.Runs.AppendEvents(t.Context(), refOf("s", "one"), []session.Event{
				named(t, "one", delta), stateEvent(t, "one", map[string]any{"k": 1, "app:k": 1}),
			}); err != nil {
				t.Fatal(err)
			}
			mustFlush(t, mustBegin(t, s, refOf("s", "one"), "item"), strings.Repeat("long ", 1000))
			two := enqueueOf(t, "s", "two")
			two.Input = append(two.Input, stateEvent(t, "two", map[string]any{"user:k": 1}))
			mustStart(t, s, two)
			begin(t, s)
			mu.Lock()
			defer mu.Unlock()
			t.Logf("%d writes", largest)
			if largest < maxRestored+8 || largest > table.MaxTransaction {
				t.Errorf("the largest transaction has %d writes", largest)
			}
		})
	}
}

// A queue that cannot be read fails only what needs it.
func TestEnqueue_unreadable(t *testing.T) {
	t.Parallel()
	var lines bytes.Buffer
	engine := storetest.Engine(t)
	s := stores.New(engine, stores.WithLogger(slog.New(slog.NewTextHandler(&lines, nil))))
	mustCreate(t, s, alice, "s", nil)
	mustStart(t, s, startOf(t, "s", "one", "one"))
	mustEnqueue(t, s, "s", "two")
	for _, item := range storetest.Items(t, engine) {
		if storetest.Text(t, item, table.SK) == "QUEUE" {
			item["b"] = &types.AttributeValueMemberB{Value: []byte("\x01 no DEFLATE")}
			storetest.Put(t, engine, item)
		}
	}
	wantConflict := func(what string, err error) {
		t.Helper()
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != fault.Conflict || !strings.Contains(f.Detail, "cannot be read") {
			t.Errorf("%s: %v", what, err)
		}
	}
	wantQueued(t, s, "s")
	_, err := s.Runs.Start(t.Context(), enqueueOf(t, "s", "three"))
	wantConflict("enqueue", err)
	_, err = s.Runs.Cancel(t.Context(), refOf("s", "two"))
	wantConflict("cancel", err)
	_, err = s.Runs.Run(t.Context(), refOf("s", "two"))
	wantConflict("read", err)
	mustEnd(t, s, refOf("s", "one"), run.Completed, nil)
	_, err = s.Runs.StartQueued(t.Context(), alice, "s")
	wantConflict("start", err)
	mustStart(t, s, startOf(t, "s", "four", "four"))
	mustStart(t, s, mergeOf(t, "s", "five"))
	mustEnd(t, s, refOf("s", "five"), run.Completed, nil)
	mustRewind(t, s, "s", "five")
	wantThread(t, s, "s", "idle", "1:one")
	if !strings.Contains(lines.String(), "QUEUE") {
		t.Errorf("the log does not name the item:\n%s", lines.String())
	}
	if err := s.Sessions.Delete(t.Context(), alice, "s"); err != nil {
		t.Error(err)
	}
}
