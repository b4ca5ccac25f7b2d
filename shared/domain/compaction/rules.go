// Package compaction decides which ranges of a rewound log are compacted: stored once
// more with only the entries that a session shows of them, so that readers skip the
// hidden ones. It does no I/O: the store reads the entries, passes them to a Chooser,
// and stores the ranges that the Chooser has chosen.
package compaction

import "github.com/rethread/rethread/shared/domain/session"

// Rules say when a range of a rewound log is compacted. A compacted range contains what
// never changes and is only a shortcut: a reader that needs more reads the log.
type Rules struct {
	// Bytes is how much of the shown entries one compacted range takes, as they are
	// stored in the log. 0 disables compaction.
	Bytes int
	// Page is how many events a page must have room for to use compacted ranges: what
	// is read beyond the page is wasted.
	Page int
	// Behind is how many positions before a session's latest rewind stay uncompacted:
	// recent positions are likely to be rewound too.
	Behind int64
	// Most is how many ranges one page compacts or rebuilds, 0 for any number: whoever
	// reads a long history first does not pay for all of it.
	Max int
}

// Default returns the rules of a deployment.
func Default() Rules { return Rules{Bytes: 16 << 10, Page: 50, Behind: 16, Max: 4} }

// worth reports whether enough is hidden between what is shown for compaction to help:
// 8 % or more. Both are counted in the same unit.
func worth(hidden, shown int64) bool { return hidden > 0 && 100*hidden >= 8*shown }

// Span is a part of one log that is read at once: the ranges that a session shows of
// it, and the hidden positions between them.
type Span struct {
	Log      string
	Shown    session.Timeline
	From, To int64 // To 0 is the head of the log
}

// worth decides by the number of positions up to last.
func (s Span) worth(last int64) bool {
	shown := int64(0)
	for _, r := range s.Shown {
		end := last
		if !r.Open() {
			end = min(last, r.To)
		}
		shown += max(0, end-r.From+1)
	}
	return worth(last-s.From+1-shown, shown)
}

// Wanted returns how many more compacted ranges a page with room for some more events
// needs, judging by the entries of those that it has read; 0 if it needs less than half
// of one.
func Wanted(room, ranges, entries int) int {
	const first = 2
	if entries == 0 {
		return first
	}
	return (room*ranges + entries/2) / entries
}

// Covers reports whether the entries of a compacted range that ends at a position are
// all that a session shows of it, from another position on.
func Covers[T any](entries []Entry[T], shown session.Timeline, from, to int64) bool {
	next := 0
	for _, r := range shown {
		end := to
		if !r.Open() {
			end = min(end, r.To)
		}
		for at := max(from, r.From); at <= end; {
			for next < len(entries) && entries[next].Last < at {
				next++
			}
			if next == len(entries) || entries[next].First > at {
				return false
			}
			at = entries[next].Last + 1
		}
	}
	return true
}
