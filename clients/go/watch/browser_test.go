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

// state is what a client knows of a session.
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

// known is the state of the client in Go, which gets messages as the wire has
// them.
type known struct{ *view.State }

func (k known) Cursor() watch.Cursor { return watch.Cursor(k.State.Cursor()) }

func (k known) Apply(m watch.Message, now time.Time) bool {
	parsed, err := view.ParseMessage(onSocket(m))
	if err != nil {
		panic(err)
	}
	return k.State.Apply(parsed, now)
}

// onSocket is a message as the WebSocket API sends it.
func onSocket(m watch.Message) []byte {
	frame, err := watch.Frame(m, sessionID)
	if err != nil {
		panic(err)
	}
	return frame
}

// node is a program that has a state of the client for browsers, and does to it
// what it is told.
type node struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Reader
}

func startNode(t *testing.T) *node {
	t.Helper()
	program, err := exec.LookPath("node")
	if err != nil {
		t.Fatal("node is missing: install Node.js 20 or newer, which runs the client for browsers")
	}
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), program, "drive.js")
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

// told is what a state is told.
type told struct {
	Op    string          `json:"op"`
	Now   int64           `json:"now"`
	Frame json.RawMessage `json:"frame,omitempty"`
	Page  any             `json:"page,omitempty"`
	From  string          `json:"from"`
}

// answered is how a state is then.
type answered struct {
	NeedsThread bool         `json:"needs_thread"`
	Deleted     bool         `json:"deleted"`
	RepairAt    *int64       `json:"repair_at"`
	Cursor      watch.Cursor `json:"cursor"`
	Older       *string      `json:"older"`
	Size        int          `json:"size"`
	Shown       shownEnd     `json:"shown"`
}

// shownEnd is what a client shows that holds the end of a session.
type shownEnd struct {
	shownNow

	HasOlder bool `json:"has_older"`
}

func (n *node) tell(what told) answered {
	n.t.Helper()
	if _, err := n.in.Write(append(mustJSON(what), '\n')); err != nil {
		n.t.Fatal(err)
	}
	line, err := n.out.ReadBytes('\n')
	if err != nil {
		n.t.Fatal(err)
	}
	var is answered
	mustDecode(line, &is)
	return is
}

func mustDecode(raw []byte, v any) {
	if err := json.Unmarshal(raw, v); err != nil {
		panic(err)
	}
}

// browser is the state of a client for browsers.
type browser struct {
	node *node
	is   answered
}

func newBrowser(n *node) *browser { return &browser{n, n.tell(told{Op: "new"})} }

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
	b.is = b.node.tell(told{Op: "apply", Now: now.UnixMilli(), Frame: onSocket(m)})
	return true
}

func (b *browser) Lost() { b.is = b.node.tell(told{Op: "lost"}) }

func (b *browser) Repairing(now time.Time) {
	b.is = b.node.tell(told{Op: "repairing", Now: now.UnixMilli()})
}

func (b *browser) reread() { b.is = b.node.tell(told{Op: "reread"}) }

func (b *browser) replace(end thread, older *session.Resume, now time.Time) {
	b.is = b.node.tell(told{Op: "replace", Now: now.UnixMilli(), Page: onePage(end, older)})
}

func (b *browser) prepend(page thread, from string, older *session.Resume, now time.Time) {
	b.is = b.node.tell(told{Op: "prepend", Now: now.UnixMilli(), Page: onePage(page, older), From: from})
}

func (b *browser) show() shownEnd { return b.node.tell(told{Op: "show"}).Shown }

// onePage is the end of a thread as the client for browsers has it from reading
// backwards.
func onePage(t thread, older *session.Resume) any {
	page := map[string]any{"status": t.Status, "items": t.Items, "cursor": t.Cursor, "run": nil, "older": nil}
	if t.Items == nil {
		page["items"] = []session.Event{}
	}
	if t.RunID != "" {
		page["run"] = run.Run{ID: t.RunID, Error: t.Error}
	}
	if older != nil {
		page["older"] = string(mustJSON(older))
	}
	return page
}
