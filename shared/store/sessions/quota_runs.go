package sessions

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/quota"
)

const (
	// slotGrace is how long a slot holds whose run is not there: it may just be
	// starting, which takes contentionTime and a try more at most.
	slotGrace = time.Minute
	// slotRetry is when a user who has too many runs may ask again.
	slotRetry = 5 * time.Second
	// slotsAtOnce bounds how many slots one write gives back.
	slotsAtOnce = 50
)

// liveRun names a run at work to a user who has too many.
type liveRun struct {
	SessionID string `json:"session_id"`
	RunID     string `json:"run_id"`
}

func slotOf(log, run string) string { return log + "/" + run }

// takeSlot takes one of the user's slots for a run that is to start: fault.Busy
// where all are taken by runs at work. A slot whose run ended without giving it
// back is found then, and free again. A run that takes the place of another one
// always has a slot: afterwards there are as many as before.
func (s *Store) takeSlot(ctx context.Context, h *header, runID string, instead bool) error {
	if s.quotas.Runs == 0 {
		return nil
	}
	most := s.quotas.Runs
	if instead {
		most = math.MaxInt32
	}
	for try := 0; ; try++ {
		was, err := s.claimSlot(ctx, h.User, slotOf(h.Log, runID), most)
		if !errors.Is(err, errTaken) {
			return err
		}
		if was.Runs == nil {
			err = s.update(ctx, quotaKey(h.User), "SET #r = :none", condition{
				expression: "attribute_not_exists(#r)", names: map[string]string{"#r": "r"},
				values: attributes{":none": &types.AttributeValueMemberM{Value: attributes{}}},
			})
		} else {
			err = s.healSlots(ctx, h.User, was.Runs)
		}
		if err != nil && !errors.Is(err, errTaken) {
			return err
		}
		if err := backoff(ctx, try); err != nil {
			return err
		}
	}
}

// claimSlot takes a slot if fewer than most are taken, or this one is already;
// errTaken where not, with what there is.
func (s *Store) claimSlot(ctx context.Context, user, slot string, most int64) (was quotaItem, err error) {
	in := &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: quotaKey(user).attributes(),
		UpdateExpression:          ptr("SET #r.#slot = :now"),
		ConditionExpression:       ptr("size(#r) < :max OR attribute_exists(#r.#slot)"),
		ExpressionAttributeNames:  map[string]string{"#r": "r", "#slot": slot},
		ExpressionAttributeValues: attributes{":now": num(s.millis()), ":max": num(most)},

		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	err = untilDecided(ctx, func() error {
		_, err := s.db.UpdateItem(ctx, in)
		return conditionError(err, &was)
	})
	return was, err
}

// healSlots gives back the slots whose runs are over. Where there is none it is
// fault.Busy, with the runs at work.
func (s *Store) healSlots(ctx context.Context, user string, slots map[string]int64) error {
	live, over, err := s.liveRuns(ctx, slots)
	if err != nil {
		return err
	}
	if len(over) == 0 {
		return quota.Exceeded(quota.Runs, s.quotas.Runs, int64(len(slots)), slotRetry).With("running", live)
	}
	return s.freeSlots(ctx, user, over[:min(len(over), slotsAtOnce)], slots)
}

// freeSlots gives slots back that were taken at the given times; errTaken where
// one was given back, or taken again, meanwhile.
func (s *Store) freeSlots(ctx context.Context, user string, slots []string, taken map[string]int64) error {
	c := condition{names: map[string]string{"#r": "r"}, values: attributes{}}
	var paths, unchanged []string
	for i, slot := range slots {
		name, value := fmt.Sprintf("#s%d", i), fmt.Sprintf(":t%d", i)
		c.names[name], c.values[value] = slot, num(taken[slot])
		paths = append(paths, "#r."+name)
		unchanged = append(unchanged, "#r."+name+" = "+value)
	}
	c.expression = strings.Join(unchanged, " AND ")
	return s.update(ctx, quotaKey(user), "REMOVE "+strings.Join(paths, ", "), c)
}

// liveRuns looks at the run of each slot: those at work, and the slots of those
// that are over. What is neither may be starting.
func (s *Store) liveRuns(ctx context.Context, slots map[string]int64) (live []liveRun, over []string, err error) {
	var keys []key
	for slot := range slots {
		log, _, _ := strings.Cut(slot, "/")
		keys = append(keys, runKey(log))
	}
	items, err := s.readBatch(ctx, keys, true)
	if err != nil {
		return nil, nil, fmt.Errorf("look at the runs at work: %w", err)
	}
	now, alive := s.millis(), map[string]bool{}
	for _, item := range items {
		var a activeRun
		if err := attributevalue.UnmarshalMap(item, &a); err != nil {
			s.log.ErrorContext(ctx, "a run that cannot be read holds no slot", "log", stringOf(item[attrPK]), "error", err)
			continue // nobody can be at work on it
		}
		slot := slotOf(strings.TrimPrefix(a.PK, prefixLog), a.ID)
		if _, ok := slots[slot]; ok && a.Lease > now {
			alive[slot] = true
			live = append(live, liveRun{SessionID: a.Session, RunID: a.ID})
		}
	}
	for slot, taken := range slots {
		if !alive[slot] && taken < now-slotGrace.Milliseconds() {
			over = append(over, slot)
		}
	}
	return live, over, nil
}

// giveSlot gives the slot of a run back that has ended. Where that fails, the
// slot is found when the user needs one.
func (s *Store) giveSlot(ctx context.Context, user, log, runID string) {
	err := s.update(ctx, quotaKey(user), "REMOVE #r.#slot", condition{
		expression: "attribute_exists(#r.#slot)",
		names:      map[string]string{"#r": "r", "#slot": slotOf(log, runID)},
	})
	if err != nil && !errors.Is(err, errTaken) {
		s.log.WarnContext(ctx, "the slot of a run is taken until it is needed", "run_id", runID, "error", err)
	}
}

// unstarted gives the slot of a run back that was not started, for a reason that
// the caller is told, or because another was first: the caller looks again, and
// may find that it is not to start at all. Of what ended otherwise nobody knows
// whether it started.
func (s *Store) unstarted(ctx context.Context, h *header, runID string, err error) {
	var known *fault.Error
	if s.quotas.Runs == 0 || !errors.As(err, &known) && !errors.Is(err, errTaken) {
		return
	}
	var a activeRun
	if found, err := s.get(ctx, runKey(h.Log), &a); err == nil && (!found || a.ID != runID) {
		s.giveSlot(ctx, h.User, h.Log, runID)
	}
}
