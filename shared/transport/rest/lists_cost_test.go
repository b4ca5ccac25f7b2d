package rest_test

import (
	"fmt"
	"math"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/contract"
	"github.com/rethread/rethread/infra/test/capacity"
	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/domain/quota"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table/memory"
	"github.com/rethread/rethread/shared/transport/rest"
)

// listRow is a line of the table of lists in docs/costs.md.
var listRow = regexp.MustCompile("(?m)^\\| `GET (/[^`]*)`[^|]*\\| ([0-9]+) \\| ([0-9]+) \\| ([0-9.]+) \\|$")

// TestLists_cost measures a page of each list of the API, as docs/costs.md has it.
func TestLists_cost(t *testing.T) {
	meter := &capacity.Meter{}
	var of *stores.Store
	s := newSystem(t, func(c *rest.Config) {
		of = stores.New(meter.Around(memory.New(store.Schema())), stores.WithCodec(storetest.Codec()), stores.WithQuotas(quota.Limits{RequestDays: 1}))
		c.Sessions, c.Artifacts, c.Tasks, c.Feedback, c.Idempotency, c.Grants, c.Shares = of.Sessions, of.Artifacts, of.Tasks, of.Feedback, of.Idempotency, of.Shares, of.Shares
		c.Runs, c.Automations, c.Webhooks, c.Rewinds = of.Runs, of.Automations, of.Webhooks, of.History
	})
	ids := s.mustFillLists(t)
	told := s.mustBeAtWork(t, of, "erin")
	for i := range run.MaxSent {
		mustKeep(t, of, told, run.SentRequest{Number: i + 1, Body: `{"input":"a question"}`})
	}

	page, err := os.ReadFile("../../../docs/costs.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, row := range listRow.FindAllStringSubmatch(string(page), -1) {
		path, _, _ := strings.Cut(row[1], "?")
		listed[path] = true
		user, at := alice, ids.Replace(row[1])
		switch {
		case strings.Contains(row[1], "shared=true"):
			user = bob
		case strings.HasSuffix(path, "/requests"):
			user, at = "erin", "/sessions/"+told.SessionID+"/runs/"+told.RunID+"/requests"
		case strings.HasSuffix(path, "/runs"):
			user, at = "dave", strings.Replace(row[1], "{session_id}", "ran", 1)
		case strings.HasSuffix(path, "/forks"):
			user, at = "carol", strings.Replace(row[1], "{session_id}", "tree", 1)
		}
		before := meter.Total()
		got := s.must(t, http.StatusOK, get(user, at))
		used := meter.Total().Sub(before)
		reads, err := strconv.ParseFloat(row[4], 64)
		if n := listLength(t, got); err != nil || row[2] != strconv.Itoa(n) || row[3] != strconv.Itoa(used.Requests) ||
			math.Abs(used.Reads-reads) > 1 || used.Writes > 0 { // sizes vary a little, as ids do
			t.Errorf("%s: measured %d entries, %+v; documented %s, %v", row[1], n, used, row[2:], err)
		}
	}

	spec, err := contract.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, op := range spec.Operations() {
		path, ours := strings.CutPrefix(op.Path, "/api/v1")
		if op.Method != http.MethodGet || !ours || !slices.Contains(op.Parameters, "limit") {
			continue
		}
		if n++; !listed[path] {
			t.Errorf("docs/costs.md has no cost of GET %s", path)
		}
	}
	if n < 12 {
		t.Errorf("the contract has %d lists", n)
	}
}

// listLength counts the entries of a page of any list.
func listLength(t *testing.T, r response) int {
	t.Helper()
	if strings.Contains(string(r.body), `"children"`) {
		return strings.Count(string(r.body), `"id"`)
	}
	body := decode[any](t, r)
	for _, name := range []string{"data", "tasks", "feedback", "items"} { // items of the data of a thread
		if members, ok := body.(map[string]any); ok && members[name] != nil {
			body = members[name]
		}
	}
	entries, ok := body.([]any)
	if !ok {
		t.Fatalf("not a list: %s", r.body)
	}
	return len(entries)
}

// mustFillLists stores a full page of each list, and returns the ids that the paths of
// the contract name.
func (s *system) mustFillLists(t *testing.T) *strings.Replacer {
	t.Helper()
	for i := range 99 {
		s.mustCreate(t, alice, fmt.Sprintf(`{"id":"other-%d","name":"Session %d"}`, i, i))
		s.must(t, http.StatusCreated, post(alice, fmt.Sprintf("/sessions/other-%d/events", i), batch(said("i", "a word"))))
		s.must(t, http.StatusCreated, post(alice, fmt.Sprintf("/sessions/other-%d/shares", i), `{"user_id":"bob","access":"read"}`))
	}
	s.mustCreate(t, alice, `{"id":"s","name":"Session"}`)
	for i := range 100 {
		s.mustAppend(t, "s", said(fmt.Sprint("i", i), "some words that somebody said"))
		s.must(t, http.StatusCreated, post(alice, "/sessions/s/tasks", taskJSON(fmt.Sprint("task-", i), "a question")))
		s.mustPut(t, fmt.Sprintf("/sessions/s/artifacts/file-%d", i), "text/plain", "text")
		s.mustPut(t, "/sessions/s/artifacts/file-0", "text/plain", "text")
		s.must(t, http.StatusAccepted, post(alice, "/feedback", fmt.Sprintf(`{"taskId":"task-%d","feedbackType":"up","sessionId":"s"}`, i)))
		user := fmt.Sprintf("user-%d", i)
		if i == 0 {
			user = bob
		}
		s.must(t, http.StatusCreated, post(alice, "/sessions/s/shares", `{"user_id":"`+user+`","access":"read"}`))
	}
	s.mustCreate(t, "dave", `{"id":"ran"}`)
	for range 100 {
		at := s.must(t, http.StatusAccepted, post("dave", "/sessions/ran/runs", `{"input":"a question","mode":"external"}`)).header.Get("Location")
		s.must(t, http.StatusCreated, post("dave", at+"/events", batch(`{"author":"agent","content":{"role":"model","parts":[{"text":"an answer"}]}}`)))
		s.must(t, http.StatusOK, patch("dave", at, `{"status":"completed"}`))
	}
	s.mustCreate(t, "carol", `{"id":"tree"}`)
	for range 99 {
		s.must(t, http.StatusCreated, post("carol", "/sessions/tree/fork", ""))
	}
	var hook webhookView
	for range 20 {
		hook = s.mustWebhook(t, alice, "")
		s.mustAutomation(t, alice)
	}
	for range 10 {
		s.must(t, http.StatusAccepted, post(alice, "/webhooks/"+hook.ID+"/test", ""))
	}
	return strings.NewReplacer("{session_id}", "s", "{name}", "file-0", "{webhook_id}", hook.ID)
}
