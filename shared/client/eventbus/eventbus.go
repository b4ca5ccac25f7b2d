// Package eventbus publishes events on an event bus of Amazon EventBridge. It is apart from
// package queue, so that only the function dispatch links the client of EventBridge.
package eventbus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/retry"
	"github.com/rethread/rethread/shared/domain/notification"
)

const (
	// Source is the source of all events. Rules match it, and the detail type, which
	// is the event's type.
	Source = "rethread"
	// mostEntries is the maximum number of entries of a PutEvents request. Ten events
	// are some 10 KB, far below the maximum size of a request.
	mostEntries = 10
	// tries is how often an entry is sent in one call of Publish. The wait before the
	// second attempt averages half of firstWait, and then doubles. The AWS client
	// retries whole requests, but not single entries.
	tries     = 3
	firstWait = 200 * time.Millisecond
)

// errRefused says that the bus refused some of the entries of a request.
var errRefused = errors.New("entries were refused")

var _ notification.Bus = (*Bus)(nil)

// Bus publishes events on an event bus of Amazon EventBridge, as CloudEvents: the detail of
// an entry is the body that webhooks get.
type Bus struct {
	client *eventbridge.Client
	name   string
}

// New returns the bus with the given name or ARN.
func New(cfg aws.Config, name string) *Bus {
	return &Bus{client: eventbridge.NewFromConfig(cfg), name: name}
}

// Publish implements notification.Bus. EventBridge does not order events, so an event
// that fails does not hold back later ones. An error that is neither a fault.Busy nor
// the AWS client's says that the bus will always refuse the event.
func (b *Bus) Publish(ctx context.Context, events []notification.Event) []error {
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

// pendingEntry is an entry and the index of its event.
type pendingEntry struct {
	at    int
	entry types.PutEventsRequestEntry
}

func (b *Bus) entry(e notification.Event) (types.PutEventsRequestEntry, error) {
	detail, err := notification.EncodeCloudEvent(e)
	if err != nil {
		return types.PutEventsRequestEntry{}, err
	}
	return types.PutEventsRequestEntry{
		EventBusName: &b.name, Source: aws.String(Source), DetailType: aws.String(string(e.Type)),
		Detail: aws.String(string(detail)), Time: aws.Time(time.UnixMilli(e.Time).UTC()),
	}, nil
}

// put sends entries, and sends the refused ones again.
func (b *Bus) put(ctx context.Context, pending []pendingEntry, errs []error) {
	policy := retry.Policy{First: firstWait, Max: 2 * firstWait, Tries: tries}
	refused := func(err error) bool { return errors.Is(err, errRefused) }
	_ = retry.Do(ctx, policy, refused, func() error { // errs has the errors of the entries
		if pending = b.try(ctx, pending, errs); len(pending) > 0 {
			return errRefused
		}
		return nil
	})
}

// try sends entries once, records their errors, and returns the refused entries.
func (b *Bus) try(ctx context.Context, pending []pendingEntry, errs []error) (again []pendingEntry) {
	in := &eventbridge.PutEventsInput{}
	for _, p := range pending {
		in.Entries = append(in.Entries, p.entry)
	}
	out, err := b.client.PutEvents(ctx, in)
	if err == nil && len(out.Entries) != len(pending) {
		err = fmt.Errorf("%w: the answer has %d entries, not %d", fault.Of(fault.Busy), len(out.Entries), len(pending))
	}
	for i, p := range pending {
		switch {
		case err != nil:
			errs[p.at] = fmt.Errorf("put events on bus %s: %w", b.name, err)
		case out.Entries[i].ErrorCode != nil:
			errs[p.at] = b.refusal(out.Entries[i])
			if errors.Is(errs[p.at], fault.Of(fault.Busy)) {
				again = append(again, p)
			}
		default:
			errs[p.at] = nil
		}
	}
	return again
}

// refusal is a fault.Busy, unless the bus will always refuse the entry.
func (b *Bus) refusal(of types.PutEventsResultEntry) error {
	code := aws.ToString(of.ErrorCode)
	err := fmt.Errorf("put an event on bus %s: %s: %s", b.name, code, aws.ToString(of.ErrorMessage))
	if code == "InvalidArgument" || code == "MalformedDetail" {
		return err
	}
	return fmt.Errorf("%w: %w", fault.Of(fault.Busy), err)
}
