package watch

import "errors"

// What a Pusher answers.
var (
	ErrGone      = errors.New("the connection is gone")
	ErrThrottled = errors.New("too many messages at once")
)
