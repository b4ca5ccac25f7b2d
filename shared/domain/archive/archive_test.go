package archive_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/archive"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
)

func mustEvent(t *testing.T, raw string) session.Event {
	t.Helper()
	e, err := session.ParseEvent(json.RawMessage(raw), "")
	if err != nil {
		t.Fatal(err)
	}
	e.Seq, e.Status, e.CreatedTime = 1, session.EventCompleted, 7
	return e
}

func TestWriter(t *testing.T) {
	t.Parallel()
	one := archive.Event{
		Event: mustEvent(t, `{"id":"e","invocation_id":"i","author":"a","_log":{"mine":"<&>"},"n":1.0,"actions":{}}`),
		Log:   archive.Log{Undo: session.Delta{"\x00f": json.RawMessage("null")}, Hidden: true},
	}
	head := archive.Head{
		Session:  session.Session{ID: "s", AppName: "app", Status: session.Idle, Metadata: json.RawMessage(`{}`), HeadSeq: 1},
		Timeline: archive.Timeline{{From: 1}},
	}
	file := archive.Artifact{Name: "f", Size: 2, Data: []byte{0, 255}, MimeType: "a/b"}
	sent := archive.Request{Run: "r", SentRequest: run.SentRequest{
		Continuation: 1, Number: 2, SentTime: 3, Method: "POST", Path: "/run", Body: `{ "a": "é" }`, Size: 13, ExpiresTime: 4,
	}}
	var out bytes.Buffer
	w := archive.NewWriter(&out)
	for _, err := range []error{w.Begin(head), w.Event(one), w.Artifact(file), w.Request(sent)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Run("an interrupted document is invalid", func(t *testing.T) {
		if json.Valid(out.Bytes()) {
			t.Error("it can be read")
		}
	})
	t.Run("lists stay in order", func(t *testing.T) {
		if err := w.Task(archive.Task{}); err == nil {
			t.Error("a task came after an artifact")
		}
	})
	if err := w.End(archive.State{State: session.State{Session: session.Values{"a": json.RawMessage("1")}}}, nil); err != nil {
		t.Fatal(err)
	}
	t.Run("a written document parses, with white space too", func(t *testing.T) {
		var spaced bytes.Buffer
		if err := json.Indent(&spaced, out.Bytes(), "", "\t"); err != nil {
			t.Fatal(err)
		}
		for _, raw := range [][]byte{out.Bytes(), spaced.Bytes()} {
			p, err := archive.Parse(raw)
			if err != nil {
				t.Fatalf("%v\n%s", err, raw)
			}
			want := &archive.Part{
				Head: &head, Events: []archive.Event{one}, Artifacts: []archive.Artifact{file}, Requests: []archive.Request{sent}, State: p.State,
				Tasks: []archive.Task{}, Feedback: []archive.Feedback{}, Complete: true,
			}
			want.Events[0].Log.Own = json.RawMessage(`{"mine":"<&>"}`)
			if d := cmp.Diff(want, p); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		}
	})
}

func TestParse_names_what_is_wrong(t *testing.T) {
	t.Parallel()
	const head = `"format":"rethread.session/1"`
	for raw, want := range map[string]string{
		`[]`:                             "",
		`{}`:                             "/format",
		`{"format":"x"}`:                 "/format",
		`{` + head + `,"complete":true}`: "/state",
		`{` + head + `,"events":{}}`:     "/events",
		`{` + head + `,"artifacts":[{"name":"a/b","version":0,"gone":true}]}`:                           "/artifacts/0/name",
		`{` + head + `,"events":[{"a"}]}`:                                                               "",
		`{` + head + `,"events":[{"id":"e","invocation_id":"i","author":"a","seq":"x"}]}`:               "/events/0/seq",
		`{` + head + `,"events":[{"invocation_id":"i","author":"a"}]}`:                                  "/events/0/id",
		`{` + head + `,"events":[{"id":"e","invocation_id":"i","author":"a","created_time":-1}]}`:       "/events/0/created_time",
		`{` + head + `,"events":[{"id":"e","invocation_id":"i","author":"a","_log":{"task":"a/b"}}]}`:   "/events/0/_log/task",
		`{` + head + `,"tasks":[{"task_id":"t","message_bubbles":{},"place":1}]}`:                       "/tasks/0/message_bubbles",
		`{` + head + `,"tasks":[{"task_id":"t","message_bubbles":[]}]}`:                                 "/tasks/0/place",
		`{` + head + `,"feedback":[{"task_id":"t","type":"so so"}]}`:                                    "/feedback/0/type",
		`{` + head + `,"artifacts":[{"name":"..","version":0}]}`:                                        "/artifacts/0/name",
		`{` + head + `,"artifacts":[{"name":"a","version":0,"size":2,"data":"AA=="}]}`:                  "/artifacts/0/size",
		`{` + head + `,"requests":[{"run_id":"r/s","number":1}]}`:                                       "/requests/0/run_id",
		`{` + head + `,"requests":[{"run_id":"r"}]}`:                                                    "/requests/0/number",
		`{` + head + `,"requests":[{"run_id":"r","number":101}]}`:                                       "/requests/0/number",
		`{` + head + `,"requests":[{"run_id":"r","number":1,"continuation":11}]}`:                       "/requests/0/continuation",
		`{` + head + `,"requests":[{"run_id":"r","number":1,"body":"abc","size":2}]}`:                   "/requests/0/size",
		`{` + head + `,"requests":[{"run_id":"r","number":1,"expires_time":-1}]}`:                       "/requests/0/expires_time",
		`{` + head + `,"requests":[{"run_id":"r","number":1,"body":{}}]}`:                               "/requests/0/body",
		`{` + head + `,"session":{"id":"a/b","status":"idle","metadata":{}}}`:                           "/session/id",
		`{` + head + `,"session":{"id":"a","status":"in_progress","metadata":{}}}`:                      "/session/status",
		`{` + head + `,"session":{"id":"a","status":"idle","metadata":{},"head_seq":1},"taken_over":2}`: "/taken_over",
		`{` + head + `,"state":{"session":{"a":null}}}`:                                                 "/state",
	} {
		_, err := archive.Parse([]byte(raw))
		var f *fault.Error
		if !errors.As(err, &f) || len(f.Violations) != 1 || f.Violations[0].Pointer != want {
			t.Errorf("%s: got %v, want %q named", raw, err, want)
		}
	}
}

func TestFromTasks(t *testing.T) {
	t.Parallel()
	save := func(id string, invocations ...string) task.Save {
		return task.Save{Task: task.Task{ID: id, Bubbles: json.RawMessage(`[]`)}, Invocations: invocations}
	}
	p, err := archive.FromTasks(session.Session{ID: "s"}, []task.Save{save("a", "i", "j"), save("b"), save("c", "j", "k")}, 9)
	if err != nil {
		t.Fatal(err)
	}
	var placed []string
	for _, e := range p.Events {
		placed = append(placed, e.InvocationID+" of "+e.Log.Task)
	}
	if d := cmp.Diff([]string{"i of a", "j of a", "b of b", "k of c"}, placed); d != "" {
		t.Errorf("entries (-want +got):\n%s", d)
	}
	if p.Tasks[2].Place != 2 || p.Tasks[1].Place != 3 || p.Head.Session.HeadSeq != 4 {
		t.Errorf("places %+v", p.Tasks)
	}
	if _, err := archive.FromTasks(session.Session{ID: "s"}, []task.Save{save("a"), save("a")}, 9); err == nil {
		t.Error("a task came twice")
	}
}
