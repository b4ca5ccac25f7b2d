package stores_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/infra/test/storetest/fixture"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/domain/automation"
	"github.com/rethread/rethread/shared/domain/receiver"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/observe/metrics"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
)

// lists returns all lists, for a user who has data of every kind.
func lists(s *stores.Store) map[string]func(context.Context) error {
	events := func(id string, q session.EventQuery) func(context.Context) error {
		return func(ctx context.Context) error {
			q.Limit = session.MaxPage
			_, err := s.Sessions.Events(ctx, alice, id, q)
			return err
		}
	}
	out := map[string]func(context.Context) error{
		"sessions": func(ctx context.Context) error {
			_, err := s.Sessions.List(ctx, session.ListQuery{UserID: alice, Limit: 100})
			return err
		},
		"sessions shared": func(ctx context.Context) error {
			_, err := s.Shares.SharedWith(ctx, session.ListQuery{UserID: bob, Limit: 100})
			return err
		},
		"feedback": func(ctx context.Context) error {
			_, err := s.Feedback.ListFeedback(ctx, task.FeedbackQuery{UserID: alice, Limit: 100})
			return err
		},
		"webhooks": func(ctx context.Context) error {
			_, err := s.Webhooks.Webhooks(ctx, alice)
			return err
		},
		"deliveries": func(ctx context.Context) error {
			_, err := s.Webhooks.Records(ctx, receiver.RecordQuery{UserID: alice, WebhookID: "w", Limit: 100})
			return err
		},
		"automations": func(ctx context.Context) error {
			_, err := s.Automations.Automations(ctx, alice)
			return err
		},
		"A2A tasks": func(ctx context.Context) error {
			_, err := s.Tasks.UserLinks(ctx, alice)
			return err
		},
	}
	for _, id := range []string{"s", "fork"} {
		out["effective events of "+id] = events(id, session.EventQuery{View: session.Effective})
		out["all events of "+id] = events(id, session.EventQuery{View: session.All})
		out["events back of "+id] = events(id, session.EventQuery{View: session.Effective, Descending: true})
		out["tasks of "+id] = func(ctx context.Context) error {
			_, err := s.Tasks.Tasks(ctx, task.Query{UserID: alice, SessionID: id, Limit: 100})
			return err
		}
		out["artifacts of "+id] = func(ctx context.Context) error {
			_, err := s.Artifacts.Artifacts(ctx, artifact.Query{UserID: alice, SessionID: id, Limit: 100})
			return err
		}
		out["thread of "+id] = func(ctx context.Context) error {
			_, err := s.Runs.Thread(ctx, alice, id, run.ThreadQuery{Limit: 100})
			return err
		}
		out["tree of "+id] = func(ctx context.Context) error {
			_, err := s.History.Forks(ctx, session.TreeQuery{UserID: alice, SessionID: id})
			return err
		}
		out["shares of "+id] = func(ctx context.Context) error {
			_, err := s.Shares.Shares(ctx, alice, id)
			return err
		}
	}
	out["versions"] = func(ctx context.Context) error {
		_, err := s.Artifacts.ArtifactVersions(ctx, artifact.VersionQuery{UserID: alice, SessionID: "s", Name: "file", Limit: 100})
		return err
	}
	return out
}

// furnish gives a user some of everything.
func furnish(t *testing.T, s *stores.Store) {
	t.Helper()
	mustCreate(t, s, alice, "s", session.Delta{"a": []byte("1")})
	mustAppend(t, s, alice, "s", event(t, "own id", "i1", "one"), event(t, "", "i1", "two"))
	mustAppend(t, s, alice, "s", event(t, "", "i2", "taken back"))
	mustRewind(t, s, "s", "i2")
	mustAppend(t, s, alice, "s", event(t, "", "i3", strings.Repeat("long ", 100<<10)))
	mustStart(t, s, startOf(t, "s", "r1", "go"))
	mustFlush(t, mustBegin(t, s, refOf("s", "r1"), "item"), "said")
	mustEnqueue(t, s, "s", "queued")
	for _, id := range []string{"t1", "t2"} {
		mustSave(t, s, "s", id, `[{"id":"b","type":"user","text":"hi","metadata":{"kagent_invocation_id":"i1"}}]`, "i1")
		err := s.Feedback.AddFeedback(t.Context(), task.Feedback{ID: id, UserID: alice, SessionID: "s", TaskID: id, Type: "up", CreatedTime: 1})
		if err != nil {
			t.Fatal(err)
		}
		l := task.Link{UserID: alice, SessionID: "s", TaskID: id, Agent: "demo", Runs: []string{"r1"}, CreatedTime: 1}
		if err := s.Tasks.AddLink(t.Context(), l, alice); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 2 {
		mustName(t, s, "s", "i4", "file", fmt.Sprint("content ", n))
		mustName(t, s, "s", "i4", "user:file", fmt.Sprint("content ", n))
	}
	mustFork(t, s, "s", "fork", nil)
	mustFork(t, s, "fork", "fork of the fork", nil)
	mustSave(t, s, "fork", "t3", `[{"id":"b","type":"user","text":"hi"}]`)
	fixture.Share(t, s, access.NewShare{SessionID: "s", Right: access.Read, UserID: bob})
	fixture.LetIn(t, s, "fork", "by link", "")
	fixture.Accept(t, s, bob, "by link")
	for _, id := range []string{"w", "w2"} {
		w := fixture.CreateWebhook(t, s, fixture.Webhook(alice, id, 10))
		fixture.Note(t, s, receiver.Note{
			Delivery: fixture.DeliveryAt(w, 100), Queued: 1, State: receiver.Pending, Number: 1,
			Attempt: receiver.Attempt{Time: 1, Status: 500},
		})
	}
	for _, id := range []string{"a1", "a2"} {
		a := automation.Automation{ID: id, UserID: alice, Name: id, Status: automation.Active, Version: 1}
		if _, err := s.Automations.CreateAutomation(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
}

// spoilers are ways to spoil an item: invalid content, or the wrong type for every
// attribute.
func spoilers() map[string]func(item table.Item) bool {
	return map[string]func(table.Item) bool{
		"content": func(item table.Item) bool {
			for _, name := range []string{"b", "e"} {
				switch item[name].(type) {
				case *types.AttributeValueMemberB:
					item[name] = &types.AttributeValueMemberB{Value: []byte("\x01 no DEFLATE")}
				case *types.AttributeValueMemberS:
					item[name] = &types.AttributeValueMemberS{Value: "no JSON"}
				default:
					continue
				}
				return true
			}
			return false
		},
		"types": func(item table.Item) bool {
			for name := range item {
				if !slices.Contains([]string{"PK", "SK", "GPK", "GSK", "expires"}, name) {
					item[name] = spoiled(item[name])
				}
			}
			return true
		},
	}
}

func spoiled(v types.AttributeValue) types.AttributeValue {
	switch v := v.(type) {
	case *types.AttributeValueMemberM:
		out := map[string]types.AttributeValue{}
		for name, member := range v.Value {
			out[name] = spoiled(member)
		}
		return &types.AttributeValueMemberM{Value: out}
	case *types.AttributeValueMemberS:
		return &types.AttributeValueMemberBOOL{Value: true}
	}
	return &types.AttributeValueMemberS{Value: "of another type"}
}

// needs reports whether a list depends on an item that is not one of its entries.
func needs(list, pk, sk, spoiling string) bool {
	of := list[strings.LastIndex(list, " ")+1:]
	switch {
	case sk == "HEAD": // it names the session's owner
		return strings.TrimPrefix(pk, "S#") == of || list == "versions"
	case strings.HasPrefix(list, "thread of"):
		// The active run and the latest entry decide who may write and where to
		// watch from.
		return sk == "RUN" || spoiling == "types" && strings.HasPrefix(sk, "E#")
	case strings.HasPrefix(list, "artifacts of"), list == "versions":
		return sk == "AI" // what a fork took over is listed in one item
	}
	return false
}

// One unreadable item never fails a list: each item of the table is spoiled in
// turn, and all lists are read.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	engine := storetest.Engine(t)
	var lines bytes.Buffer
	now := time.Now()
	s := stores.New(engine,
		stores.WithLogger(slog.New(slog.NewTextHandler(&lines, nil))),
		stores.WithClock(func() time.Time { return now })) // no lease runs out
	furnish(t, s)
	all := lists(s)
	names := slices.Sorted(maps.Keys(all))
	for _, name := range names {
		if err := all[name](t.Context()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	stored := storetest.Items(t, engine)
	ctx, recorder := metrics.With(t.Context())
	cases, runs := 0, storetest.Sample(t, 4)
	hows := spoilers()
	for _, how := range slices.Sorted(maps.Keys(hows)) {
		spoil := hows[how]
		for _, item := range stored {
			if !runs() {
				continue
			}
			bad := maps.Clone(item)
			if !spoil(bad) {
				continue
			}
			storetest.Put(t, engine, bad)
			pk, sk := storetest.Text(t, item, table.PK), storetest.Text(t, item, table.SK)
			for _, name := range names {
				if needs(name, pk, sk, how) {
					continue
				}
				cases++
				if err := all[name](ctx); err != nil {
					t.Errorf("%s spoiled in %s %s: %s: %v", how, pk, sk, name, err)
				}
			}
			storetest.Put(t, engine, item)
		}
	}
	counted := recorder.Values()[metrics.ItemsSkipped]
	t.Logf("%d items, %d lists read, %v items left out", len(stored), cases, counted)
	if least := map[bool]int{true: 1500, false: 300}[storetest.InMemory()]; cases < least {
		t.Errorf("%d cases", cases)
	}
	skipped := map[bool]int{true: 150, false: 25}[storetest.InMemory()]
	if len(counted) == 0 || int(counted[0]) < skipped || strings.Count(lines.String(), "is left out") < skipped {
		t.Errorf("counted %v, %d lines", counted, strings.Count(lines.String(), "\n"))
	}
	if strings.Contains(lines.String(), "said") || strings.Contains(lines.String(), "partition=U#") {
		t.Errorf("the log contains stored content:\n%s", lines.String())
	}
}

// Readable items are served, in their order and with their positions.
func TestUnreadable_leaves_the_rest(t *testing.T) {
	t.Parallel()
	engine := storetest.Engine(t)
	s := stores.New(engine)
	mustCreate(t, s, alice, "s", nil)
	for n := range 5 {
		mustAppend(t, s, alice, "s", event(t, "", "i", fmt.Sprint("text ", n)))
		mustSave(t, s, "s", fmt.Sprint("t", n), "[]")
	}
	stored := storetest.Items(t, engine)
	for _, item := range stored {
		sk := storetest.Text(t, item, table.SK)
		if sk == "E#0000000003" || strings.HasPrefix(sk, "T#") && strings.HasSuffix(sk, "#t1") {
			item["b"] = &types.AttributeValueMemberB{Value: []byte("\x00nonsense")}
			storetest.Put(t, engine, item)
		}
	}
	got := texts(mustEvents(t, s, alice, "s", session.EventQuery{Limit: 2}))
	if want := "[1:text 0 5:text 2 7:text 3 9:text 4]"; fmt.Sprint(got) != want {
		t.Errorf("events %v, want %s", got, want)
	}
	if got := taskIDs(t, s, "s", 2); fmt.Sprint(got) != "[t0 t2 t3 t4]" {
		t.Errorf("tasks %v", got)
	}
	if got := mustAppend(t, s, alice, "s", event(t, "", "i", "more")); got[0].Seq != 11 {
		t.Errorf("appended at %d", got[0].Seq)
	}
}
