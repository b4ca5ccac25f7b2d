// Package runs stores runs: their starts, the queue of starts that wait, claims by workers,
// continuations, leases, items in progress, and ends. A run is active while its session's
// header names it, and the entries that begin and end it are its history. A start or a rewind
// that replaces another run does all of it in one transaction. Store is what callers
// use; it stands on a settler, which ends runs, and that on a reader, which writes nothing.
package runs
