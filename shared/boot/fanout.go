package boot

import (
	"fmt"
	"os"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"github.com/rethread/rethread/shared/boot/batch"
	"github.com/rethread/rethread/shared/domain/watch"
)

// StartFanout runs the function that sends changes to watchers until Lambda stops it.
// It posts to their connections at CONNECTIONS_URL.
func StartFanout() {
	Start(func(d Deps) (any, error) {
		pusher, err := d.pusher()
		if err != nil {
			return nil, err
		}
		posts, err := postRate(os.Getenv("POST_RATE"))
		if err != nil {
			return nil, err
		}
		return batch.Fanout(d.Store.WatchMessages, watch.NewFanout(d.Store.Subscriptions, pusher, d.Log, d.Now).Paced(posts).
			Spread(PostedBy(lambda.NewFromConfig(d.AWS, once), os.Getenv(postVariable))), d.Log), nil
	})
}

// once has a request sent once: the fan-out posts itself what is refused.
func once(o *lambda.Options) { o.RetryMaxAttempts = 1 }

// postRate reads how many messages a second crowds are sent.
func postRate(text string) (int, error) {
	if text == "" {
		return watch.DefaultPostRate, nil
	}
	posts, err := strconv.Atoi(text)
	if err != nil || posts < 1 {
		return 0, fmt.Errorf("the environment variable POST_RATE must be a number from 1 on, not %q", text)
	}
	return posts, nil
}
