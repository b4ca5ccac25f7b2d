package entrances_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/store/table"
)

// counting counts the requests to each partition.
type counting struct {
	table.Engine

	mu    sync.Mutex
	count map[string]int
}

func (c *counting) add(partitions ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range partitions {
		c.count[p]++
	}
}

func (c *counting) Get(ctx context.Context, k table.Key, r table.Reading) (table.Item, table.Units, error) {
	c.add(k.PK)
	return c.Engine.Get(ctx, k, r)
}

func (c *counting) Write(ctx context.Context, w table.Write) (table.Units, error) {
	c.add(w.Key.PK)
	return c.Engine.Write(ctx, w)
}

func (c *counting) Transact(ctx context.Context, t table.Transaction) (table.Units, error) {
	for _, w := range t.Writes {
		c.add(w.Key.PK)
	}
	return c.Engine.Transact(ctx, t)
}

func (c *counting) Query(ctx context.Context, q table.Query) (table.Page, error) {
	c.add(q.Partition)
	return c.Engine.Query(ctx, q)
}

func (c *counting) BatchGet(ctx context.Context, keys []table.Key, r table.Reading) ([]table.Item, table.Units, error) {
	for _, k := range keys {
		c.add(k.PK)
	}
	return c.Engine.BatchGet(ctx, keys, r)
}

func (c *counting) BatchWrite(ctx context.Context, writes []table.Write) (table.Units, error) {
	for _, w := range writes {
		c.add(w.Key.PK)
	}
	return c.Engine.BatchWrite(ctx, writes)
}

// A backend meets no key of its own: a thousand users of one service use no partition
// more often than one user of it does.
func TestServices_have_no_busy_key(t *testing.T) {
	busiest := func(users int) (int, string) {
		engine := &counting{Engine: storetest.Engine(t), count: map[string]int{}}
		s := newSystemOver(t, engine, slog.New(slog.DiscardHandler))
		for n := range users {
			header := map[string]string{"User": fmt.Sprintf("user-%d", n), "Service": "backend"}
			as := func(r request) request { r.header = header; return r }
			at := fmt.Sprintf("/api/v1/sessions/s-%d", n)
			s.must(t, http.StatusCreated, as(post("/api/v1/sessions", fmt.Sprintf(`{"id":"s-%d","state":{"a":1}}`, n))))
			s.must(t, http.StatusCreated, as(post(at+"/events", `{"events":[{"invocation_id":"i","author":"user"}]}`)))
			s.must(t, http.StatusAccepted, as(post(at+"/runs", `{"mode":"external","input":[{"content":{"parts":[{"text":"x"}]}}]}`)))
			s.must(t, http.StatusOK, as(get("/api/v1/sessions")))
			s.must(t, http.StatusOK, as(get("/api/v1/me/usage")))
			s.must(t, http.StatusOK, as(post(at+"/rewind", `{"rewind_before_invocation_id":"i","cancel_run":true}`)))
		}
		most := slices.MaxFunc(slices.Sorted(maps.Keys(engine.count)), func(a, b string) int { return engine.count[a] - engine.count[b] })
		for key := range engine.count {
			if strings.Contains(key, "backend") {
				t.Errorf("%d requests are about the service: %s", engine.count[key], key)
			}
		}
		kinds := map[string]string{} // the busiest partition of each kind
		for key, n := range engine.count {
			kind, _, _ := strings.Cut(key, "#")
			if n > engine.count[kinds[kind]] {
				kinds[kind] = key
			}
		}
		for _, kind := range slices.Sorted(maps.Keys(kinds)) {
			t.Logf("%d users: %s has %d requests", users, kinds[kind], engine.count[kinds[kind]])
		}
		return engine.count[most], most
	}
	one, key := busiest(1)
	if many, of := busiest(1000); many > one {
		t.Errorf("with 1,000 users %s has %d requests, with one %s has %d", of, many, key, one)
	}
}
