package upgrade_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/rethread/rethread/infra/local/repo"
	"github.com/rethread/rethread/infra/local/samtemplate"
	"github.com/rethread/rethread/infra/local/stream/pattern"
	"github.com/rethread/rethread/shared/boot/batch"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/notification"
	"github.com/rethread/rethread/shared/domain/watch"
)

// The test fails below these numbers.
const minRecords, minFrames, minDeliveries, minImages = 160, 100, 100, 2 * minItems

// TestChanges checks the records that the old version left in the stream: today's
// filters match the same records, and their processing has the same results.
func TestChanges(t *testing.T) {
	t.Parallel()
	each(t, testChanges)
}

func testChanges(t *testing.T, of kept) {
	t.Helper()
	items, changes := of.items(t), mustRead[change](t, of, "changes.jsonl.zst")
	s, functions := newSystem(t, items, of.story(t).now(), 1), mustFunctions(t)
	frames, deliveries := 0, 0
	for _, c := range changes {
		got := s.process(t, functions, c.Record)
		about := c.Record.EventName + " " + c.Record.Change.Keys["PK"].String() + " " + c.Record.Change.Keys["SK"].String()
		if got.Fanout != c.Fanout || got.Dispatch != c.Dispatch {
			t.Errorf("%s: the filters let it through to fan-out %t and dispatch %t, want %t and %t",
				about, got.Fanout, got.Dispatch, c.Fanout, c.Dispatch)
		}
		frames, deliveries = frames+len(got.Frames), deliveries+len(got.Deliveries)
		compareJSON(t, about, mustJSON(t, c.Frames), mustJSON(t, got.Frames))
		compareJSON(t, about, mustJSON(t, c.Deliveries), mustJSON(t, got.Deliveries))
	}
	images := 0
	for _, one := range items { // whether they are handled later as new or as deleted
		for _, record := range []events.DynamoDBEventRecord{
			{EventName: "INSERT", Change: events.DynamoDBStreamRecord{NewImage: one}},
			{EventName: "REMOVE", Change: events.DynamoDBStreamRecord{OldImage: one}},
		} {
			record.Change.Keys = map[string]events.DynamoDBAttributeValue{"PK": one["PK"], "SK": one["SK"]}
			s.process(t, functions, record)
			images++
		}
	}
	if said := s.said.String(); said != "" {
		t.Errorf("the log: %.2000s", said)
	}
	if len(changes) < minRecords || frames < minFrames || deliveries < minDeliveries || images < minImages {
		t.Errorf("want %d records, %d messages, %d deliveries, %d images", minRecords, minFrames, minDeliveries, minImages)
	}
	t.Logf("%d records: %d messages and %d deliveries; %d images of items", len(changes), frames, deliveries, images)
}

// filters select the records for a function.
type filters []*pattern.Pattern

func (f filters) match(t *testing.T, r events.DynamoDBEventRecord) bool {
	t.Helper()
	value, err := pattern.Decode(mustJSON(t, r))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(f, func(p *pattern.Pattern) bool { return p.Match(value) })
}

// mustFunctions are the filters of the functions that read the stream, by logical
// id.
func mustFunctions(t *testing.T) map[string]filters {
	t.Helper()
	root, err := repo.Root("")
	if err != nil {
		t.Fatal(err)
	}
	template, err := samtemplate.Load(filepath.Join(root, "template.yaml"), samtemplate.Options{
		Parameters: map[string]string{"JwtIssuer": "https://test", "JwtAudience": "test"},
	})
	if err != nil {
		t.Fatal(err)
	}
	functions := map[string]filters{}
	for _, f := range template.Functions {
		for _, stream := range f.Streams {
			for _, text := range stream.Filters {
				p, err := pattern.Compile(text)
				if err != nil {
					t.Fatal(err)
				}
				functions[f.LogicalID] = append(functions[f.LogicalID], p)
			}
		}
	}
	return functions
}

// process passes a record of the stream to the functions whose filters match, and
// returns the results.
func (s *system) process(t *testing.T, functions map[string]filters, r events.DynamoDBEventRecord) (out change) {
	t.Helper()
	out.Fanout = functions["FanoutFunction"].match(t, r)
	out.Dispatch = functions["AutomationsFunction"].match(t, r)
	all := &audience{}
	event := events.DynamoDBEvent{Records: []events.DynamoDBEventRecord{r}}
	for _, f := range []struct {
		wanted bool
		handle batch.ChangesHandler
	}{
		{out.Fanout, batch.Fanout(s.store.WatchMessages, watch.NewFanout(all, all, s.log, s.now), s.log)},
		{out.Dispatch, batch.Dispatch(s.store.Watching.Notifications, &delivery.Dispatcher{Targets: all, Queue: all}, nil, s.log)},
	} {
		if !f.wanted {
			continue
		}
		if answer, err := f.handle(t.Context(), event); err != nil || len(answer.BatchItemFailures) > 0 {
			t.Errorf("%v %v: %.600s", err, answer, mustJSON(t, r))
		}
	}
	out.Frames, out.Deliveries = all.frames, all.deliveries
	return out
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	body, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// audience watches every log, and subscribes to everything.
type audience struct {
	frames     []frame
	deliveries []json.RawMessage
}

func (a *audience) Watchers(_ context.Context, log string) (string, []watch.Subscription, error) {
	return log, []watch.Subscription{{SessionID: log, Connection: "watcher"}}, nil
}

func (a *audience) Clear(context.Context, string, watch.Subscription) error { return nil }

func (a *audience) Leave(context.Context, string, []string) error { return nil }

func (a *audience) Push(_ context.Context, connection string, m []byte) error {
	a.frames = append(a.frames, frame{connection, slices.Clone(m)})
	return nil
}

func (a *audience) Close(context.Context, string) error { return nil }

func (a *audience) Targets(context.Context, notification.Event) ([]delivery.Target, error) {
	return []delivery.Target{{Kind: "any", Name: "any"}}, nil
}

func (a *audience) Put(_ context.Context, d delivery.Delivery) error {
	body, err := json.Marshal(d)
	a.deliveries = append(a.deliveries, body)
	return err
}
