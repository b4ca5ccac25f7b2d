package users

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/rethread/rethread/infra/chaos/agent"
	"github.com/rethread/rethread/infra/chaos/ledger"
	"github.com/rethread/rethread/shared/base/retry"
)

// questions are inputs of the demo agent; %s is a token.
func questions() []string {
	return []string{
		"%s", "%s", "%s", "%s", "/long 60 %s", "/long 200 %s", "/items 3 %s", "/think %s", "/tool %s", "/utf8 %s", "/state agent=%s",
		"/fail %s", "/drop %s", "/malformed %s",
	}
}

// start returns a call that starts a run with one input.
func (d *device) start(t *Session, text string, more M) Call {
	body := M{"input": []M{{"content": content(text)}}}
	for name, value := range more {
		body[name] = value
	}
	c := Call{Method: http.MethodPost, Path: t.path() + "/runs", Body: body}
	if d.chance(2) {
		c.Key, c.Repeat = d.id(), true
	}
	return c
}

// ask gives an agent an input. If it is running, the input is queued, the run is
// interrupted or the request refused.
func (d *device) ask(ctx context.Context, t *Session) {
	token := d.token()
	list := questions()
	text := fmt.Sprintf(list[d.random.IntN(len(list))], token)
	more := M{}
	op := ledger.Op{Kind: "ask", Session: t.ID, Tokens: []string{token}, Detail: text}
	switch d.random.IntN(4) {
	case 0:
		more["on_active"], op.Kind = "cancel_and_merge", "merge"
	case 1, 2:
		more["on_active"], op.Kind = "enqueue", "enqueue"
	}
	switch d.random.IntN(10) {
	case 0, 1:
		more["on_failed"] = "block"
		op.Detail += ledger.Blocks
	case 2, 3, 4:
		more["on_failed"] = "keep"
	}
	if d.chance(2) {
		more["agent"] = agent.Name
	}
	d.perform(ctx, op, d.start(t, text, more), func(a Answer) { t.addStarted(token, a) })
}

// runOwnAgent acts as an agent of the user, which may fall silent.
func (d *device) runOwnAgent(ctx context.Context, t *Session) {
	token := d.token()
	op := ledger.Op{Kind: "ask", Session: t.ID, Tokens: []string{token}, Detail: "external"}
	more := M{"mode": "external", "agent": "elsewhere"}
	if d.chance(2) {
		more["on_failed"] = "keep"
	}
	a := d.perform(ctx, op, d.start(t, token, more), nil)
	out := parseAnswer(a)
	if a.Outcome != ledger.Acked || out.Data.Run == nil {
		return
	}
	run := out.Data.Run.ID
	t.addRun(run)
	path := t.path() + "/runs/" + run
	for item := range 1 + d.random.IntN(2) {
		if !d.stream(ctx, t, path, fmt.Sprintf("%s-%d", d.id(), item)) || d.chance(12) {
			return
		}
	}
	status := "completed"
	if d.chance(4) {
		status = "failed"
	}
	d.perform(ctx, ledger.Op{Kind: "end", Session: t.ID, Detail: run + " " + status},
		Call{Method: http.MethodPatch, Path: path, Body: M{"status": status}, Repeat: true}, nil)
}

// stream sends some words, and completes the item.
func (d *device) stream(ctx context.Context, t *Session, path, item string) bool {
	offset := int64(0)
	said := d.token()
	for n := range 2 + d.random.IntN(8) {
		text := fmt.Sprintf("w%d ", n)
		if n == 0 {
			text = said + " "
		}
		push := M{"item_id": item, "offset": offset, "deltas": []M{{"part": 0, "text": text}}}
		a := d.perform(ctx, ledger.Op{Kind: "delta", Session: t.ID, Detail: item + " " + text},
			Call{Method: http.MethodPost, Path: path + "/deltas", Body: push}, nil)
		if a.Outcome != ledger.Acked {
			return false // a device that does not know its progress falls silent
		}
		offset = parseAnswer(a).Data.Offset
		if retry.Sleep(ctx, time.Duration(d.random.Int64N(int64(maxPause)))) != nil {
			return false
		}
	}
	op := ledger.Op{Kind: "complete", Session: t.ID, Tokens: []string{said}, Detail: item}
	e := M{"id": item, "author": "elsewhere"}
	if d.chance(3) {
		e["actions"] = M{"state_delta": d.change(t, said)}
	}
	a := d.perform(ctx, op, Call{
		Method: http.MethodPost, Path: path + "/events", Body: M{"events": []M{e}}, Key: d.id(), Repeat: true,
	}, nil)
	return a.Outcome == ledger.Acked
}

// cancel cancels the newest run, of which what was said may stay.
func (d *device) cancel(ctx context.Context, t *Session) {
	run := t.run()
	if run == "" {
		return
	}
	c := Call{Method: http.MethodPost, Path: t.path() + "/runs/" + run + "/cancel", Repeat: true}
	op := ledger.Op{Kind: "cancel", Session: t.ID, Detail: run}
	if d.chance(2) {
		c.Body = M{"on_failed": "keep"}
		op.Detail += " keep"
	}
	d.perform(ctx, op, c, nil)
}

// rewind rewinds to before one of the invocations.
func (d *device) rewind(ctx context.Context, t *Session) {
	before := t.invocation(d.random)
	if before == "" {
		return
	}
	body := M{"rewind_before_invocation_id": before, "cancel_run": d.chance(2)}
	if d.chance(3) {
		body["scopes"] = []string{"session"}
	}
	c := Call{Method: http.MethodPost, Path: t.path() + "/rewind", Body: body}
	if d.chance(2) {
		c.Key, c.Repeat = d.id(), true
	}
	d.perform(ctx, ledger.Op{Kind: "rewind", Session: t.ID, Detail: fmt.Sprint(before, " ", body["cancel_run"])}, c, nil)
}

// fork forks a session as a whole or before an invocation.
func (d *device) fork(ctx context.Context, t *Session) {
	token := d.token()
	body := M{"name": token}
	from := &Fork{Of: t.ID}
	if before := t.invocation(d.random); before != "" && !d.chance(3) {
		body["rewind_before_invocation_id"], from.Boundary = before, before
	}
	c := Call{Method: http.MethodPost, Path: t.path() + "/fork", Body: body, Key: d.id(), Repeat: true}
	d.perform(ctx, ledger.Op{Kind: "fork", Session: t.ID, Tokens: []string{token}, Detail: from.Boundary}, c, func(a Answer) {
		out := parseAnswer(a)
		from.Found = out.Data.Fork != nil && out.Data.Fork.Found
		d.addSession(ctx, &Session{ID: out.Data.ID, Owner: d.person, Fork: from})
	})
}
