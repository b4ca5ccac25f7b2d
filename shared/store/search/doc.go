// Package search searches the messages of sessions, and stores the sets of words of their
// ranges, so that a search reads few entries (docs/search.md).
package search
