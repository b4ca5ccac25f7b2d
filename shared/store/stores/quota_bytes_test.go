package stores_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/archive"
	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/domain/quota"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
)

func bytesUsed(t testing.TB, s *stores.Store) int64 {
	t.Helper()
	u, err := s.Runs.Usage(t.Context(), alice)
	if err != nil {
		t.Fatal(err)
	}
	return u.Bytes.Used
}

// letters is a text of so many characters that hardly compresses.
func letters(t testing.TB, n int) string {
	t.Helper()
	return base64.RawStdEncoding.EncodeToString([]byte(randomText(t, n)))[:n]
}

// saving is a task with so much to say.
func saving(t testing.TB, sessionID, id string, size int) task.Save {
	t.Helper()
	return task.Save{SessionID: sessionID, UserID: alice, Task: task.Task{
		ID: id, Bubbles: []byte(`[{"id":"b","type":"agent","text":"` + letters(t, size) + `"}]`),
	}}
}

func TestByteQuota(t *testing.T) {
	t.Parallel()
	const limit = 200 << 10
	within := func(t *testing.T, got, least, most int64) {
		t.Helper()
		if got < least || got > most {
			t.Errorf("%d bytes are counted, want %d to %d", got, least, most)
		}
	}
	t.Run("what little a log has costs nothing to count, and much counts", func(t *testing.T) {
		t.Parallel()
		s, _ := limited(t, quota.Limits{Bytes: limit})
		mustCreate(t, s, alice, "s", nil)
		for range 6 {
			mustAppend(t, s, alice, "s", event(t, "", "i", letters(t, 10<<10)))
		}
		within(t, bytesUsed(t, s), 0, 0)
		mustAppend(t, s, alice, "s", event(t, "", "i", letters(t, 25<<10)))
		within(t, bytesUsed(t, s), 50<<10, 80<<10)
		if err := s.Sessions.Delete(t.Context(), alice, "s"); err != nil {
			t.Fatal(err)
		}
		within(t, bytesUsed(t, s), 0, 0)
	})
	t.Run("what an agent streams counts at the end of its run", func(t *testing.T) {
		t.Parallel()
		s, _ := limited(t, quota.Limits{Bytes: limit})
		mustCreate(t, s, alice, "s", nil)
		mustStart(t, s, startOf(t, "s", "r", "hi"))
		it := mustBegin(t, s, refOf("s", "r"), "item")
		mustFlush(t, it, letters(t, 100<<10))
		if _, err := it.Complete(t.Context(), parse(t, map[string]any{
			"invocation_id": "r", "author": "agent", "content": map[string]any{"parts": []any{map[string]any{"text": letters(t, 100<<10)}}},
		})); err != nil {
			t.Fatal(err)
		}
		mustEnd(t, s, refOf("s", "r"), run.Completed, nil)
		within(t, bytesUsed(t, s), 64<<10, 100<<10)
	})
	t.Run("whoever stores too much stores nothing more", func(t *testing.T) {
		t.Parallel()
		s, _ := limited(t, quota.Limits{Bytes: limit})
		mustCreate(t, s, alice, "s", nil)
		mustPut(t, s, alice, "s", "file", letters(t, 400<<10))
		doc := document(t)
		for name, store := range map[string]func() error{
			"create": func() error { return tryCreate(t, s, "more") },
			"fork": func() error {
				_, err := s.History.Fork(t.Context(), session.ForkOf{UserID: alice, SessionID: "s", ID: "f", Nonce: "n"})
				return err
			},
			"import": func() error {
				u := upload(t, doc)
				u.UserID = alice
				_, err := s.Archives.Import(t.Context(), u)
				return err
			},
			"run":  func() error { _, err := s.Runs.Start(t.Context(), startOf(t, "s", "r", "hi")); return err },
			"task": func() error { _, _, err := s.Tasks.Save(t.Context(), saving(t, "s", "t", 10)); return err },
			"artifact": func() error {
				_, err := s.Artifacts.PutArtifact(t.Context(), artifact.Put{UserID: alice, SessionID: "s", Name: "a", Body: []byte("x")})
				return err
			},
			"large append": func() error {
				_, _, err := s.Sessions.Append(t.Context(), session.Append{
					UserID: alice, SessionID: "s", Events: []session.Event{event(t, "", "i", letters(t, 100<<10))},
				})
				return err
			},
		} {
			t.Run(name, func(t *testing.T) { mustExceed(t, store(), quota.Bytes, limit) })
		}
		mustAppend(t, s, alice, "s", event(t, "", "i", "a small one passes"))
		mustCreate(t, s, bob, "his", nil)
		if err := s.Sessions.Delete(t.Context(), alice, "s"); err != nil {
			t.Fatal(err)
		}
		mustCreate(t, s, alice, "s", nil)
	})
	t.Run("racing appends all counted", func(t *testing.T) {
		t.Parallel()
		s, _ := limited(t, quota.Limits{Bytes: 10 << 20})
		mustCreate(t, s, alice, "s", nil)
		var racing sync.WaitGroup
		for i := range 4 {
			e := event(t, fmt.Sprint("e", i), "i", letters(t, 90<<10))
			racing.Go(func() { mustAppend(t, s, alice, "s", e) })
		}
		racing.Wait()
		within(t, bytesUsed(t, s), 4*64<<10, 4*75<<10)
	})
}

// TestUsage creates and deletes sessions and their contents at random: the count
// of sessions is always exact, the user's bytes are the sum of the sessions', and
// both are 0 in the end.
func TestUsage(t *testing.T) {
	t.Parallel()
	last := 0
	storetest.Check(t, 10, func(rt *rapid.T) {
		engine := storetest.Engine(t) // of its own: all of it is read again and again
		s := stores.New(engine, stores.WithQuotas(quota.Limits{Sessions: 1000, Runs: 5, Bytes: 1 << 40}),
			stores.WithRetention(func(string) int64 { return 3600 }))
		live := map[string]bool{}
		name := func() string { last++; return fmt.Sprint("u", last) }
		must := func(err error) {
			if err != nil {
				rt.Fatal(err)
			}
		}
		some := func() string {
			ids := slices.Sorted(maps.Keys(live))
			if len(ids) == 0 {
				rt.Skip("no session")
			}
			return ids[rapid.IntRange(0, len(ids)-1).Draw(rt, "session")]
		}
		rt.Repeat(map[string]func(*rapid.T){
			"": func(rt *rapid.T) {
				u, err := s.Runs.Usage(t.Context(), alice)
				must(err)
				if u.Sessions.Used != int64(len(live)) || u.Bytes.Used != taken(t, engine) {
					rt.Fatalf("used is %+v, with %d sessions of %d bytes", u, len(live), taken(t, engine))
				}
			},
			"create": func(*rapid.T) { id := name(); mustCreate(t, s, alice, id, nil); live[id] = true },
			"append": func(rt *rapid.T) {
				mustAppend(t, s, alice, some(), event(t, "", "i", letters(t, rapid.IntRange(1, 80<<10).Draw(rt, "size"))))
			},
			"artifact": func(*rapid.T) { mustPut(t, s, alice, some(), "file", letters(t, 5<<10)) },
			"save": func(rt *rapid.T) {
				_, _, err := s.Tasks.Save(t.Context(), saving(t, some(), "t", rapid.IntRange(1, 20<<10).Draw(rt, "size")))
				must(err)
			},
			"unsave": func(rt *rapid.T) {
				if err := s.Tasks.DeleteTask(t.Context(), alice, some(), "t"); !errors.Is(err, fault.Of(fault.NotFound)) {
					must(err)
				}
			},
			"fork": func(*rapid.T) {
				id := name()
				_, err := s.History.Fork(t.Context(), session.ForkOf{UserID: alice, SessionID: some(), ID: id, Nonce: id})
				must(err)
				live[id] = true
			},
			"move": func(*rapid.T) {
				var doc bytesOf
				must(s.Archives.Export(t.Context(), alice, some(), archive.NewWriter(&doc)))
				u := upload(t, doc)
				u.UserID, u.SessionID = alice, name()
				u.ImportID = u.SessionID
				_, err := s.Archives.Import(t.Context(), u)
				must(err)
				live[u.SessionID] = true
			},
			"delete": func(*rapid.T) { id := some(); must(s.Sessions.Delete(t.Context(), alice, id)); delete(live, id) },
		})
		for id := range live {
			must(s.Sessions.Delete(t.Context(), alice, id))
		}
		u, err := s.Runs.Usage(t.Context(), alice)
		must(err)
		if u.Sessions.Used != 0 || u.Bytes.Used != 0 {
			rt.Fatalf("left is %+v", u)
		}
	})
}

// taken is how many bytes the headers of sessions say that they take.
func taken(t *testing.T, engine table.Engine) (sum int64) {
	t.Helper()
	for _, item := range storetest.Items(t, engine) {
		if n, ok := item["by"].(*types.AttributeValueMemberN); ok && table.Text(item, table.SK) == "HEAD" {
			v, err := strconv.ParseInt(n.Value, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			sum += v
		}
	}
	return sum
}
