package sessions

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/shared/observe/metrics"
)

// errTaken says that a condition did not hold: somebody else was first.
var errTaken = errors.New("the condition of a write did not hold")

var (
	// errThrottled says that DynamoDB had no capacity for a transaction.
	errThrottled = errors.New("the transaction was throttled")
	// errUndecided says that a transaction was refused whose answer had been lost
	// before: it may have been carried out all the same.
	errUndecided = errors.New("it is unknown whether the transaction was carried out")
)

// ifAbsent is the condition that nothing is stored under the key.
const ifAbsent = "attribute_not_exists(PK)"

// get reads one item, strongly consistent, and says whether it is there.
func (s *Store) get(ctx context.Context, k key, into any) (bool, error) {
	item, err := s.getRaw(ctx, k)
	if err != nil || item == nil {
		return false, err
	}
	if err := attributevalue.UnmarshalMap(item, into); err != nil {
		return false, fmt.Errorf("%w: unmarshal %s %s: %w", ErrUnreadable, k.pk, k.sk, err)
	}
	return true, nil
}

// getRaw reads an item as it is stored; nil for none.
func (s *Store) getRaw(ctx context.Context, k key) (attributes, error) {
	out, err := s.db.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &s.table, Key: k.attributes(), ConsistentRead: ptr(true),
	})
	if err != nil {
		return nil, fmt.Errorf("get %s %s: %w", k.pk, k.sk, err)
	}
	return out.Item, nil
}

// ErrUnreadable says that an item is not of the form that it should have. To read
// it again helps nothing.
var ErrUnreadable = errors.New("an item cannot be read")

// condition is what must hold for a write; names and values fill its
// placeholders.
type condition struct {
	expression string
	names      map[string]string
	values     attributes
}

// put writes a record. Where the condition fails it returns errTaken and, with
// old not nil, what is stored there instead. A write that met itself has landed.
func (s *Store) put(ctx context.Context, record any, c condition, old any) error {
	item, err := attributevalue.MarshalMap(record)
	if err != nil {
		return fmt.Errorf("marshal %T: %w", record, err)
	}
	in := &dynamodb.PutItemInput{TableName: &s.table, Item: item}
	if c.expression != "" {
		in.ConditionExpression = &c.expression
		in.ExpressionAttributeNames = c.names
		in.ExpressionAttributeValues = c.values
		in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	}
	return decided(ctx, func(ctx context.Context) error {
		_, err := s.db.PutItem(ctx, in)
		return err
	}, func(there attributes) bool { return sameItem(there, item) }, old)
}

// update changes an item; where the condition fails it returns errTaken, unless
// it is the change itself that the condition met.
func (s *Store) update(ctx context.Context, k key, expression string, c condition) error {
	in := &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: k.attributes(), UpdateExpression: &expression,
		ExpressionAttributeNames: c.names, ExpressionAttributeValues: c.values,
	}
	if c.expression != "" {
		in.ConditionExpression = &c.expression
		in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	}
	return decided(ctx, func(ctx context.Context) error {
		_, err := s.db.UpdateItem(ctx, in)
		return err
	}, func(there attributes) bool { return holds(expression, c, there) }, nil)
}

// deleteIf deletes an item; where the condition fails it returns errTaken, unless
// the item is gone because this very deletion was sent before.
func (s *Store) deleteIf(ctx context.Context, k key, c condition) error {
	in := &dynamodb.DeleteItemInput{
		TableName: &s.table, Key: k.attributes(), ConditionExpression: &c.expression,
		ExpressionAttributeNames: c.names, ExpressionAttributeValues: c.values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	return decided(ctx, func(ctx context.Context) error {
		_, err := s.db.DeleteItem(ctx, in)
		return err
	}, func(there attributes) bool { return there == nil }, nil)
}

// untilDecided repeats a write that met a transaction on its item, or that was
// throttled as a transaction: nothing was decided yet, and the SDK leaves the
// repeating to us.
func untilDecided(ctx context.Context, write func() error) error {
	for try := 0; ; try++ {
		err := write()
		var conflict *types.TransactionConflictException
		if !errors.As(err, &conflict) && !errors.Is(err, errThrottled) && !errors.Is(err, errUndecided) {
			return err
		}
		if wait := backoff(ctx, try); wait != nil {
			return fmt.Errorf("%w, after: %w", wait, err)
		}
	}
}

func conditionError(err error, old any) error {
	var failed *types.ConditionalCheckFailedException
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &failed):
		return fmt.Errorf("write: %w", err)
	case old != nil:
		if err := attributevalue.UnmarshalMap(failed.Item, old); err != nil {
			return fmt.Errorf("unmarshal %T: %w", old, err)
		}
	}
	return errTaken
}

// transact carries out writes as one. A failed condition, or a conflict with
// another transaction, is errTaken. One token goes with all tries, so that DynamoDB
// knows them again: what was carried out is told as done, though its answer was
// lost and a repeat was refused.
func (s *Store) transact(ctx context.Context, writes ...types.TransactWriteItem) error {
	token, err := s.db.Options().IdempotencyTokenProvider.GetIdempotencyToken()
	if err != nil {
		return fmt.Errorf("make a transaction's token: %w", err)
	}
	in := &dynamodb.TransactWriteItemsInput{TransactItems: writes, ClientRequestToken: &token}
	ctx, sends := counting(ctx)
	return untilDecided(ctx, func() error { return s.tryTransact(ctx, in, sends) })
}

func (s *Store) tryTransact(ctx context.Context, in *dynamodb.TransactWriteItemsInput, sends *atomic.Int64) error {
	_, err := s.db.TransactWriteItems(ctx, in)
	var (
		cancelled *types.TransactionCanceledException
		underWay  *types.TransactionInProgressException
	)
	switch {
	case errors.As(err, &cancelled):
		return whyCancelled(ctx, cancelled, sends.Load() > 1)
	case errors.As(err, &underWay):
		return fmt.Errorf("%w: %w", errUndecided, err)
	case err != nil:
		return fmt.Errorf("transaction: %w", err)
	}
	return nil
}

// whyCancelled says why a transaction was cancelled. A conflict decides nothing
// about one that was sent before.
func whyCancelled(ctx context.Context, of *types.TransactionCanceledException, sentBefore bool) error {
	for _, reason := range of.CancellationReasons {
		switch code := derefOr(reason.Code); code {
		case "", "None":
		case "TransactionConflict":
			if sentBefore {
				return fmt.Errorf("transaction: %w: %w", errUndecided, of)
			}
			return errTaken
		case "ConditionalCheckFailed":
			return errTaken
		case "ThrottlingError", "ProvisionedThroughputExceeded":
			metrics.Count(ctx, metrics.Throttles, 1)
			return fmt.Errorf("transaction: %w: %w", errThrottled, of)
		default:
			return fmt.Errorf("transaction: %s: %w", code, of)
		}
	}
	return fmt.Errorf("transaction: %w", of)
}

// transactPut is a put inside a transaction.
func (s *Store) transactPut(record any, c condition) (types.TransactWriteItem, error) {
	item, err := attributevalue.MarshalMap(record)
	if err != nil {
		return types.TransactWriteItem{}, fmt.Errorf("marshal %T: %w", record, err)
	}
	p := &types.Put{TableName: &s.table, Item: item}
	if c.expression != "" {
		p.ConditionExpression = &c.expression
		p.ExpressionAttributeNames = c.names
		p.ExpressionAttributeValues = c.values
	}
	return types.TransactWriteItem{Put: p}, nil
}

// transactUpdate is an update inside a transaction.
func (s *Store) transactUpdate(k key, expression string, c condition) types.TransactWriteItem {
	u := &types.Update{
		TableName: &s.table, Key: k.attributes(), UpdateExpression: &expression,
		ExpressionAttributeNames: c.names, ExpressionAttributeValues: c.values,
	}
	if c.expression != "" {
		u.ConditionExpression = &c.expression
	}
	return types.TransactWriteItem{Update: u}
}

// putWith is put along with other writes, as one where there are any.
func (s *Store) putWith(ctx context.Context, record any, c condition, along []types.TransactWriteItem) error {
	if len(along) == 0 {
		return s.put(ctx, record, c, nil)
	}
	put, err := s.transactPut(record, c)
	if err != nil {
		return err
	}
	return s.transact(ctx, append(along, put)...)
}

// transactCheck is a condition inside a transaction.
func (s *Store) transactCheck(k key, c condition) types.TransactWriteItem {
	return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName: &s.table, Key: k.attributes(), ConditionExpression: &c.expression,
		ExpressionAttributeNames: c.names, ExpressionAttributeValues: c.values,
	}}
}

// stillUnforked keeps a task's going or coming out of forks that are made
// meanwhile: they show the tasks as they were.
func (s *Store) stillUnforked(h *header) types.TransactWriteItem {
	return s.transactCheck(sessionKey(h.id()), h.unforked())
}

// transactDelete is a deletion inside a transaction.
func (s *Store) transactDelete(k key, c condition) types.TransactWriteItem {
	d := &types.Delete{TableName: &s.table, Key: k.attributes()}
	if c.expression != "" {
		d.ConditionExpression = &c.expression
		d.ExpressionAttributeNames = c.names
		d.ExpressionAttributeValues = c.values
	}
	return types.TransactWriteItem{Delete: d}
}
