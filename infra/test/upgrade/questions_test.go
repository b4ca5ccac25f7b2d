package upgrade_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// asker asks the questions whose answers a table's folder has.
type asker struct {
	*system
	t   *testing.T
	all []answer
}

// ask records the answers to a table's questions: every list page by page, each
// session's routes for its owner, a guest, a stranger and an admin, repeated requests,
// and subscriptions from many cursors.
func ask(t *testing.T, s *system, keyed []request) []answer {
	t.Helper()
	a := &asker{system: s, t: t}
	for _, r := range keyed {
		a.ask(r)
	}
	var own []string
	for _, user := range []string{alice, bob, carol, dora, "nobody"} {
		for _, path := range []string{"/sessions?exact=true&limit=7", "/sessions?shared=true", "/sessions?status=in_progress", "/sessions?status=failed", "/sessions?agent=data_analyst", "/sessions?q=plain", "/sessions?q=quarter&in=messages", "/feedback", "/feedback?type=down", "/automations", "/webhooks", "/me/data", "/me/usage"} {
			bodies := a.pages(user, path)
			if user == alice && strings.HasPrefix(path, "/sessions?exact") {
				for _, body := range bodies {
					for _, one := range read[one[[]named]](t, body).Data {
						own = append(own, one.ID)
					}
				}
			}
		}
	}
	for _, id := range own {
		a.session(id)
	}
	for _, kind := range []string{"webhooks", "automations"} {
		for _, one := range read[one[[]named]](t, a.get(alice, "/"+kind)).Data {
			a.get(alice, "/"+kind+"/"+one.ID)
			if kind == "webhooks" {
				a.pages(alice, "/"+kind+"/"+one.ID+"/deliveries?limit=20")
			}
		}
	}
	return a.all
}

// session asks a session's questions.
func (a *asker) session(id string) {
	path := "/sessions/" + url.PathEscape(id)
	for _, route := range []string{"", "/state", "/messages", "/thread", "/thread?order=desc&limit=2", "/events?limit=9", "/events?view=all&limit=50", "/events?order=desc&limit=7", "/forks", "/shares", "/export"} {
		a.pages(alice, path+route)
	}
	for _, body := range a.pages(alice, path+"/runs?limit=3") {
		for _, one := range read[one[[]named]](a.t, body).Data {
			a.pages(alice, path+"/runs/"+one.ID+"/requests?limit=1")
		}
	}
	for _, one := range read[struct{ Tasks []named }](a.t, a.get(alice, path+"/tasks?limit=1000")).Tasks {
		a.get(alice, path+"/tasks/"+url.PathEscape(one.TaskID))
	}
	for _, one := range read[one[[]named]](a.t, a.get(alice, path+"/artifacts?limit=1000")).Data {
		at := path + "/artifacts/" + url.PathEscape(one.Name)
		a.get(alice, at)
		a.get(alice, at+"?version=0")
		a.pages(alice, at+"/versions?limit=2")
	}
	for _, user := range []string{bob, "nobody", "root"} {
		scope := map[string]string{"root": adminScope}[user]
		for _, route := range []string{"", "/events?limit=5", "/thread", "/tasks", "/artifacts"} {
			a.ask(request{user: user, scope: scope, method: http.MethodGet, path: path + route})
		}
	}
	head := read[one[struct {
		Epoch int64 `json:"epoch"`
		Head  int64 `json:"head_seq"`
	}]](a.t, a.get(alice, path)).Data
	for _, cursor := range []string{"", "0.0.0", fmt.Sprintf("%d.%d.0", head.Epoch, max(head.Head-1, 0)), fmt.Sprintf("%d.%d.0", head.Epoch, head.Head)} {
		for _, user := range []string{alice, bob} {
			message := map[string]string{"action": "subscribe", "session_id": id}
			if cursor != "" {
				message["cursor"] = cursor
			}
			a.listen(user, string(mustJSON(a.t, message)))
		}
	}
	a.listen(alice, fmt.Sprintf(`{"action":"unsubscribe","session_id":%q}`, id))
}

func (a *asker) listen(user, body string) {
	frames := a.say(a.t, user, "", "conn-new", body)
	for i, f := range frames {
		if len(f.Message) > 4<<10 {
			frames[i].Message = json.RawMessage(`"` + hash(f.Message) + `"`)
		}
	}
	a.all = append(a.all, answer{User: user, Method: "SOCKET", Body: body, Status: http.StatusOK, Frames: frames})
}

func (a *asker) get(user, path string) []byte {
	return a.ask(request{user: user, method: http.MethodGet, path: path})
}

// pages asks for a list, page by page.
func (a *asker) pages(user, path string) (bodies [][]byte) {
	for cursor := ""; ; {
		body := a.get(user, path+cursor)
		bodies = append(bodies, body)
		var page struct {
			Meta struct {
				Next *string `json:"next_cursor"`
			} `json:"meta"`
		}
		if err := json.Unmarshal(body, &page); err != nil || page.Meta.Next == nil || len(bodies) == 40 {
			return bodies // an answer of another shape has no pages
		}
		join := "?"
		if strings.Contains(path, "?") {
			join = "&"
		}
		cursor = join + "cursor=" + url.QueryEscape(*page.Meta.Next)
	}
}

// ask records the answer to a request; a long one as its length and hash.
func (a *asker) ask(r request) []byte {
	got := a.do(a.t, r)
	body := got.Body.Bytes()
	one := answer{
		User: r.user, Scope: r.scope, Method: r.method, Path: r.path, Header: r.header, Body: r.body,
		Status: got.Code, Type: got.Header().Get("Content-Type"), ETag: got.Header().Get("ETag"),
	}
	switch {
	case len(body) > 48<<10:
		one.Bytes, one.SHA256 = len(body), hash(body)
	case strings.HasSuffix(one.Type, "json"):
		one.JSON = body
	default:
		one.Text = string(body)
	}
	a.all = append(a.all, one)
	return body
}
