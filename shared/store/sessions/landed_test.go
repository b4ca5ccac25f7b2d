package sessions_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/rethread/rethread/infra/test/dynamotest"
	"github.com/rethread/rethread/shared/domain/quota"
	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table/dynamo"
)

// lostAnswers is how many writes the scenarios make at least, each of whose answers
// is lost in each way.
const lostAnswers = 140

// refusals are how the repeat may be refused of a transaction that was carried out
// and whose answer was lost; nil is not at all.
func refusals() map[string]error {
	refused := func(code string) error {
		return &types.TransactionCanceledException{CancellationReasons: []types.CancellationReason{{Code: &code}}}
	}
	return map[string]error{
		"lost":                nil,
		"lost, then conflict": refused("TransactionConflict"),
		"lost, then throttle": refused("ThrottlingError"),
	}
}

// loser loses the answer to one write: it is carried out, and the SDK, which hears
// nothing, sends it again.
type loser struct {
	refusal error // of that repeat, nil for none
	mu      sync.Mutex
	on      bool
	lose    int // which of the writes, from 0; -1 is none
	writes  []string
}

// lossKey is under what a request carries how it goes.
type lossKey struct{}

func (l *loser) begin() { l.set(true) }
func (l *loser) end()   { l.set(false) }

func (l *loser) set(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.on = on
}

func (l *loser) takes(params any) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	name := ""
	switch in := params.(type) {
	case *dynamodb.PutItemInput:
		name = "put " + prefixOf(in.Item)
	case *dynamodb.UpdateItemInput:
		name = "update " + prefixOf(in.Key)
	case *dynamodb.DeleteItemInput:
		name = "delete " + prefixOf(in.Key)
	case *dynamodb.TransactWriteItemsInput:
		name = "transaction"
	default:
		return false
	}
	if !l.on {
		return false
	}
	l.writes = append(l.writes, name)
	return len(l.writes)-1 == l.lose
}

// prefixOf is what kind of item a write is of.
func prefixOf(item map[string]types.AttributeValue) string {
	pk, isPK := item["PK"].(*types.AttributeValueMemberS)
	sk, isSK := item["SK"].(*types.AttributeValueMemberS)
	if !isPK || !isSK {
		return "?"
	}
	kind, _, _ := strings.Cut(pk.Value, "#")
	of, _, more := strings.Cut(sk.Value, "#")
	if more {
		of += "#"
	}
	return kind + "# " + of[:min(len(of), 8)]
}

func (l *loser) add(stack *middleware.Stack) error {
	if err := stack.Initialize.Add(middleware.InitializeMiddlewareFunc("ChooseLoss", func(
		ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
	) (middleware.InitializeOutput, middleware.Metadata, error) {
		lost := 0 // sends that do not go as they should
		if l.takes(in.Parameters) {
			lost = 2
		}
		return next.HandleInitialize(middleware.WithStackValue(ctx, lossKey{}, &lost), in)
	}), middleware.After); err != nil {
		return err
	}
	return stack.Finalize.Insert(middleware.FinalizeMiddlewareFunc("LoseOne", func(
		ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler,
	) (middleware.FinalizeOutput, middleware.Metadata, error) {
		lost, ok := middleware.GetStackValue(ctx, lossKey{}).(*int)
		if !ok || *lost == 0 {
			return next.HandleFinalize(ctx, in)
		}
		if *lost--; *lost == 0 && l.refusal != nil {
			return middleware.FinalizeOutput{}, middleware.Metadata{}, l.refusal
		} else if *lost == 0 {
			return next.HandleFinalize(ctx, in)
		}
		out, metadata, err := next.HandleFinalize(ctx, in)
		if err == nil {
			err = &smithyhttp.RequestSendError{Err: errors.New("the answer was lost")}
		}
		return out, metadata, err
	}), "Retry", middleware.After)
}

// play plays a scenario in a table of its own and returns what came of it, with
// the writes that it made.
func play(t *testing.T, sc scenario, lose int, refusal error) (outcome string, writes []string) {
	t.Helper()
	l := &loser{lose: lose, refusal: refusal}
	client := dynamodb.New(dynamotest.Client(t).Options(), func(o *dynamodb.Options) {
		o.APIOptions = append(o.APIOptions, l.add)
		o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) {
			o.RateLimiter = ratelimit.None
			o.Backoff = retry.NewExponentialJitterBackoff(time.Millisecond)
		})
	})
	clock := &calendar{}
	s := sessions.New(dynamo.New(client, dynamotest.Table(t), store.Schema()), sessions.WithClock(clock.now),
		sessions.WithQuotas(quota.Limits{Sessions: 10, Runs: 5, Bytes: 1 << 30}),
		sessions.WithRetention(func(string) int64 { return 3600 }))
	w := &world{t: t, s: s, loser: l, clock: clock}
	sc.play(w)
	l.end()
	return strings.Join(w.outcome, "\n"), l.writes
}

// Whichever write's answer is lost: what is asked for is done once, and the caller
// is told what it would have been told.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	total, kinds := 0, []string{}
	t.Run("of", func(t *testing.T) {
		for _, sc := range scenarios() {
			t.Run(sc.name, func(t *testing.T) {
				t.Parallel()
				want, writes := play(t, sc, -1, nil)
				t.Log(want)
				mu.Lock()
				total, kinds = total+len(writes), append(kinds, writes...)
				mu.Unlock()
				for i, name := range writes {
					for how, refusal := range refusals() {
						if refusal != nil && name != "transaction" {
							continue
						}
						t.Run(fmt.Sprintf("%d %s %s", i, name, how), func(t *testing.T) {
							if got, _ := play(t, sc, i, refusal); got != want {
								t.Errorf("got\n%s\nwant\n%s", got, want)
							}
						})
					}
				}
			})
		}
	})
	slices.Sort(kinds)
	t.Logf("%d writes in %d scenarios: %s", total, len(scenarios()), strings.Join(slices.Compact(kinds), ", "))
	if total < lostAnswers {
		t.Errorf("%d writes, want %d", total, lostAnswers)
	}
}
