package e2e_test

import (
	"context"
	"encoding/json"
	"path"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/test/e2e"
	"github.com/rethread/rethread/infra/test/e2e/pageclient"
	"github.com/rethread/rethread/shared/domain/watch"
)

// pageReader is a client that only knows the rules of docs/watching.md, at the
// gateway.
type pageReader struct {
	*pageclient.Session
	user    *e2e.User
	session string // path
	reads   int    // of the thread
	opened  int    // subscriptions
	inLarge int    // subscriptions while an item in progress was larger than a message
}

// follow follows the rules of the page until enough reports true.
func (p *pageReader) follow(t *testing.T, enough func() bool) {
	t.Helper()
	for !enough() && !t.Failed() {
		if p.NeedsThread() {
			p.read(t)
		}
		p.listen(t, enough)
		p.Lacks()
	}
}

// read reads all pages of the thread.
func (p *pageReader) read(t *testing.T) {
	t.Helper()
	p.reads++
	var pages [][]byte
	for next := ""; ; {
		body := p.user.Get(p.session + "/thread?limit=2" + next).Want(200).Body
		var answer struct {
			Meta struct {
				NextCursor string `json:"next_cursor"`
			}
		}
		if err := json.Unmarshal(body, &answer); err != nil {
			t.Fatal(err)
		}
		if pages = append(pages, body); answer.Meta.NextCursor == "" {
			break
		}
		next = "&cursor=" + answer.Meta.NextCursor
	}
	if err := p.ReadThread(pages...); err != nil {
		t.Fatal(err)
	}
}

// listen subscribes on its own connection and applies messages until one is
// missing; then it disconnects.
func (p *pageReader) listen(t *testing.T, enough func() bool) {
	t.Helper()
	p.opened++
	if n := len(p.Items); n > 0 && sizeOfContent(p.Items[n-1].Event) > watch.MaxMessage {
		p.inLarge++
	}
	var from watch.Cursor
	if err := from.UnmarshalText([]byte(p.Subscribe(time.Now()))); err != nil {
		t.Fatal(err)
	}
	stream, err := e2e.Sockets(t.Context(), p.user, path.Base(p.session), &from)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	for n := 0; !enough() && !p.NeedsThread() && n < 40; n++ {
		patience, stop := context.WithTimeout(t.Context(), e2e.Patience)
		hearing, giveUp := context.WithCancel(patience)
		if at, waits := p.Asks(); waits {
			hearing, giveUp = context.WithDeadline(patience, at)
		}
		frame, err := stream.Next(hearing)
		late := patience.Err() != nil
		giveUp()
		stop()
		if err != nil && late {
			t.Fatalf("no more messages arrive: %v; %s", err, p.Waiting())
		}
		if err != nil {
			return
		}
		if strings.Contains(string(frame), `"cursor"`) { // not the answer to the subscription
			if err := p.Hear(frame, time.Now()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// sizeOfContent is the size of an item's content in bytes.
func sizeOfContent(event map[string]any) int {
	raw, err := json.Marshal(event["content"])
	if err != nil {
		return 0
	}
	return len(raw)
}

// testPage has an item grow to several times the size of a message while a client
// connects repeatedly.
func testPage(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice := sys.User(t, "alice")
	s := mustCreate(t, alice, nil)
	mustAppend(t, alice, s, event("i0", "before"))
	_, id := mustRun(t, alice, s, "count", e2e.M{"mode": "external", "agent": "analyst"})
	p := &pageReader{Session: pageclient.New(), user: alice, session: s}
	var enough atomic.Bool
	done := make(chan error, 1)
	go func() {
		done <- count(t.Context(), alice, s+"/runs/"+id, " "+strings.Repeat("0123456789", 500), &enough)
	}()
	p.follow(t, func() bool {
		n := len(p.Items)
		enough.Store(enough.Load() || n == 3 && p.inLarge > 2 && sizeOfContent(p.Items[2].Event) > 3*watch.MaxMessage)
		return enough.Load() && p.Status == "idle" && p.Items[n-1].Event["status"] == "completed"
	})
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	var want struct {
		Data struct {
			Status string
			Items  []map[string]any
		}
	}
	if err := json.Unmarshal(alice.Get(s+"/thread").Want(200).Body, &want); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(p.Items)
	var got []struct{ Event map[string]any }
	if err == nil {
		err = json.Unmarshal(raw, &got)
	}
	if err != nil || len(got) != len(want.Data.Items) {
		t.Fatalf("%d items, want %d: %v", len(got), len(want.Data.Items), err)
	}
	for i, item := range want.Data.Items {
		if diff := cmp.Diff(item, got[i].Event); diff != "" {
			t.Errorf("item %d (-thread +client):\n%.2000s", i, diff)
		}
	}
	// It was read at the beginning, and for the final form, which may be announced
	// twice.
	if t.Logf("%d threads read, %d subscriptions, %d in a large item", p.reads, p.opened, p.inLarge); p.reads > 3 {
		t.Errorf("the thread was read %d times", p.reads)
	}
}
