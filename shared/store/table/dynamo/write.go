package dynamo

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/value"
)

const (
	total  = types.ReturnConsumedCapacityTotal
	allOld = types.ReturnValuesOnConditionCheckFailureAllOld
)

// Write carries out one write. It is retried only if it certainly did not happen.
func (e *Engine) Write(ctx context.Context, w table.Write) (table.Units, error) {
	if err := firstError(ctx, e.schema.ValidateWrite(w)); err != nil {
		return table.Units{}, err
	}
	if w.Kind == table.CheckKind {
		return table.Units{}, fmt.Errorf("%w: a check stands in a transaction", table.ErrInvalid)
	}
	a := attempts{once: true}
	used, err := e.send(ctx, w, a.use)
	if err == nil {
		return table.Units{Write: reported(used)}, nil
	}
	if failed := conditionError(err); failed != nil {
		return table.Units{Write: table.RefusedUnits(w, failed.Failures[0].Found)}, failed
	}
	return table.Units{}, a.classified(ctx, err, true)
}

func (e *Engine) send(ctx context.Context, w table.Write, use func(*dynamodb.Options)) (*types.ConsumedCapacity, error) {
	var x expressions
	condition := x.condition(w.If)
	changes := x.changes(w.Changes)
	if x.err != nil {
		return nil, x.err
	}
	switch w.Kind {
	case table.PutKind:
		out, err := e.client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: &e.name, Item: w.Item, ConditionExpression: condition,
			ExpressionAttributeNames: x.names, ExpressionAttributeValues: x.values,
			ReturnConsumedCapacity: total, ReturnValuesOnConditionCheckFailure: allOld,
		}, use)
		if err != nil {
			return nil, err
		}
		return out.ConsumedCapacity, nil
	case table.UpdateKind:
		out, err := e.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &e.name, Key: keyItem(w.Key), UpdateExpression: changes, ConditionExpression: condition,
			ExpressionAttributeNames: x.names, ExpressionAttributeValues: x.values,
			ReturnConsumedCapacity: total, ReturnValuesOnConditionCheckFailure: allOld,
		}, use)
		if err != nil {
			return nil, err
		}
		return out.ConsumedCapacity, nil
	case table.CheckKind: // Write has refused it
	case table.DeleteKind:
		out, err := e.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
			TableName: &e.name, Key: keyItem(w.Key), ConditionExpression: condition,
			ExpressionAttributeNames: x.names, ExpressionAttributeValues: x.values,
			ReturnConsumedCapacity: total, ReturnValuesOnConditionCheckFailure: allOld,
		}, use)
		if err != nil {
			return nil, err
		}
		return out.ConsumedCapacity, nil
	}
	return nil, fmt.Errorf("%w: a write of kind %d", table.ErrInvalid, w.Kind)
}

// Transact carries out writes, all or none. The SDK may retry it, since it carries
// a token.
func (e *Engine) Transact(ctx context.Context, t table.Transaction) (table.Units, error) {
	if err := firstError(ctx, e.schema.ValidateTransaction(t)); err != nil {
		return table.Units{}, err
	}
	in := &dynamodb.TransactWriteItemsInput{ReturnConsumedCapacity: total}
	if t.Token != "" {
		in.ClientRequestToken = &t.Token
	}
	for _, w := range t.Writes {
		item, err := e.transactItem(w)
		if err != nil {
			return table.Units{}, err
		}
		in.TransactItems = append(in.TransactItems, item)
	}
	var a attempts
	out, err := e.client.TransactWriteItems(ctx, in, a.use)
	if err == nil {
		return transactionUnits(t.Writes, out.ConsumedCapacity), nil
	}
	var whole *types.TransactionCanceledException
	if !errors.As(err, &whole) {
		return table.Units{}, a.classified(ctx, err, true)
	}
	return e.cancelled(t.Writes, cancelled(whole.CancellationReasons), a.lost)
}

func (e *Engine) cancelled(writes []table.Write, why error, lost bool) (table.Units, error) {
	var failed *table.ConditionError
	if errors.As(why, &failed) {
		return table.Units{Write: table.RefusedTransactionUnits(writes, failed.Failures)}, why
	}
	if lost && !errors.Is(why, table.ErrInvalid) && !errors.Is(why, table.ErrTooLarge) {
		return table.Units{}, fmt.Errorf("%w: %s", table.ErrUndecided, why.Error())
	}
	return table.Units{}, why
}

func (e *Engine) transactItem(w table.Write) (types.TransactWriteItem, error) {
	var x expressions
	condition := x.condition(w.If)
	changes := x.changes(w.Changes)
	var item types.TransactWriteItem
	switch w.Kind {
	case table.PutKind:
		item.Put = &types.Put{
			TableName: &e.name, Item: w.Item, ConditionExpression: condition,
			ExpressionAttributeNames: x.names, ExpressionAttributeValues: x.values, ReturnValuesOnConditionCheckFailure: allOld,
		}
	case table.UpdateKind:
		item.Update = &types.Update{
			TableName: &e.name, Key: keyItem(w.Key), UpdateExpression: changes, ConditionExpression: condition,
			ExpressionAttributeNames: x.names, ExpressionAttributeValues: x.values, ReturnValuesOnConditionCheckFailure: allOld,
		}
	case table.DeleteKind:
		item.Delete = &types.Delete{
			TableName: &e.name, Key: keyItem(w.Key), ConditionExpression: condition,
			ExpressionAttributeNames: x.names, ExpressionAttributeValues: x.values, ReturnValuesOnConditionCheckFailure: allOld,
		}
	case table.CheckKind:
		item.ConditionCheck = &types.ConditionCheck{
			TableName: &e.name, Key: keyItem(w.Key), ConditionExpression: condition,
			ExpressionAttributeNames: x.names, ExpressionAttributeValues: x.values, ReturnValuesOnConditionCheckFailure: allOld,
		}
	}
	return item, x.err
}

// transactionUnits returns the reported units, or those that the request must cost
// where DynamoDB Local leaves some out. A repeat under a token is reported as
// reads.
func transactionUnits(writes []table.Write, all []types.ConsumedCapacity) table.Units {
	var units table.Units
	for _, c := range all {
		units.Read += aws.ToFloat64(c.ReadCapacityUnits)
		units.Write += aws.ToFloat64(c.CapacityUnits)
	}
	if units.Read > 0 {
		return table.Units{Read: units.Read}
	}
	least := 0.0
	for _, w := range writes {
		least += table.TransactionFactor * table.WriteUnits(value.Size(w.Item))
	}
	units.Write = max(units.Write, least)
	return units
}
