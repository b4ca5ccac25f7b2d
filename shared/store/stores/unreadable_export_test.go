package stores_test

import (
	"bytes"
	"errors"
	"log/slog"
	"maps"
	"testing"
	"time"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/archive"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
)

// An export is complete or fails: whatever item of the table is spoiled, an export
// reports an unreadable item, unless its result is unchanged.
func TestUnreadable_export(t *testing.T) {
	t.Parallel()
	engine := storetest.Engine(t)
	now := time.Now()
	s := stores.New(engine, stores.WithLogger(slog.New(slog.DiscardHandler)),
		stores.WithClock(func() time.Time { return now }))
	chat(t, s, "s", 3)
	mustRewind(t, s, "s", "inv-3")
	mustSave(t, s, "s", "t", `[{"id":"b","type":"user","text":"hi","metadata":{"kagent_invocation_id":"inv-1"}}]`, "inv-1")
	if err := s.Feedback.AddFeedback(t.Context(), task.Feedback{ID: "f", UserID: alice, SessionID: "s", TaskID: "t", Type: "up", CreatedTime: 1}); err != nil {
		t.Fatal(err)
	}
	mustName(t, s, "s", "inv-4", "file", "content")
	mustName(t, s, "s", "inv-4", "user:file", "content")
	mustFork(t, s, "s", "fork", nil)
	export := func(id string) (string, error) {
		var out bytes.Buffer
		err := s.Archives.Export(t.Context(), alice, id, archive.NewWriter(&out))
		return out.String(), err
	}
	whole := map[string]string{}
	for _, id := range []string{"s", "fork"} {
		var err error
		if whole[id], err = export(id); err != nil {
			t.Fatal(err)
		}
	}
	all := storetest.Items(t, engine)
	cases, refused := 0, 0
	for how, spoil := range spoilers() {
		for _, item := range all {
			bad := maps.Clone(item)
			pk, sk := storetest.Text(t, item, table.PK), storetest.Text(t, item, table.SK)
			if sk == "HEAD" || !spoil(bad) { // without it the session's owner is unknown
				continue
			}
			storetest.Put(t, engine, bad)
			for id, want := range whole {
				cases++
				got, err := export(id)
				var f *fault.Error
				switch {
				case err == nil && got != want:
					t.Errorf("%s spoiled in %s %s: the document of %s does not show it", how, pk, sk, id)
				case err != nil && (!errors.As(err, &f) || f.Kind != fault.Conflict):
					t.Errorf("%s spoiled in %s %s: %s: %v", how, pk, sk, id, err)
				case err != nil:
					refused++
				}
			}
			storetest.Put(t, engine, item)
		}
	}
	t.Logf("%d exports, %d refused", cases, refused)
	if cases < 80 || refused < 25 {
		t.Errorf("%d exports, %d refused", cases, refused)
	}
}
