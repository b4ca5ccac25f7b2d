package watch

import "errors"

// The errors of a Pusher.
var (
	ErrGone      = errors.New("the connection is gone")
	ErrThrottled = errors.New("too many messages at once")
)
