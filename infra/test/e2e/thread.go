package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/clients/go/watch/view"
)

// thread reads a session's thread, all pages of it.
func (u *User) thread(ctx context.Context, session string) (view.Thread, error) {
	var whole view.Thread
	path := sessionsPath + url.PathEscape(session) + "/thread"
	for query := ""; ; {
		answer, err := u.Try(ctx, http.MethodGet, path+query, nil, Off)
		if err != nil {
			return whole, err
		}
		if answer.Status != http.StatusOK {
			return whole, fmt.Errorf("read the thread: %d %s", answer.Status, answer.Body) //nolint:err113 // a test shows it
		}
		page, next, err := view.ParseThread(answer.Body)
		if err != nil {
			return whole, err
		}
		page = page.Behind(whole)
		whole = page
		if next == "" {
			return whole, nil
		}
		query = "?cursor=" + url.QueryEscape(next)
	}
}

// Agree waits until each follower of a session shows what GET thread returns, byte
// for byte; the session must not change while it waits.
func (u *User) Agree(session string, followers ...*Follower) view.Thread {
	u.tb.Helper()
	thread, err := u.thread(u.tb.Context(), session)
	if err != nil {
		u.tb.Fatal(err)
	}
	want := render(view.Session{
		Items: thread.Items, Status: thread.Status, RunID: thread.RunID, Error: thread.Error, Epoch: thread.Cursor.Epoch,
		Queued: thread.Queued, QueueVersion: thread.QueueVersion,
	})
	for _, f := range followers {
		var got string
		same := func(s view.Session) bool {
			got = render(s)
			return got == want
		}
		if f.Wait(same) {
			continue
		}
		u.tb.Errorf("%s shows another session than GET thread (-thread +shown)\n%s\n%s", f.Name, cmp.Diff(want, got), f.report())
	}
	return thread
}

// render writes a session in a canonical form.
func render(s view.Session) string {
	text := fmt.Sprintf("epoch %d, %s, run %q, error %s, queue %d", s.Epoch, s.Status, s.RunID, mustJSON(s.Error), s.QueueVersion)
	for _, queued := range s.Queued {
		text += "\n" + string(mustJSON(queued))
	}
	for _, item := range s.Items {
		text += "\n" + canonical(item)
	}
	return text
}

// canonical is an event with its members in order of their names.
func canonical(e view.Event) string {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(mustJSON(e), &members); err != nil {
		panic(err) // it was just encoded
	}
	return string(mustJSON(members))
}

func mustJSON(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // these were decoded from JSON
	}
	return text
}
