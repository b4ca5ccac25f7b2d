package boot

import (
	"context"
	"log/slog"
	"os"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"

	"github.com/rethread/rethread/shared/client/eventbus"
	"github.com/rethread/rethread/shared/domain/delivery"
)

// busVariable is the environment variable with the name of the event bus on which all
// events are published; empty for none.
const busVariable = "EVENT_BUS"

// bus returns the event bus for all events; nil if none is configured.
func (d Deps) bus() delivery.Bus {
	name := os.Getenv(busVariable)
	if name == "" {
		return nil
	}
	return eventbus.New(eventbridge.NewFromConfig(d.AWS), name)
}

// published collects the events of records for a bus.
type published struct {
	events  []delivery.Event
	records []int // of events
}

func (p *published) add(record int, read []delivery.Event) {
	for _, e := range read {
		if e.Type.Public() {
			p.events, p.records = append(p.events, e), append(p.records, record)
		}
	}
}

// publish publishes the events, and stores each failure as the error of its record. An
// event that the bus will always refuse is skipped, so that it does not block others.
func (p *published) publish(
	ctx context.Context, bus delivery.Bus, records []events.DynamoDBEventRecord, errs []error, log *slog.Logger,
) {
	if len(p.events) == 0 {
		return
	}
	for i, err := range bus.Publish(ctx, p.events) {
		record := p.records[i]
		switch {
		case err == nil:
		case !mayPass(err):
			skip(ctx, records[record], err, log)
		case errs[record] == nil:
			errs[record] = err
		}
	}
}
