package watch_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/rethread/rethread/clients/go/watch/view"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
)

// state is a client's copy of a session.
type state interface {
	Apply(m watch.Message, now time.Time) bool
	Lost()
	NeedsThread() bool
	Deleted() bool
	Cursor() watch.Cursor
	RepairAt() (time.Time, bool)
	Repairing(now time.Time)
}

var (
	_ state = known{}
	_ state = (*browser)(nil)
)

// known is the Go client's state, which receives messages in their JSON form.
type known struct{ *view.State }

func (k known) Cursor() watch.Cursor { return watch.Cursor(k.State.Cursor()) }

func (k known) Apply(m watch.Message, now time.Time) bool {
	parsed, err := view.ParseMessage(onSocket(m))
	if err != nil {
		panic(err)
	}
	return k.State.Apply(parsed, now)
}

// onSocket returns a message as sent by the WebSocket API.
func onSocket(m watch.Message) []byte {
	frame, err := watch.Frame(m, sessionID)
	if err != nil {
		panic(err)
	}
	return frame
}

// node is a Node.js process that holds a state of the browser client and applies
// operations to it.
type node struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Reader
}

func startNode(t *testing.T) *node {
	t.Helper()
	program := mustFindNode(t)
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), program, "test/drive.js")
	cmd.Dir, cmd.Stderr = browserClient, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := in.Close(); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	return &node{t, in, bufio.NewReader(out)}
}

// operation is a request to the process.
type operation struct {
	Op    string          `json:"op"`
	Now   int64           `json:"now"`
	Frame json.RawMessage `json:"frame,omitempty"`
	Page  any             `json:"page,omitempty"`
	From  string          `json:"from"`
}

// result is the state after an operation.
type result struct {
	NeedsThread bool         `json:"needs_thread"`
	Deleted     bool         `json:"deleted"`
	RepairAt    *int64       `json:"repair_at"`
	Cursor      watch.Cursor `json:"cursor"`
	Older       *string      `json:"older"`
	Size        int          `json:"size"`
	Shown       shownEnd     `json:"shown"`
}

// shownEnd is the session shown by a client that holds only its end.
type shownEnd struct {
	shownNow

	HasOlder bool `json:"has_older"`
}

func (n *node) do(op operation) result {
	n.t.Helper()
	if _, err := n.in.Write(append(mustJSON(op), '\n')); err != nil {
		n.t.Fatal(err)
	}
	line, err := n.out.ReadBytes('\n')
	if err != nil {
		n.t.Fatal(err)
	}
	var is result
	mustDecode(line, &is)
	return is
}

func mustDecode(raw []byte, v any) {
	if err := json.Unmarshal(raw, v); err != nil {
		panic(err)
	}
}

// browser is the browser client's state.
type browser struct {
	node *node
	is   result
}

func newBrowser(n *node) *browser { return &browser{n, n.do(operation{Op: "new"})} }

func (b *browser) NeedsThread() bool    { return b.is.NeedsThread }
func (b *browser) Deleted() bool        { return b.is.Deleted }
func (b *browser) Cursor() watch.Cursor { return b.is.Cursor }

func (b *browser) RepairAt() (at time.Time, due bool) {
	if b.is.RepairAt == nil {
		return time.Time{}, false
	}
	return time.UnixMilli(*b.is.RepairAt), true
}

func (b *browser) Apply(m watch.Message, now time.Time) bool {
	b.is = b.node.do(operation{Op: "apply", Now: now.UnixMilli(), Frame: onSocket(m)})
	return true
}

func (b *browser) Lost() { b.is = b.node.do(operation{Op: "lost"}) }

func (b *browser) Repairing(now time.Time) {
	b.is = b.node.do(operation{Op: "repairing", Now: now.UnixMilli()})
}

func (b *browser) reread() { b.is = b.node.do(operation{Op: "reread"}) }

func (b *browser) replace(end thread, older *session.Resume, now time.Time) {
	b.is = b.node.do(operation{Op: "replace", Now: now.UnixMilli(), Page: onePage(end, older)})
}

func (b *browser) prepend(page thread, from string, older *session.Resume, now time.Time) {
	b.is = b.node.do(operation{Op: "prepend", Now: now.UnixMilli(), Page: onePage(page, older), From: from})
}

func (b *browser) show() shownEnd { return b.node.do(operation{Op: "show"}).Shown }

// onePage is the end of a thread as the browser client assembles it by reading
// backwards.
func onePage(t thread, older *session.Resume) any {
	page := map[string]any{"status": t.Status, "items": t.Items, "cursor": t.Cursor, "run": nil, "older": nil}
	if t.Items == nil {
		page["items"] = []session.Event{}
	}
	if t.RunID != "" {
		page["run"] = run.Run{ID: t.RunID, Error: t.Error, OnFailed: t.OnFailed}
	}
	t.Queue.withQueue(page)
	if older != nil {
		page["older"] = string(mustJSON(older))
	}
	return page
}
