package queue_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/local/queue"
	"github.com/rethread/rethread/infra/local/samtemplate"
	"github.com/rethread/rethread/infra/test/property"
)

func TestFIFO(t *testing.T) {
	// send adds messages named by group and number, such as a1.
	send := func(t *testing.T, q *queue.Queue, names ...string) []queue.Message {
		t.Helper()
		var sent []queue.Message
		for _, name := range names {
			m, err := q.Send(queue.Draft{Body: name, Group: name[:1], Deduplication: name})
			if err != nil {
				t.Fatal(err)
			}
			sent = append(sent, m)
		}
		return sent
	}
	fifo := samtemplate.Queue{FIFO: true}
	t.Run("a group waits for its messages in flight", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			q := queue.New(fifo)
			send(t, q, "a1", "b1", "a2", "a3")
			first := wantTaken(t, q, 1, time.Minute, "a1")[0]
			wantTaken(t, q, 10, time.Minute, "b1")
			if err := q.Delete(first.Receipt); err != nil {
				t.Fatal(err)
			}
			wantTaken(t, q, 1, time.Minute, "a2")
			wantTaken(t, q, 10, time.Minute)
			time.Sleep(time.Minute)
			wantTaken(t, q, 10, time.Minute, "b1", "a2", "a3")
		})
	})
	t.Run("only the first messages are searched for available groups", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			q := queue.New(fifo).SetLimit(3)
			send(t, q, "a1", "a2", "a3", "b1")
			first := wantTaken(t, q, 1, time.Minute, "a1")[0]
			wantTaken(t, q, 10, time.Minute)
			if err := q.Delete(first.Receipt); err != nil {
				t.Fatal(err)
			}
			wantTaken(t, q, 10, time.Minute, "a2", "a3", "b1")
		})
	})
	t.Run("limits the messages in flight", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			q := queue.New(fifo).SetLimit(2)
			send(t, q, "a1", "b1", "c1")
			wantTaken(t, q, 10, time.Minute, "a1", "b1")
			wantTaken(t, q, 10, time.Minute)
			time.Sleep(time.Minute)
			wantTaken(t, q, 10, time.Minute, "a1", "b1")
		})
	})
	t.Run("hands out a group's messages together", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			q := queue.New(fifo)
			send(t, q, "a1", "b1", "a2", "b2")
			wantTaken(t, q, 3, time.Minute, "a1", "a2", "b1")
			wantTaken(t, q, 3, time.Minute)
		})
	})
	t.Run("a group waits until all its messages in flight are finished", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			q := queue.New(fifo)
			send(t, q, "a1", "a2", "a3")
			taken := wantTaken(t, q, 2, time.Minute, "a1", "a2")
			if err := q.Hide(taken[0].Receipt, 0); err != nil {
				t.Fatal(err)
			}
			wantTaken(t, q, 10, time.Minute)
			if err := q.Hide(taken[1].Receipt, 0); err != nil {
				t.Fatal(err)
			}
			wantTaken(t, q, 10, time.Minute, "a1", "a2", "a3")
		})
	})
	t.Run("a waiting receiver is woken when a group becomes available", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			q := queue.New(fifo)
			send(t, q, "a1", "a2")
			first := wantTaken(t, q, 1, time.Minute, "a1")[0]
			time.AfterFunc(time.Second, func() { _ = q.Delete(first.Receipt) })
			began := time.Now()
			if got, err := q.Receive(t.Context(), 1, time.Minute); err != nil || got[0].Body != "a2" || time.Since(began) != time.Second {
				t.Errorf("got %v, %v after %s", got, err, time.Since(began))
			}
		})
	})
	t.Run("drops a duplicate within 5 minutes, even if the first was deleted", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			q := queue.New(fifo)
			first := send(t, q, "a1")[0]
			time.Sleep(5*time.Minute - time.Second)
			again := send(t, q, "a1")[0]
			if again.ID != first.ID || again.Sequence != first.Sequence {
				t.Errorf("got %+v after %+v", again, first)
			}
			if err := q.Delete(wantTaken(t, q, 10, time.Minute, "a1")[0].Receipt); err != nil {
				t.Fatal(err)
			}
			send(t, q, "a1")
			wantTaken(t, q, 10, time.Minute)
			time.Sleep(time.Second)
			if later := send(t, q, "a1")[0]; later.ID == first.ID || later.Sequence <= first.Sequence {
				t.Errorf("got %+v after %+v", later, first)
			}
			wantTaken(t, q, 10, time.Minute, "a1")
		})
	})
	t.Run("compares deduplication ids in the configured scope", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			drafts := []queue.Draft{
				{Body: "x", Group: "a", Deduplication: "1"},
				{Body: "x", Group: "b", Deduplication: "1"},
				{Body: "y", Group: "a", Deduplication: "1"},
				{Body: "z", Group: "a", Deduplication: "2"},
			}
			for _, test := range []struct {
				settings samtemplate.Queue
				want     string
			}{
				{samtemplate.Queue{FIFO: true}, "x z"},
				{samtemplate.Queue{FIFO: true, GroupDeduplication: true}, "x x z"},
			} {
				q := queue.New(test.settings)
				var bodies []string
				for _, draft := range drafts {
					if _, err := q.Send(draft); err != nil {
						t.Fatal(err)
					}
				}
				for _, m := range q.Messages() {
					bodies = append(bodies, m.Body)
				}
				if got := strings.Join(bodies, " "); got != test.want {
					t.Errorf("got %s, want %s", got, test.want)
				}
			}
		})
	})
}

// TestGroupsKeepTheirOrder has receivers take, delete, hide and abandon messages
// at random: each group's messages are deleted in the order they were sent, a
// group's messages are never in flight at two receivers, and in the end all are
// deleted.
func TestGroupsKeepTheirOrder(t *testing.T) {
	property.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(r, "messages")
		groups := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), n, n).Draw(r, "groups")
		synctest.Test(t, func(*testing.T) {
			w := &worker{r: r, q: queue.New(samtemplate.Queue{FIFO: true}), until: map[string]time.Time{}, done: map[string]int{}}
			for i, group := range groups {
				if _, err := w.q.Send(queue.Draft{Body: fmt.Sprintf("%s %02d", group, i), Group: group, Deduplication: fmt.Sprint(i)}); err != nil {
					r.Fatal(err)
				}
			}
			for i := 0; len(w.q.Messages()) > 0; i++ {
				w.step(i < 40)
			}
		})
	})
}

// worker is all receivers together.
type worker struct {
	r     *rapid.T
	q     *queue.Queue
	until map[string]time.Time // groups in flight, and until when
	done  map[string]int       // the last deleted message of a group
}

// step takes a batch and treats each message at random or, to finish, deletes it.
func (w *worker) step(chance bool) {
	const hide = 10 * time.Second
	taken := w.q.Take(rapid.IntRange(1, 4).Draw(w.r, "most"), hide)
	held := map[string]bool{}
	for _, m := range taken {
		if until := w.until[m.Group]; time.Now().Before(until) {
			w.r.Fatalf("%s was handed out while its group is in flight", m.Body)
		}
	}
	for _, m := range taken {
		action := "delete"
		if chance {
			action = rapid.SampledFrom([]string{"delete", "hide", "forget"}).Draw(w.r, "action")
		}
		if held[m.Group] { // as a receiver does that keeps the order
			action = "forget"
		}
		w.do(m, action, hide)
		held[m.Group] = held[m.Group] || action != "delete"
	}
	if len(taken) == 0 {
		time.Sleep(time.Duration(rapid.IntRange(1, 10).Draw(w.r, "pause")) * time.Second)
	}
}

func (w *worker) do(m queue.Received, action string, hide time.Duration) {
	until := time.Now().Add(hide)
	switch action {
	case "delete":
		var n int
		if _, err := fmt.Sscanf(m.Body, m.Group+" %d", &n); err != nil {
			w.r.Fatal(err)
		}
		if last, ok := w.done[m.Group]; ok && n < last {
			w.r.Fatalf("%s after %d", m.Body, last)
		}
		w.done[m.Group] = n
		if err := w.q.Delete(m.Receipt); err != nil {
			w.r.Fatal(err)
		}
		return
	case "hide":
		longer := time.Duration(rapid.IntRange(0, 30).Draw(w.r, "seconds")) * time.Second
		if err := w.q.Hide(m.Receipt, longer); err != nil {
			w.r.Fatal(err)
		}
		until = time.Now().Add(longer)
	}
	w.until[m.Group] = slices.MaxFunc([]time.Time{w.until[m.Group], until}, time.Time.Compare)
}
