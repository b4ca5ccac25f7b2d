// Package history rewinds sessions: it finds the target, plans what is restored, and builds
// the marker, the entry that moves a session's timeline. What must end together with a rewind,
// such as a run, is handed in; package runs offers the operation. Forks, which only read
// history, are of package forks, but the records that keep a source's log are here.
package history
