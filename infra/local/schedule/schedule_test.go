package schedule_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/rethread/rethread/infra/local/samtemplate"
	"github.com/rethread/rethread/infra/local/schedule"
)

// recorder sends each invocation to the test.
type recorder chan string

// InvokeAsync implements schedule.Invoker.
func (r recorder) InvokeAsync(function string, payload []byte) { r <- function + " " + string(payload) }

func TestRun(t *testing.T) {
	now := time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)
	waits := make(chan time.Duration)
	ticks := make(chan time.Time)
	invoked := make(recorder)
	start := func(t *testing.T, s samtemplate.Schedule) (stop func()) {
		t.Helper()
		source, err := schedule.New(schedule.Options{
			Functions: []samtemplate.Function{{LogicalID: "Sweeper", Schedules: []samtemplate.Schedule{s}}},
			Invoker:   invoked, Region: "us-east-1", Account: "0",
			After: func(d time.Duration) <-chan time.Time { waits <- d; return ticks },
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- source.Run(ctx) }()
		return func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
	t.Run("runs a function after each interval", func(t *testing.T) {
		stop := start(t, samtemplate.Schedule{Name: "Tick", Expression: "rate(5 minutes)", Enabled: true})
		for range 2 {
			if wait := <-waits; wait != 5*time.Minute {
				t.Errorf("interval %s", wait)
			}
			ticks <- now
			var event struct {
				Type      string `json:"detail-type"`
				Source    string
				Time      time.Time
				Resources []string
			}
			text := <-invoked
			if err := json.Unmarshal([]byte(text[len("Sweeper "):]), &event); err != nil {
				t.Fatal(err)
			}
			if event.Type != "Scheduled Event" || event.Source != "aws.events" || !event.Time.Equal(now) ||
				event.Resources[0] != "arn:aws:events:us-east-1:0:rule/SweeperTick" {
				t.Errorf("event %+v", event)
			}
		}
		<-waits
		stop()
	})
	t.Run("accepts days", func(t *testing.T) {
		stop := start(t, samtemplate.Schedule{Expression: "rate(1 day)", Enabled: true})
		if wait := <-waits; wait != 24*time.Hour {
			t.Errorf("interval %s", wait)
		}
		stop()
	})
	t.Run("does not run a disabled schedule", func(t *testing.T) {
		start(t, samtemplate.Schedule{Expression: "rate(1 hour)"})()
	})
}

func TestNew(t *testing.T) {
	for _, expression := range []string{"", "rate(0 minutes)", "rate(5 weeks)", "cron(0 0 * * ? *)", "5 minutes"} {
		t.Run(expression, func(t *testing.T) {
			_, err := schedule.New(schedule.Options{Functions: []samtemplate.Function{{
				Schedules: []samtemplate.Schedule{{Expression: expression, Enabled: true}},
			}}})
			if !errors.Is(err, schedule.ErrExpression) {
				t.Errorf("got %v, want ErrExpression", err)
			}
		})
	}
}
