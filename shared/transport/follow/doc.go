// Package follow follows a session's run for a response that streams it. The
// run's items are read from the table, so that any instance can begin or
// continue a stream, and then kept up to date by watching the session. A stream
// takes one of its user's slots while it lasts.
package follow
