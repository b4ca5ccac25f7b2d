package invoke

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/domain/watch"
)

// postVariable is the environment variable with the function that posts parts of crowds.
const postVariable = "POST_FUNCTION"

// maxPart is the largest part that is handed over, in bytes: Lambda takes 6 MB.
const maxPart = 5 << 20

var (
	errNoPoster   = errors.New("the environment variable " + postVariable + " names no function")
	errLargePart  = errors.New("the messages are too large to be handed over")
	errPostFailed = errors.New("the function failed")
)

// Post has the function in POST_FUNCTION post parts of crowds. Requests are sent once: the
// fan-out posts itself what is refused.
func Post(d boot.Deps) watch.PostPart {
	return PostedBy(lambda.NewFromConfig(d.AWS, func(o *lambda.Options) { o.RetryMaxAttempts = 1 }), os.Getenv(postVariable))
}

// PostedBy has a function post parts of crowds, and waits for it.
func PostedBy(client *lambda.Client, function string) watch.PostPart {
	return func(ctx context.Context, part watch.Part) (posted watch.Posted, err error) {
		if function == "" {
			return posted, errNoPoster
		}
		event, err := json.Marshal(part)
		if err != nil {
			return posted, fmt.Errorf("encode a part of a crowd: %w", err)
		}
		if len(event) > maxPart {
			return posted, errLargePart
		}
		answer, err := client.Invoke(ctx, &lambda.InvokeInput{FunctionName: &function, Payload: event})
		if err != nil {
			return posted, fmt.Errorf("have %s post a part of a crowd: %w", function, err)
		}
		if answer.FunctionError != nil {
			return posted, fmt.Errorf("have %s post a part of a crowd: %w: %s", function, errPostFailed, answer.Payload)
		}
		if err := json.Unmarshal(answer.Payload, &posted); err != nil {
			return posted, fmt.Errorf("read the answer of %s: %w", function, err)
		}
		return posted, nil
	}
}
