package users

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/rethread/rethread/infra/chaos/ledger"
)

// answerData has the members of answers that are needed here.
type answerData struct {
	Data struct {
		ID      string               `json:"id"`
		Session struct{ ID string }  `json:"session"`
		Run     *struct{ ID string } `json:"run"`
		Fork    *struct {
			Found bool `json:"boundary_found"`
		} `json:"fork"`
		Offset  int64 `json:"offset"`
		Version int64 `json:"version"`
	} `json:"data"`
}

func parseAnswer(a Answer) answerData {
	var out answerData
	_ = json.Unmarshal(a.Body, &out) // missing members stay empty
	return out
}

// create makes a session, with its own id or with a key.
func (d *device) create(ctx context.Context) {
	token := d.token()
	body := M{"name": token, "app_name": "app-" + d.person.ID}
	if d.chance(2) {
		body["state"] = M{"made": token}
	}
	c := Call{Method: http.MethodPost, Path: api + "/sessions", Body: body, Repeat: true}
	if id := d.id(); d.chance(2) {
		body["id"] = id
	} else {
		c.Key = id
	}
	d.perform(ctx, ledger.Op{Kind: "create", Tokens: []string{token}}, c, func(a Answer) {
		d.addSession(ctx, &Session{ID: parseAnswer(a).Data.ID, Owner: d.person})
	})
}

// addSession adds a new session; occasionally it is watched.
func (d *device) addSession(ctx context.Context, t *Session) {
	d.person.Add(t)
	d.Watchers.maybe(ctx, d.random, t)
}

// appendEvents appends one to four events: with their own ids, with a key, at an
// expected position, or without any of these.
func (d *device) appendEvents(ctx context.Context, t *Session) { d.appendAs(ctx, d.person, t) }

func (d *device) appendAs(ctx context.Context, as *Person, t *Session) {
	invocation := d.id()
	if known := t.invocation(d.random); known != "" && d.chance(4) {
		invocation = known
	}
	c := Call{Method: http.MethodPost, Path: t.path() + "/events"}
	body := M{}
	op := ledger.Op{Kind: "append", Session: t.ID}
	way := d.random.IntN(4)
	var events []M
	for range 1 + d.random.IntN(4) {
		token := d.token()
		op.Tokens = append(op.Tokens, token)
		e := M{"invocation_id": invocation, "author": "user", "content": content(token + d.padding())}
		if d.chance(2) {
			e["actions"] = M{"state_delta": d.change(t, token)}
		}
		if way == 0 {
			e["id"] = d.id()
		}
		events = append(events, e)
	}
	body["events"], c.Body = events, body
	switch way {
	case 0:
		c.Repeat, op.Detail = true, "ids"
	case 1:
		c.Repeat, c.Key, op.Detail = true, d.id(), "key"
	case 2:
		head, ok := d.head(ctx, t)
		if !ok {
			return
		}
		body["expected_seq"], op.Expected, op.Detail = head, &head, fmt.Sprint("expected ", head)
	}
	d.performAs(ctx, as, op, c, func(Answer) { t.addInvocation(invocation) })
}

// padding makes some events long.
func (d *device) padding() string {
	switch d.random.IntN(40) {
	case 0:
		return strings.Repeat("long ", 20_000)
	case 1, 2, 3:
		return strings.Repeat("some more ", 300)
	}
	return ""
}

// change is a change of the session's state and, sometimes, of a user value that
// only this session changes.
func (d *device) change(t *Session, token string) M {
	delta := M{fmt.Sprint("k", d.random.IntN(5)): token}
	if d.chance(4) {
		delta[fmt.Sprint("k", d.random.IntN(5))] = nil
	}
	if d.chance(3) {
		delta["user:"+t.ID] = token
	}
	if d.chance(6) {
		delta["app:"+t.ID] = token
	}
	return delta
}

// head returns the session's head.
func (d *device) head(ctx context.Context, t *Session) (int64, bool) {
	a := d.do(ctx, d.random, d.person, Call{Method: http.MethodGet, Path: t.path(), Repeat: true})
	var out struct {
		Data struct {
			Head int64 `json:"head_seq"`
		} `json:"data"`
	}
	ok := a.Into(&out)
	return out.Data.Head, ok
}
