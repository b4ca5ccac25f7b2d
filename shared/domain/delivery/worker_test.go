package delivery_test

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/domain/delivery"
)

// fakeReceiver is a builder, and a poster that answers by URL.
type fakeReceiver struct {
	messages []delivery.Message
	fails    error // from building messages
	sticks   error // from dropping a target

	answers map[string]delivery.Answer
	errs    map[string]error

	posted, dropped []string
}

func (s *fakeReceiver) Messages(context.Context, delivery.Delivery) ([]delivery.Message, error) {
	return s.messages, s.fails
}

func (s *fakeReceiver) Drop(_ context.Context, _ delivery.Target, url string) error {
	s.dropped = append(s.dropped, url)
	return s.sticks
}

func (s *fakeReceiver) Post(_ context.Context, m delivery.Message) (delivery.Answer, error) {
	s.posted = append(s.posted, m.URL)
	return s.answers[m.URL], s.errs[m.URL]
}

type slow struct{ error }

func (slow) Timeout() bool   { return true }
func (slow) Temporary() bool { return true }

const kind = delivery.Kind("test")

func TestDeliver(t *testing.T) {
	t.Parallel()
	now := time.Unix(100_000, 0)
	ok := delivery.Answer{Status: 204}
	to := func(urls ...string) (out []delivery.Message) {
		for _, url := range urls {
			out = append(out, delivery.Message{URL: url})
		}
		return out
	}
	for name, test := range map[string]struct {
		stage  fakeReceiver
		kind   delivery.Kind
		age    time.Duration
		number int
		want   delivery.Result
		posted []string
		drops  int
	}{
		"any 2xx is success": {
			stage: fakeReceiver{messages: to("a"), answers: map[string]delivery.Answer{"a": ok}}, posted: []string{"a"},
		},
		"sends several messages in order": {
			stage:  fakeReceiver{messages: to("a", "b"), answers: map[string]delivery.Answer{"a": ok, "b": ok}},
			posted: []string{"a", "b"},
		},
		"does not send messages after a failed one": {
			stage:  fakeReceiver{messages: to("a", "b"), answers: map[string]delivery.Answer{"a": {Status: 500}}},
			posted: []string{"a"},
			want:   delivery.Result{State: delivery.Later, Wait: 2 * time.Second, Reason: "the target answers 500"},
		},
		"a redirection is no success": {
			stage:  fakeReceiver{messages: to("a"), answers: map[string]delivery.Answer{"a": {Status: 302}}},
			posted: []string{"a"},
			want:   delivery.Result{State: delivery.Later, Wait: 2 * time.Second, Reason: "the target answers 302"},
		},
		"the wait doubles": {
			stage:  fakeReceiver{messages: to("a"), answers: map[string]delivery.Answer{"a": {Status: 500}}},
			number: 4, posted: []string{"a"},
			want: delivery.Result{State: delivery.Later, Wait: 16 * time.Second, Reason: "the target answers 500"},
		},
		"waits as long as a target asks": {
			stage:  fakeReceiver{messages: to("a"), answers: map[string]delivery.Answer{"a": {Status: 429, RetryAfter: time.Minute}}},
			posted: []string{"a"},
			want:   delivery.Result{State: delivery.Later, Wait: time.Minute + 2*time.Second, Reason: "the target answers 429"},
		},
		"limits the wait that a target can ask for": {
			stage:  fakeReceiver{messages: to("a"), answers: map[string]delivery.Answer{"a": {Status: 503, RetryAfter: 1e6 * time.Hour}}},
			posted: []string{"a"},
			want:   delivery.Result{State: delivery.Later, Wait: time.Hour, Reason: "the target answers 503"},
		},
		"retries an unreachable target": {
			stage:  fakeReceiver{messages: to("a"), errs: map[string]error{"a": errors.New("dial tcp secret")}},
			posted: []string{"a"},
			want:   delivery.Result{State: delivery.Later, Wait: 2 * time.Second, Reason: "the target cannot be reached"},
		},
		"retries a target that does not answer": {
			stage:  fakeReceiver{messages: to("a"), errs: map[string]error{"a": slow{errors.New("late")}}},
			posted: []string{"a"},
			want:   delivery.Result{State: delivery.Later, Wait: 2 * time.Second, Reason: "the target does not answer in time"},
		},
		"abandons a delivery after its time": {
			stage:  fakeReceiver{messages: to("a"), answers: map[string]delivery.Answer{"a": {Status: 500}}},
			age:    24*time.Hour - time.Second,
			posted: []string{"a"},
			want:   delivery.Result{State: delivery.Abandoned, Reason: "the target answers 500"},
		},
		"tries a late delivery once": {
			stage: fakeReceiver{messages: to("a"), answers: map[string]delivery.Answer{"a": ok}}, age: 48 * time.Hour, posted: []string{"a"},
		},
		"abandons a delivery to a refused address": {
			stage:  fakeReceiver{messages: to("a"), errs: map[string]error{"a": delivery.ErrRefused}},
			posted: []string{"a"},
			want:   delivery.Result{State: delivery.Abandoned, Reason: delivery.ErrRefused.Error()},
		},
		"410 removes the target": {
			stage:  fakeReceiver{messages: to("a", "b"), answers: map[string]delivery.Answer{"a": {Status: 410}}},
			posted: []string{"a"}, drops: 1, want: delivery.Result{Nothing: true},
		},
		"retries if the target cannot be removed": {
			stage: fakeReceiver{
				messages: to("a"), answers: map[string]delivery.Answer{"a": {Status: 410}}, sticks: errors.New("no table"),
			},
			posted: []string{"a"}, drops: 1,
			want: delivery.Result{
				State: delivery.Later, Wait: 2 * time.Second, Reason: "the target is gone, and cannot be removed",
			},
		},
		"is done if there is nothing to deliver": {stage: fakeReceiver{fails: delivery.ErrNothing}, want: delivery.Result{Nothing: true}},
		"retries if a message cannot be built": {
			stage: fakeReceiver{fails: errors.New("no table")},
			want:  delivery.Result{State: delivery.Later, Wait: 2 * time.Second, Reason: "the message cannot be made"},
		},
		"abandons a delivery of an unknown kind": {
			kind: "other", want: delivery.Result{State: delivery.Abandoned, Reason: "there is no message builder for kind other"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := test.stage
			c := delivery.Worker{
				Builders: map[delivery.Kind]delivery.MessageBuilder{kind: &s}, Poster: &s,
				Retries: delivery.RetryPolicy{First: 2 * time.Second, Max: time.Hour, Within: 24 * time.Hour},
				Now:     func() time.Time { return now }, Jitter: func() float64 { return 1 }, Log: slog.New(slog.DiscardHandler),
			}
			d := delivery.Delivery{Target: delivery.Target{Kind: kind}}
			if test.kind != "" {
				d.Target.Kind = test.kind
			}
			got := c.Deliver(t.Context(), d, delivery.Try{Number: max(1, test.number), Queued: now.Add(-test.age)})
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.posted, s.posted); diff != "" || len(s.dropped) != test.drops {
				t.Errorf("dropped %v, posted (-want +got):\n%s", s.dropped, diff)
			}
		})
	}
}

// The wait is random from none to all of a doubling value, added to what the target
// asks for.
func TestRetryPolicy_jitter(t *testing.T) {
	t.Parallel()
	n := 0
	for _, asked := range []time.Duration{0, 20 * time.Second} {
		for number, ceiling := range map[int]time.Duration{1: time.Second, 4: 8 * time.Second, 30: time.Hour} {
			for _, chance := range []float64{0, 0.25, 0.5, 1} {
				now := time.Unix(0, 0)
				s := &fakeReceiver{
					messages: []delivery.Message{{URL: "a"}}, answers: map[string]delivery.Answer{"a": {Status: 503, RetryAfter: asked}},
				}
				c := delivery.Worker{
					Builders: map[delivery.Kind]delivery.MessageBuilder{kind: s}, Poster: s, Retries: delivery.DefaultRetryPolicy(),
					Now: func() time.Time { return now }, Jitter: func() float64 { return chance }, Log: slog.New(slog.DiscardHandler),
				}
				got := c.Deliver(t.Context(), delivery.Delivery{Target: delivery.Target{Kind: kind}},
					delivery.Try{Number: number, Queued: now})
				want := min(asked+time.Duration(chance*float64(ceiling)), time.Hour)
				if got.State != delivery.Later || got.Wait != want {
					t.Errorf("try %d, asked for %s, chance %v: %+v, want %s", number, asked, chance, got, want)
				}
				n++
			}
		}
	}
	t.Logf("%d waits", n)
	if n < 24 {
		t.Errorf("%d waits were looked at", n)
	}
}

// A target that never answers is tried often, but not for ever.
func TestRetryPolicy(t *testing.T) {
	t.Parallel()
	property.Check(t, func(rt *rapid.T) {
		now := time.Unix(0, 0)
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0)) //nolint:gosec // it spreads waits
		s := &fakeReceiver{messages: []delivery.Message{{}}}
		c := delivery.Worker{
			Builders: map[delivery.Kind]delivery.MessageBuilder{kind: s}, Poster: s, Retries: delivery.DefaultRetryPolicy(),
			Now:    func() time.Time { return now },
			Jitter: random.Float64, Log: slog.New(slog.DiscardHandler),
		}
		tries := 1
		for ; ; tries++ {
			got := c.Deliver(t.Context(), delivery.Delivery{Target: delivery.Target{Kind: kind}},
				delivery.Try{Number: tries, Queued: time.Unix(0, 0)})
			if got.State == delivery.Abandoned {
				break
			}
			if got.State != delivery.Later || got.Wait < 0 || got.Wait > time.Hour {
				rt.Fatalf("try %d: %+v", tries, got)
			}
			now = now.Add(got.Wait)
		}
		if now.Sub(time.Unix(0, 0)) < 20*time.Hour || now.Sub(time.Unix(0, 0)) > 24*time.Hour || tries < 30 || tries > 140 {
			rt.Fatalf("abandoned after %d tries and %s", tries, now.Sub(time.Unix(0, 0)))
		}
	})
}
