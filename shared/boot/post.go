package boot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"github.com/rethread/rethread/shared/boot/batch"
	"github.com/rethread/rethread/shared/domain/watch"
)

// postVariable is the environment variable with the function that posts parts of crowds.
const postVariable = "POST_FUNCTION"

// PostHandler is the Lambda handler for a part of a crowd.
type PostHandler = func(context.Context, watch.Part) (watch.Posted, error)

// StartPost runs the function that sends messages to a part of a crowd until Lambda
// stops it. It posts to their connections at CONNECTIONS_URL.
func StartPost() {
	Start(func(d Deps) (any, error) {
		pusher, err := d.pusher()
		if err != nil {
			return nil, err
		}
		return Post(watch.NewPoster(pusher, d.Log)), nil
	})
}

// Post sends parts, and leaves time to report failures.
func Post(by *watch.Poster) PostHandler {
	return func(ctx context.Context, part watch.Part) (watch.Posted, error) {
		ctx, cancel := batch.TimeToAnswer(ctx)
		defer cancel()
		return by.Post(ctx, part)
	}
}

// maxPart is the largest part that is handed over, in bytes: Lambda takes 6 MB.
const maxPart = 5 << 20

var (
	errNoPoster   = errors.New("the environment variable " + postVariable + " names no function")
	errLargePart  = errors.New("the messages are too large to be handed over")
	errPostFailed = errors.New("the function failed")
)

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
