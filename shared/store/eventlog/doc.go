// Package eventlog stores logs: entries at dense positions, put by conditional writes and
// never changed, except that an item in progress is completed.
//
// A log is named by a Log and knows no session, run or quota: it asks its Owner for what
// it needs of them. append.go tells an append from Store.Append down: it finds the head,
// recognises events that are stored already (batch.go, redelivered.go), and competes for the
// next position (race.go after a loss); Along says what comes with the entry. Streamed
// items are entries whose content grows in segments until they are completed. Here are also
// the state of sessions as of an entry, the bounds by which ids and invocations are found,
// compacted ranges, and tombstones.
//
// What a session shows of which logs does not belong here, but into package sessions.
package eventlog
