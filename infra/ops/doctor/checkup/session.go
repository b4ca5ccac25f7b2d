package checkup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// cleanTime limits the deletion of the session.
const cleanTime = 30 * time.Second

// trial is a trial of a session, step by step.
type trial struct {
	Caller

	newID   func() string
	session string // its path; "" until it exists
	fork    string // likewise
	socket  *socket
	events  [2]string // ids of the events of two invocations
}

// TrySession creates a session and watches, rewinds, forks and deletes it. After a
// failed step the remaining ones are skipped, except the deletion.
func TrySession(ctx context.Context, caller Caller, newID func() string, now func() time.Time) []Finding {
	t := &trial{Caller: caller, newID: newID}
	var out []Finding
	failed := false
	try := func(name string, step func(context.Context) error) {
		f := Finding{Name: name, Status: Skipped, Detail: "because an earlier step failed"}
		if !failed {
			began := now()
			err := step(ctx)
			f.Status, f.Detail = OK, now().Sub(began).Round(time.Millisecond).String()
			if failed = err != nil; failed {
				f.Status, f.Detail, f.Advice = Fail, err.Error(), advice(err)
			}
		}
		out = append(out, f)
	}
	try("create a session", t.create)
	try("subscribe to it", t.subscribe)
	try("append, and see it live", t.append)
	try("rewind, and see it live", t.rewind)
	try("fork", t.branch)
	if t.session == "" {
		return out
	}
	cleaning, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTime)
	defer cancel()
	ctx, failed = cleaning, false
	try("delete what was tried", t.remove)
	return out
}

// advice is what to do about an unexpected answer.
func advice(err error) string {
	var answer *answerError
	if !errors.As(err, &answer) {
		return "see the logs of the functions watch and fanout, and the queue Failures"
	}
	switch {
	case answer.status == http.StatusUnauthorized:
		return "the token must be issued by JwtIssuer for JwtAudience, and not expired"
	case answer.status == http.StatusForbidden:
		return "the token does not allow it, or the address is not that of the API"
	case answer.status >= http.StatusInternalServerError:
		return "see the function's log for the request id of the answer"
	default:
		return "the answer has the reason"
	}
}

type object = map[string]any

func (t *trial) create(ctx context.Context) error {
	var answer struct {
		Data struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	err := t.do(ctx, http.StatusCreated, http.MethodPost, "/sessions",
		object{"id": "doctor-" + t.newID(), "name": "make doctor"}, &answer)
	if err == nil {
		t.session = "/sessions/" + url.PathEscape(answer.Data.ID)
	}
	return err
}

func (t *trial) subscribe(ctx context.Context) (err error) {
	id, err := url.PathUnescape(t.session[len("/sessions/"):])
	if err != nil {
		return err
	}
	t.socket, err = t.listen(ctx, id)
	return err
}

// append adds two invocations, and waits until the socket has received both.
func (t *trial) append(ctx context.Context) error {
	var events []object
	for i := range t.events {
		t.events[i] = t.newID()
		events = append(events, object{
			"id": t.events[i], "invocation_id": t.events[i], "author": "doctor",
			"content": object{"role": "user", "parts": []object{{"text": "is anybody there?"}}},
		})
	}
	if err := t.do(ctx, http.StatusCreated, http.MethodPost, t.session+"/events", object{"events": events}, nil); err != nil {
		return err
	}
	missing := slices.Clone(t.events[:])
	return t.socket.until(ctx, "the appended events", func(m message) bool {
		missing = slices.DeleteFunc(missing, func(id string) bool { return m.Item.ID == id })
		return len(missing) == 0
	})
}

// rewind rewinds the second invocation.
func (t *trial) rewind(ctx context.Context) error {
	err := t.do(ctx, http.StatusOK, http.MethodPost, t.session+"/rewind",
		object{"rewind_before_invocation_id": t.events[1]}, nil)
	if err != nil {
		return err
	}
	err = t.socket.until(ctx, "the rewind", func(m message) bool { return m.Type == "thread.rewound" })
	return errors.Join(err, t.shows(ctx, t.session))
}

// branch forks the session.
func (t *trial) branch(ctx context.Context) error {
	var answer struct {
		Data struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := t.do(ctx, http.StatusCreated, http.MethodPost, t.session+"/fork", object{}, &answer); err != nil {
		return err
	}
	t.fork = "/sessions/" + url.PathEscape(answer.Data.ID)
	return t.shows(ctx, t.fork)
}

// shows reads a session, which must show the first invocation only.
func (t *trial) shows(ctx context.Context, session string) error {
	var answer struct {
		Data []json.RawMessage `json:"data"`
	}
	if err := t.do(ctx, http.StatusOK, http.MethodGet, session+"/events", nil, &answer); err != nil {
		return err
	}
	if n := len(answer.Data); n != 1 {
		return fmt.Errorf("%d events are shown, want 1", n)
	}
	return nil
}

func (t *trial) remove(ctx context.Context) error {
	var errs []error
	if t.socket != nil {
		t.socket.close()
	}
	for _, session := range []string{t.fork, t.session} {
		if session != "" {
			errs = append(errs, t.do(ctx, http.StatusNoContent, http.MethodDelete, session, nil, nil))
		}
	}
	return errors.Join(errs...)
}
