package upgrade_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/rethread/rethread/shared/boot/batch"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/table"
)

// teller plays the story: the requests that fill a table with everything that a version
// stores.
type teller struct {
	*writer
	functions map[string]filters
	was       map[table.Key]table.Item
	changes   []events.DynamoDBEventRecord
	keyed     []request // with idempotency keys, whose answers are stored
}

// tell plays the story to today's handlers over an empty table.
func tell(t *testing.T) *teller {
	t.Helper()
	s := newSystem(t, nil, time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC), 7)
	s.agent, s.down = talker{}, true
	w := &teller{
		writer:    &writer{system: s, t: t, story: story{IDs: map[string]string{}}},
		functions: mustFunctions(t), was: map[table.Key]table.Item{},
	}
	for _, chapter := range []func(){
		w.targets, w.plain, w.trees, w.rewound, w.files, w.bodies, w.tasks, w.shared, w.moved, w.agents, w.protocols,
	} {
		chapter()
		w.settle()
	}
	w.last()
	return w
}

// settle passes what changed in the table to the function that queues deliveries, and
// works until nothing more follows from it.
func (w *teller) settle() {
	w.t.Helper()
	for range 5 {
		w.dispatch()
		if len(w.queue)+len(w.runs) == 0 {
			return
		}
		queue := w.queue
		w.queue = nil
		for _, d := range queue {
			w.deliver(w.t, w.mail(w.t, []json.RawMessage{mustJSON(w.t, d)}, true))
		}
		w.work(w.t)
	}
}

// dispatch queues the deliveries of what changed since the last call.
func (w *teller) dispatch() {
	w.t.Helper()
	all := w.difference()
	w.changes = append(w.changes, all...)
	to := &delivery.Dispatcher{Targets: w.store, Queue: w.system}
	for _, r := range all {
		if !w.functions["AutomationsFunction"].match(w.t, r) {
			continue
		}
		event := events.DynamoDBEvent{Records: []events.DynamoDBEventRecord{r}}
		if a, err := batch.StartingQueued(batch.Dispatch(w.store.Watching.Notifications, to, nil, w.log), w.next, w.log)(w.t.Context(), event); err != nil || len(a.BatchItemFailures) > 0 {
			w.t.Fatalf("%v %v: %s", err, a, w.said)
		}
	}
}

// create creates a session of alice.
func (w *teller) create(body string) string {
	w.t.Helper()
	return read[one[named]](w.t, w.post(http.StatusCreated, "/sessions", body)).Data.ID
}

// keyedPost sends a request with an idempotency key, to be repeated later.
func (w *teller) keyedPost(path, key, body string) []byte {
	w.t.Helper()
	r := request{user: alice, method: http.MethodPost, path: path, body: body, header: map[string]string{"Idempotency-Key": key}}
	w.keyed = append(w.keyed, r)
	return w.must(http.StatusCreated, r)
}

// says appends a turn: a question and its answer, which sets state.
func (w *teller) says(session, invocation, state string) {
	w.t.Helper()
	w.post(http.StatusCreated, "/sessions/"+session+"/events", fmt.Sprintf(`{"events":[`+
		`{"invocation_id":%[1]q,"author":"user","content":{"role":"user","parts":[{"text":"Question %[1]s about the fourth quarter"}]}},`+
		`{"invocation_id":%[1]q,"author":"data_analyst","content":{"role":"model","parts":[{"text":"Answer to %[1]s"}]},"actions":{"state_delta":%[2]s}}]}`,
		invocation, state))
}

// rewind rewinds a session, and returns the marker's id.
func (w *teller) rewind(session, before string) string {
	w.t.Helper()
	body := w.post(http.StatusOK, "/sessions/"+session+"/rewind", fmt.Sprintf(`{"rewind_before_invocation_id":%q,"scopes":["session","user"]}`, before))
	return read[one[struct{ Event named }]](w.t, body).Data.Event.InvocationID
}

func (w *teller) fork(session, body string) string {
	w.t.Helper()
	return read[one[named]](w.t, w.post(http.StatusCreated, "/sessions/"+session+"/fork", body)).Data.ID
}

func (w *teller) task(session, id, text string, status int) {
	w.t.Helper()
	w.post(status, "/sessions/"+session+"/tasks", fmt.Sprintf(
		`{"task_id":%q,"user_message":"What did we sell?","message_bubbles":[{"id":"m1","type":"user","text":"What did we sell?"},{"id":"m2","type":"agent","text":%q}],"task_metadata":{"status":"completed"}}`,
		id, text))
}

// put puts a version of an artifact.
func (w *teller) put(session, name, query, kind, body string) {
	w.t.Helper()
	w.must(http.StatusCreated, request{
		user: alice, method: http.MethodPut, path: "/sessions/" + session + "/artifacts/" + url.PathEscape(name) + query, body: body,
		header: map[string]string{"Content-Type": kind},
	})
}

func (w *teller) feedback(user, session, task, kind string) {
	w.t.Helper()
	w.must(http.StatusAccepted, request{
		user: user, method: http.MethodPost, path: "/feedback",
		body: fmt.Sprintf(`{"taskId":%q,"sessionId":%q,"feedbackType":%q,"feedbackText":"So it is."}`, task, session, kind),
	})
}

// start starts a run, and returns its id.
func (w *teller) begin(session, text, more string) string {
	w.t.Helper()
	body := w.post(http.StatusAccepted, "/sessions/"+session+"/runs",
		fmt.Sprintf(`{"input":[{"content":{"role":"user","parts":[{"text":%q}]}}]%s}`, text, more))
	return read[one[struct{ Run named }]](w.t, body).Data.Run.ID
}

// push pushes a piece of an item of an external run.
func (w *teller) push(session, run, item, text string) {
	w.t.Helper()
	w.post(http.StatusOK, "/sessions/"+session+"/runs/"+run+"/deltas", fmt.Sprintf(`{"item_id":%q,"deltas":[{"part":0,"text":%q}]}`, item, text))
}

// noise is text that does not compress well.
func (w *teller) noise(bytes int) string {
	b := make([]byte, bytes/2)
	if _, err := w.random.Read(b); err != nil {
		w.t.Fatal(err)
	}
	return hex.EncodeToString(b)
}

// talker is an agent that is sent requests, streams a thought and sentences and calls a
// function. The agent "failing" fails after its first words.
type talker struct{ failing bool }

func (talker) Agent(name string) (run.Agent, bool) { return talker{name == "failing"}, true }

// Run implements run.Agent.
func (a talker) Run(ctx context.Context, req run.Request, emit func(run.Output) error) error {
	for _, body := range []string{`{"run_id":"` + req.RunID + `"}`, strings.Repeat("é", run.MaxSentBody)} {
		run.Send(ctx, run.Sending{
			Method: http.MethodPost, Path: "/agents/helper", Size: int64(len(body)), Body: func() io.Reader { return strings.NewReader(body) },
		})
	}
	errs := []error{
		emit(run.Output{Item: &run.ItemStart{ID: "think-" + req.RunID, Author: "helper", Role: "model"}}),
		emit(run.Output{Delta: &content.Delta{Thought: true, Text: "thinking"}}),
	}
	if a.failing {
		return errors.Join(append(errs, errors.New("the agent is tired"))...)
	}
	for i := range 12 {
		errs = append(errs, emit(run.Output{Delta: &content.Delta{Part: 1, Text: fmt.Sprintf("Sentence %d. ", i)}}))
	}
	for i, parts := range []string{`[{"functionCall":{"id":"c1","name":"query","args":{"quarter":4}}}]`, `[{"text":"Final words."}]`} {
		whole, err := session.ParseEvent(json.RawMessage(fmt.Sprintf(
			`{"invocation_id":%q,"author":"helper","content":{"role":"model","parts":%s},"actions":{"state_delta":{"step":%d}}}`, req.RunID, parts, i)), "")
		errs = append(errs, err, emit(run.Output{Event: &whole}))
	}
	return errors.Join(errs...)
}

// targets are webhooks, one of them of a receiver that is down, and automations.
func (w *teller) targets() {
	hook := func(body string) string {
		return read[one[named]](w.t, w.post(http.StatusCreated, "/webhooks", body)).Data.ID
	}
	w.story.IDs["hook"] = read[one[named]](w.t, w.keyedPost("/webhooks", "hook-1",
		`{"url":"https://hooks.example/all","description":"everything"}`)).Data.ID
	w.story.IDs["downhook"] = hook(`{"url":"https://down.example/all"}`)
	w.story.IDs["somehook"] = hook(`{"url":"https://hooks.example/some","types":["run.completed","run.failed"],"agents":["helper"]}`)
	w.send(http.StatusOK, http.MethodPatch, "/webhooks/"+hook(`{"url":"https://hooks.example/off"}`), `{"status":"disabled"}`)
	w.post(http.StatusOK, "/webhooks/"+w.story.IDs["hook"]+"/secret/rotate", "")
	w.story.IDs["test"] = read[one[named]](w.t, w.post(http.StatusAccepted, "/webhooks/"+w.story.IDs["hook"]+"/test", "")).Data.ID
	automation := func(body string) string {
		return read[one[named]](w.t, w.post(http.StatusCreated, "/automations", body)).Data.ID
	}
	w.story.IDs["automation"] = automation(`{"name":"Second look","on":{"types":["feedback.created"],"feedback_types":["down"]},"do":{"agent":"helper","input":"Feedback {{feedback}} came for {{task_id}}."}}`)
	w.story.IDs["automation2"] = automation(`{"name":"Forks","on":{"types":["session.forked"]},"do":{"agent":"helper","input":"A fork.","session":"new"}}`)
}

// plain are sessions without rewinds.
func (w *teller) plain() {
	w.keyedPost("/sessions", "plain-1",
		`{"id":"plain","agent":"data_analyst","name":"Plain talk","app_name":"sales","state":{"region":"EMEA","count":1,"user:locale":"de-DE","app:currency":"EUR","temp:x":1},"metadata":{"k":[1,2.5,"ü",null]}}`)
	w.keyedPost("/sessions/plain/events", "events-1",
		`{"events":[{"id":"e-1","invocation_id":"i-1","author":"user","content":{"role":"user","parts":[{"text":"Hello"}]}},{"invocation_id":"i-1","author":"data_analyst","content":{"role":"model","parts":[{"text":"How can I help?"}]},"actions":{"state_delta":{"count":2,"region":null,"user:seen":true,"app:rate":1.25}}}]}`)
	w.post(http.StatusCreated, "/sessions/plain/events", `{"expected_seq":3,"events":[{"id":"e-2","invocation_id":"i-2","author":"user"},{"id":"i-2.step","invocation_id":"i-2","author":"tool"}]}`)
	w.post(http.StatusOK, "/sessions/plain/events", `{"events":[{"id":"e-2","invocation_id":"i-2","author":"user"}]}`)
	for i := range 5 {
		w.says("plain", fmt.Sprint("turn-", i), fmt.Sprintf(`{"count":%d}`, i))
	}
	w.send(http.StatusOK, http.MethodPatch, "/sessions/plain", `{"name":"Plain talk, renamed","metadata":{"k":"v"}}`)
	w.create(`{"id":"empty"}`)
	w.says(url.PathEscape(w.create(`{"id":"ünïcode-😀"}`)), "i", `{"a":1}`)
	w.says(w.create(`{"id":"again"}`), "first", `{"a":1}`)
	w.task("again", "lost", "It will go.", http.StatusCreated)
	w.settle()
	w.send(http.StatusNoContent, http.MethodDelete, "/sessions/again", "")
	w.says(w.create(`{"id":"again"}`), "second", `{"a":2}`)
	w.says(w.create(`{"id":"short-lived","agent":"short"}`), "i", `{}`)
	w.says(w.create(`{"id":"own-retention","retention":864000}`), "i", `{}`)
	w.create(`{"id":"big-metadata","agent":"short","retention":315360000,"metadata":{"big":"` + w.noise(4000) + `"}}`)
	w.says("big-metadata", "m-1", `{"m":1}`)
	w.says("big-metadata", "m-2", `{"m":2}`)
	w.rewind("big-metadata", "m-2")
	w.fork("big-metadata", `{}`)
}

// trees are forks of forks, deep ones and orphans.
func (w *teller) trees() {
	w.create(`{"id":"tree","agent":"data_analyst","state":{"user:tree":5}}`)
	for i := range 6 {
		w.says("tree", fmt.Sprint("t-", i), fmt.Sprintf(`{"n":%d}`, i))
		w.task("tree", fmt.Sprint("tree-task-", i), "leaf", http.StatusCreated)
	}
	f1 := w.fork("tree", `{"rewind_before_invocation_id":"t-4","name":"First"}`)
	w.task("tree", "tree-task-1", "changed after the fork", http.StatusOK)
	w.says(f1, "f-1", `{"n":10}`)
	w.rewind("tree", "t-5")
	f2 := w.fork("tree", `{}`)
	f3 := w.fork(f1, `{"rewind_before_invocation_id":"unknown"}`)
	w.rewind(f3, "t-2")
	w.says(f3, "f-3", `{"n":30}`)
	w.story.IDs["f1"], w.story.IDs["f2"], w.story.IDs["f3"] = f1, f2, f3
	deep := f2
	for i := range 14 {
		w.says(deep, fmt.Sprint("deep-", i), `{"deep":true}`)
		deep = w.fork(deep, `{}`)
	}
	w.task(deep, "deep-task", "far from the root", http.StatusCreated)
	w.rewind(deep, "t-3")
	w.says(w.create(`{"id":"gone"}`), "i", `{"a":1}`)
	w.task("gone", "gone-task", "kept by its fork", http.StatusCreated)
	w.story.IDs["orphan"] = w.fork("gone", `{}`)
	w.send(http.StatusNoContent, http.MethodDelete, "/sessions/gone", "")
	w.says(w.story.IDs["orphan"], "own", `{"b":1}`)
}

// rewound are sessions with rewinds, a long one among them.
func (w *teller) rewound() {
	w.create(`{"id":"rewound","state":{"region":"EMEA"}}`)
	for i := range 6 {
		w.says("rewound", fmt.Sprint("r-", i), fmt.Sprintf(`{"n":%d,"user:mine":%d,"k%d":1}`, i, i, i))
	}
	marker := w.rewind("rewound", "r-3")
	w.rewind("rewound", marker)
	w.rewind("rewound", "r-1")
	w.says("rewound", "r-7", `{"n":7}`)
	w.task("rewound", "re-task", "after a rewind", http.StatusCreated)
	w.fork("rewound", `{"rewind_before_invocation_id":"r-7"}`)
	w.create(`{"id":"long"}`)
	for i := range 28 {
		for k := range 3 {
			w.post(http.StatusCreated, "/sessions/long/events", fmt.Sprintf(
				`{"events":[{"invocation_id":"l-%d-%d","author":"user","content":{"role":"user","parts":[{"text":%q}]},"actions":{"state_delta":{"n":%d}}}]}`,
				i, k, w.noise(3000), k))
		}
		if i%2 == 1 {
			w.rewind("long", fmt.Sprintf("l-%d-1", i-1))
		}
	}
	for path := range strings.FieldsSeq("/thread /events?limit=500 /state /messages") {
		w.get("/sessions/long" + path) // compacts
	}
	w.story.IDs["longfork"] = w.fork("long", `{"rewind_before_invocation_id":"l-20-0"}`)
	w.create(`{"id":"often"}`)
	for i := range 40 { // a timeline of many ranges
		w.says("often", fmt.Sprint("o-", i), `{}`)
		w.says("often", fmt.Sprint("p-", i), `{}`)
		w.rewind("often", fmt.Sprint("p-", i))
	}
}

// files are artifacts of sessions, users and forks.
func (w *teller) files() {
	w.create(`{"id":"files","app_name":"sales"}`)
	for i := range 3 {
		w.put("files", "sales.csv", fmt.Sprint("?invocation_id=a-", i), "text/csv", fmt.Sprintf("region,revenue\nEMEA,%d\n", i))
	}
	w.put("files", "noise.bin", "", "application/octet-stream", w.noise(450_000))
	w.put("files", "user:shared.txt", "", "text/plain", "for all sessions")
	w.put("files", "user:baseline.csv", "", "text/uri-list", "artifact://session/files/sales.csv/0")
	w.put("files", "chain.csv", "", "text/uri-list", "artifact://session/files/user:baseline.csv/0")
	w.put("files", "raw.parquet", "", "text/uri-list", "s3://reports/2024/q4.parquet")
	w.put("files", "gone.txt", "?invocation_id=a-9", "text/plain", "deleted later")
	w.send(http.StatusNoContent, http.MethodDelete, "/sessions/files/artifacts/gone.txt", "")
	w.rewind("files", "a-1")
	w.put("files", "late.txt", "?invocation_id=a-10", "text/plain", "late")
	w.story.IDs["filesfork"] = w.fork("files", `{}`)
	w.put(w.story.IDs["filesfork"], "sales.csv", "?invocation_id=b-1", "text/csv", "of the fork")
	w.fork(w.story.IDs["filesfork"], `{}`)
}

// bodies are events and tasks of all sizes.
func (w *teller) bodies() {
	w.create(`{"id":"large"}`)
	for i, text := range []string{"small", strings.Repeat("a sentence that repeats ", 600), w.noise(60_000), w.noise(450_000)} {
		w.post(http.StatusCreated, "/sessions/large/events", fmt.Sprintf(
			`{"events":[{"id":"large-%[1]d","invocation_id":"large-%[1]d","author":"user","content":{"role":"user","parts":[{"text":%[2]q}]},"actions":{"state_delta":{"n":%[1]d}}}]}`, i, text))
	}
	w.task("large", "big", w.noise(90_000), http.StatusCreated)
	w.create(fmt.Sprintf(`{"id":"described","metadata":{"text":%q}}`, w.noise(2000)))
	w.fork("described", `{}`)
	w.send(http.StatusOK, http.MethodPatch, "/sessions/described", fmt.Sprintf(`{"metadata":{"text":%q}}`, w.noise(3000)))
	w.create(`{"id":"words"}`)
	for i := range 150 {
		w.says("words", fmt.Sprint("w-", i), `{}`)
	}
	w.get("/sessions?q=nowhere&in=messages") // stores sets of words
}
