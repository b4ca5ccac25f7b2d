package e2e_test

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/rethread/rethread/clients/go/watch/view"
	"github.com/rethread/rethread/infra/test/e2e"
)

// mustFollow follows a session over both transports and with the Go client, and
// waits until all show it.
func mustFollow(t *testing.T, u *e2e.User, sessionPath, name string) []*e2e.Follower {
	t.Helper()
	id := path.Base(sessionPath)
	followers := []*e2e.Follower{
		u.Follow(id, name+" over a websocket", e2e.Sockets),
		u.Follow(id, name+" over server-sent events", e2e.ServerSent),
		u.FollowWithClient(id, name+" with the Go client"),
	}
	for _, f := range followers {
		f.Until(t, "the thread", func(s view.Session) bool { return s.Status != "" })
	}
	return followers
}

// mustSee waits until every follower's view is as expected.
func mustSee(t *testing.T, followers []*e2e.Follower, what string, looks func(view.Session) bool) {
	t.Helper()
	for _, f := range followers {
		f.Until(t, what, looks)
	}
}

// mustAgree waits until every follower shows what GET thread returns.
func mustAgree(t *testing.T, u *e2e.User, sessionPath string, followers []*e2e.Follower) view.Thread {
	t.Helper()
	return u.Agree(path.Base(sessionPath), followers...)
}

// answers are the items that the run's agent produced.
func answers(s view.Session, run string) []view.Event {
	var out []view.Event
	for _, e := range s.Items {
		if e.InvocationID == run && e.Author != "user" {
			out = append(out, e)
		}
	}
	return out
}

// answered reports whether a run has ended with an answer.
func answered(run string) func(view.Session) bool {
	return func(s view.Session) bool {
		items := answers(s, run)
		return s.Status != view.InProgress && len(items) > 0 && items[len(items)-1].Status != view.EventInProgress
	}
}

// hasWords reports whether a run's answer has at least n words.
func hasWords(run string, n int) func(view.Session) bool {
	return func(s view.Session) bool {
		words := 0
		for _, e := range answers(s, run) {
			words += len(strings.Fields(textOf(e)))
		}
		return words >= n
	}
}

// textOf is the text of an event's content, without thoughts.
func textOf(e view.Event) string {
	var content struct {
		Parts []struct {
			Text    string `json:"text"`
			Thought bool   `json:"thought"`
		} `json:"parts"`
	}
	if err := json.Unmarshal(e.Fields["content"], &content); err != nil {
		return fmt.Sprint("not a content: ", err)
	}
	text := ""
	for _, p := range content.Parts {
		if !p.Thought {
			text += p.Text
		}
	}
	return text
}

// textsOf are the texts of items, in order.
func textsOf(items []view.Event) []string {
	out := make([]string, len(items))
	for i, e := range items {
		out[i] = textOf(e)
	}
	return out
}
