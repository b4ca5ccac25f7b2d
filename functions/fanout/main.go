// Command fanout reads the table's changes and sends them to the sessions'
// watchers.
package main

import (
	"fmt"
	"os"
	"strconv"

	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/boot/batch"
	"github.com/rethread/rethread/shared/boot/invoke"
	"github.com/rethread/rethread/shared/domain/watch"
)

func main() { boot.Start(wire) }

// wire reads the environment: messages go to the connections at CONNECTIONS_URL, POST_RATE is
// how many a second crowds are sent.
func wire(d boot.Deps) (any, error) {
	pusher, err := d.Pusher()
	if err != nil {
		return nil, err
	}
	posts, err := postRate(os.Getenv("POST_RATE"))
	if err != nil {
		return nil, err
	}
	fanout := watch.NewFanout(d.Store.Subscriptions, pusher, d.Log, d.Now).Paced(posts).Spread(invoke.Post(d))
	return batch.Fanout(d.Store.WatchMessages, fanout, d.Log), nil
}

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
