// Package watching reads what others are told about a session: threads, what a watcher has
// missed, the messages that a change of the table sends to watchers, and the events that it
// sends to receivers. It writes nothing but the mark that an answer is watched.
package watching
