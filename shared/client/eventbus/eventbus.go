// Package eventbus publishes what happens on an event bus of Amazon EventBridge,
// as CloudEvents: the detail of an entry is what a webhook is sent.
package eventbus

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"github.com/rethread/rethread/shared/domain/cloudevent"
	"github.com/rethread/rethread/shared/domain/delivery"
)

const (
	// Source is what rules find the events by, beside the detail type, which is
	// the event's.
	Source = "rethread"
	// mostEntries is how many PutEvents takes. That many of ours are some 10 KB,
	// far below the size that it takes.
	mostEntries = 10
	// tries is how often an entry is sent in one call of Publish, and firstWait
	// how long before the second of them. The client repeats whole requests by
	// itself; single entries are ours to repeat.
	tries     = 3
	firstWait = 100 * time.Millisecond
)

var _ delivery.Bus = (*Bus)(nil)

// Bus is an event bus.
type Bus struct {
	client *eventbridge.Client
	name   string
	wait   func(context.Context, time.Duration) error
}

// New is the bus of a name or ARN. Wait waits, unless the context ends first,
// which is its error.
func New(client *eventbridge.Client, name string, wait func(context.Context, time.Duration) error) *Bus {
	return &Bus{client: client, name: name, wait: wait}
}

// Publish implements delivery.Bus. EventBridge keeps no order between events, so
// those behind one that fails are not held back.
func (b *Bus) Publish(ctx context.Context, events []delivery.Event) []error {
	errs := make([]error, len(events))
	var pending []pendingEntry
	for i, e := range events {
		entry, err := b.entry(e)
		if err != nil {
			errs[i] = err
			continue
		}
		pending = append(pending, pendingEntry{i, entry})
	}
	for some := range slices.Chunk(pending, mostEntries) {
		b.put(ctx, some, errs)
	}
	return errs
}

// pendingEntry is an entry and the place of its event.
type pendingEntry struct {
	at    int
	entry types.PutEventsRequestEntry
}

func (b *Bus) entry(e delivery.Event) (types.PutEventsRequestEntry, error) {
	detail, err := cloudevent.Encode(e)
	if err != nil {
		return types.PutEventsRequestEntry{}, err
	}
	return types.PutEventsRequestEntry{
		EventBusName: &b.name, Source: aws.String(Source), DetailType: aws.String(string(e.Type)),
		Detail: aws.String(string(detail)), Time: aws.Time(time.UnixMilli(e.Time).UTC()),
	}, nil
}

// put sends entries, and those again that failed.
func (b *Bus) put(ctx context.Context, pending []pendingEntry, errs []error) {
	for try, wait := 1, firstWait; ; try, wait = try+1, 2*wait {
		pending = b.try(ctx, pending, errs)
		if len(pending) == 0 || try == tries || b.wait(ctx, wait) != nil {
			return
		}
	}
}

// try sends entries once, notes what went wrong, and returns those to repeat.
func (b *Bus) try(ctx context.Context, pending []pendingEntry, errs []error) (again []pendingEntry) {
	in := &eventbridge.PutEventsInput{}
	for _, p := range pending {
		in.Entries = append(in.Entries, p.entry)
	}
	out, err := b.client.PutEvents(ctx, in)
	if err == nil && len(out.Entries) != len(pending) {
		err = fmt.Errorf("the answer has %d entries, not %d", len(out.Entries), len(pending))
	}
	for i, p := range pending {
		switch {
		case err != nil:
			errs[p.at] = fmt.Errorf("put events on bus %s: %w", b.name, err)
		case out.Entries[i].ErrorCode != nil:
			errs[p.at] = fmt.Errorf("put an event on bus %s: %s: %s",
				b.name, *out.Entries[i].ErrorCode, aws.ToString(out.Entries[i].ErrorMessage))
			again = append(again, p)
		default:
			errs[p.at] = nil
		}
	}
	return again
}
