package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	rethread "github.com/rethread/rethread/clients/go"
	"github.com/rethread/rethread/clients/go/watch"
	"github.com/rethread/rethread/clients/go/watch/view"
)

// viewer watches a session and prints the agent's answer while it arrives.
type viewer struct {
	*printer

	ctx     context.Context //nolint:containedctx // of the watch
	changes chan view.Session
	ended   chan error
	close   func()

	shown   view.Session
	seq     int64  // of the item being printed
	printed string // the printed part of it
	pieces  int    // number of pieces
}

// watchSession returns once the session is watched.
func watchSession(ctx context.Context, u *user, id string) *viewer {
	ctx, stop := context.WithCancel(ctx)
	c := watch.Open(ctx, watch.Config{
		URL:   u.url,
		Token: rethread.StaticToken(u.token),
	})
	v := &viewer{printer: u.printer, ctx: ctx, changes: make(chan view.Session), ended: make(chan error, 1)}
	v.close = func() {
		stop()
		c.Close()
	}
	go func() {
		v.ended <- c.Watch(ctx, id, func(s view.Session) {
			select {
			case v.changes <- s:
			case <-ctx.Done():
			}
		})
	}()
	v.until(func(view.Session) bool { return true })
	return v
}

// until prints what arrives until done reports true for the session.
func (v *viewer) until(done func(view.Session) bool) {
	for v.err == nil {
		select {
		case v.shown = <-v.changes:
			v.print()
			if done(v.shown) {
				return
			}
		case err := <-v.ended:
			v.fail(fmt.Errorf("watch the session: %w", err))
		case <-v.ctx.Done():
			v.fail(fmt.Errorf("watch the session: %w", context.Cause(v.ctx)))
		}
	}
}

// print prints what the newest item has gained if it is the agent's. Items that a
// rewind makes visible again were printed before.
func (v *viewer) print() {
	if len(v.shown.Items) == 0 {
		return
	}
	newest := v.shown.Items[len(v.shown.Items)-1]
	if newest.Author == "user" || newest.Seq < v.seq {
		return
	}
	if newest.Seq > v.seq {
		v.seq, v.printed, v.pieces = newest.Seq, "", 0
		v.begin(newest.Author)
	}
	text := textOf(newest)
	if more, ok := strings.CutPrefix(text, v.printed); ok && more != "" {
		v.add(more)
		v.printed = text
		v.pieces++
	}
}

// finished reports whether a run has succeeded and all of its items are complete: the
// end of the run may be reported before its last item.
func finished(s view.Session) bool {
	return s.Status == view.Idle && !slices.ContainsFunc(s.Items, func(e view.Event) bool {
		return e.Status == view.EventInProgress
	})
}

// answerSoFar is the agent's answer in a run so far.
func answerSoFar(s view.Session, run string) string {
	var said strings.Builder
	for _, e := range s.Items {
		if e.InvocationID == run && e.Author != "user" {
			said.WriteString(textOf(e))
		}
	}
	return said.String()
}

// textOf returns the text of a content.
func textOf(e view.Event) string {
	var content struct {
		Parts []struct {
			Text    string `json:"text"`
			Thought bool   `json:"thought"`
		} `json:"parts"`
	}
	if json.Unmarshal(e.Fields["content"], &content) != nil {
		return "" // content of another form
	}
	var text strings.Builder
	for _, part := range content.Parts {
		if !part.Thought {
			text.WriteString(part.Text)
		}
	}
	return text.String()
}
