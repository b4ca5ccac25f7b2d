package boot

import (
	"context"
	"os"

	"github.com/aws/aws-sdk-go-v2/service/eventbridge"

	"github.com/rethread/rethread/shared/base/sleep"
	"github.com/rethread/rethread/shared/client/eventbus"
	"github.com/rethread/rethread/shared/domain/delivery"
)

// busVariable names the environment variable with the name of the event bus that
// hears of everything; empty where there is none.
const busVariable = "EVENT_BUS"

// bus is where everything that happens is published; nil for nowhere.
func (d Deps) bus() delivery.Bus {
	name := os.Getenv(busVariable)
	if name == "" {
		return nil
	}
	return eventbus.New(eventbridge.NewFromConfig(d.AWS), name, sleep.For)
}

// published collects events of records, for a bus.
type published struct {
	events  []delivery.Event
	records []int // of events
}

func (p *published) add(record int, happened []delivery.Event) {
	for _, e := range happened {
		if e.Type.Public() {
			p.events, p.records = append(p.events, e), append(p.records, record)
		}
	}
}

// publish tells the bus, and notes what it does not take as an error of the
// record.
func (p *published) publish(ctx context.Context, bus delivery.Bus, errs []error) {
	if len(p.events) == 0 {
		return
	}
	for i, err := range bus.Publish(ctx, p.events) {
		if record := p.records[i]; err != nil && errs[record] == nil {
			errs[record] = err
		}
	}
}
