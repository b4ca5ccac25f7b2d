package dynamo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/rethread/rethread/shared/store/table"
)

// attempts is the retryer of one call. It retries what the client's own retryer
// would, except that a request that must not happen twice is retried only if it
// certainly did not happen. It records whether an attempt may have happened.
type attempts struct {
	aws.Retryer
	once bool // whether the request must not be carried out twice
	lost bool // whether an attempt's outcome is unknown
}

// IsErrorRetryable reports whether to try again.
func (a *attempts) IsErrorRetryable(err error) bool {
	certain := certainlyNotDone(err)
	a.lost = a.lost || !certain && !rejected(err)
	return (certain || !a.once) && a.Retryer.IsErrorRetryable(err)
}

func (a *attempts) use(o *dynamodb.Options) {
	a.Retryer = o.Retryer
	o.Retryer = a
}

// certainlyNotDone reports whether a request was refused for now or never sent.
func certainlyNotDone(err error) bool {
	var dial *net.OpError
	return throttled(err) || errors.As(err, &dial) && dial.Op == "dial"
}

func throttled(err error) bool {
	return retry.IsErrorThrottles(retry.DefaultThrottles).IsErrorThrottle(err).Bool()
}

// Throttled reports whether an AWS service throttled a request, or DynamoDB one of
// a transaction's writes. The SDK does not treat a cancelled transaction as
// throttled.
func Throttled(err error) bool {
	var whole *types.TransactionCanceledException
	if errors.As(err, &whole) {
		return errors.Is(cancelled(whole.CancellationReasons), table.ErrThrottled)
	}
	return err != nil && throttled(err)
}

// Failed reports whether an AWS service failed to carry out a request, by its status.
func Failed(err error) bool { return err != nil && serverError(err) }

// rejected reports whether the table refused a request permanently.
func rejected(err error) bool {
	var api smithy.APIError
	return errors.As(err, &api) && api.ErrorFault() != smithy.FaultServer && !serverError(err)
}

func serverError(err error) bool {
	var status interface{ HTTPStatusCode() int }
	return errors.As(err, &status) && status.HTTPStatusCode() >= 500
}

// classified maps an error to the errors of the contract.
func (a *attempts) classified(ctx context.Context, err error, writes bool) error {
	kind := kindOf(err)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil && !writes:
		return fmt.Errorf("read: %w: %w", context.Cause(ctx), err)
	case a.lost && (errors.Is(kind, table.ErrThrottled) || errors.Is(kind, table.ErrConflict)):
		kind = table.ErrUndecided
	}
	return fmt.Errorf("%w: %w", kind, err)
}

func kindOf(err error) error {
	var (
		conflict *types.TransactionConflictException
		progress *types.TransactionInProgressException
		large    *types.ItemCollectionSizeLimitExceededException
		api      smithy.APIError
		params   smithy.InvalidParamsError
	)
	switch {
	case errors.Is(err, table.ErrInvalid): // it was not sent
		return table.ErrInvalid
	case errors.As(err, &conflict), errors.As(err, &progress):
		return table.ErrConflict
	case errors.As(err, &large):
		return table.ErrTooLarge
	case certainlyNotDone(err):
		return table.ErrThrottled
	case errors.As(err, &params):
		return table.ErrInvalid
	case rejected(err) && errors.As(err, &api):
		return refusal(api)
	}
	return table.ErrUndecided
}

// refusal returns why the table permanently refuses a request.
func refusal(api smithy.APIError) error {
	switch api.ErrorCode() {
	case "ValidationException":
		return invalidity(api.ErrorMessage())
	case "IdempotentParameterMismatchException":
		return table.ErrInvalid
	}
	return table.ErrDenied
}

// invalidity decides by the message whether an invalid request is too large:
// DynamoDB has one code for both.
func invalidity(message string) error {
	message = strings.ToLower(message)
	if strings.Contains(message, "item size") || strings.Contains(message, "payload size") {
		return table.ErrTooLarge
	}
	return table.ErrInvalid
}

// conditionError returns the failure of a single write; nil for any other error.
func conditionError(err error) *table.ConditionError {
	var failed *types.ConditionalCheckFailedException
	if !errors.As(err, &failed) {
		return nil
	}
	return &table.ConditionError{Failures: []table.Failure{{Found: present(failed.Item)}}}
}

// cancelled returns why a transaction was cancelled. Invalid writes take precedence
// over failed conditions, since they would not succeed if the conditions held;
// failed conditions take precedence over conflicts, which may pass.
func cancelled(reasons []types.CancellationReason) error {
	var failed table.ConditionError
	var others error
	for i, reason := range reasons {
		switch code := aws.ToString(reason.Code); code {
		case "", "None":
		case "ConditionalCheckFailed":
			failed.Failures = append(failed.Failures, table.Failure{Write: i, Found: present(reason.Item)})
		case "ValidationError", "ItemCollectionSizeLimitExceeded":
			return fmt.Errorf("%w: write %d: %s", invalidity(code+aws.ToString(reason.Message)), i, aws.ToString(reason.Message))
		case "TransactionConflict":
			others = fmt.Errorf("%w: write %d", table.ErrConflict, i)
		default:
			if others == nil {
				others = fmt.Errorf("%w: write %d: %s", table.ErrThrottled, i, code)
			}
		}
	}
	if failed.Failures != nil {
		return &failed
	}
	if others == nil {
		return fmt.Errorf("%w: a transaction was cancelled without a reason", table.ErrConflict)
	}
	return others
}

// present returns nil for an item without members.
func present(item table.Item) table.Item {
	if len(item) == 0 {
		return nil
	}
	return item
}
