package users

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/chaos/ledger"
	"github.com/rethread/rethread/shared/base/retry"
)

// device is a device of a user, which performs one action after another.
type device struct {
	*World
	number int
	person *Person
	random *rand.Rand
}

// maxPause is the longest pause between two actions.
const maxPause = 200 * time.Millisecond

// act is an action with its weight.
type act struct {
	weight int
	do     func(*device, context.Context, *Session)
}

func acts() []act {
	return []act{
		{20, (*device).appendEvents},
		{14, (*device).ask},
		{7, (*device).runOwnAgent},
		{5, (*device).cancel},
		{3, (*device).cancelQueued},
		{5, (*device).rewind},
		{4, (*device).fork},
		{7, (*device).saveTask},
		{4, (*device).putArtifact},
		{3, (*device).feedback},
		{2, (*device).rename},
		{9, (*device).read},
		{3, (*device).share},
		{4, (*device).revoke},
		{5, (*device).appendAsGuest},
		{2, (*device).exportAndImport},
		{2, (*device).delete},
	}
}

func (d *device) run(ctx context.Context) {
	all := acts()
	total := 0
	for _, a := range all {
		total += a.weight
	}
	for ctx.Err() == nil {
		if t := d.person.pick(d.random); t == nil || d.random.IntN(25) == 0 {
			d.create(ctx)
		} else {
			dice := d.random.IntN(total)
			for _, a := range all {
				if dice -= a.weight; dice < 0 {
					a.do(d, ctx, t)
					break
				}
			}
		}
		if retry.Sleep(ctx, time.Duration(d.random.Int64N(int64(maxPause)))) != nil {
			return
		}
	}
}

// chance is true once in n times.
func (d *device) chance(n int) bool { return d.random.IntN(n) == 0 }

// id returns a unique id.
func (d *device) id() string {
	var raw uuid.UUID
	binary.BigEndian.PutUint64(raw[:8], d.random.Uint64())
	binary.BigEndian.PutUint64(raw[8:], d.random.Uint64())
	return raw.String()
}

// perform makes a request and records the result. If the outcome is unknown but a
// key would reveal it, the request is repeated at the end.
func (d *device) perform(ctx context.Context, op ledger.Op, c Call, then func(Answer)) Answer {
	return d.performAs(ctx, d.person, op, c, then)
}

func (d *device) performAs(ctx context.Context, as *Person, op ledger.Op, c Call, then func(Answer)) Answer {
	op.User = as.ID
	noted := d.Ledger.Begin(op)
	a := d.do(ctx, d.random, as, c)
	d.record(noted, a)
	if then != nil && a.Outcome == ledger.Acked {
		then(a)
	}
	if a.Outcome == ledger.Acked && c.Key != "" && d.chance(5) {
		d.mu.Lock()
		d.answered = append(d.answered, repeat{as, op.Session, c, a.Body})
		d.mu.Unlock()
	}
	if a.Outcome == ledger.Unknown && c.Key != "" && !a.isFinal() {
		d.mu.Lock()
		d.undecided = append(d.undecided, &undecided{as, noted, c, then})
		d.mu.Unlock()
	}
	return a
}

// record records an answer.
func (w *World) record(op *ledger.Op, a Answer) {
	w.Ledger.End(op, func(o *ledger.Op) {
		o.Outcome, o.Status, o.Answer = a.Outcome, a.Status, string(a.Body[:min(len(a.Body), 300)])
		o.Tries += a.Tries
	})
}

// content returns a content with a text.
func content(text string) M { return M{"role": "user", "parts": []M{{"text": text}}} }
