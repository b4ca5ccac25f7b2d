package watch

import (
	"github.com/rethread/rethread/shared/domain/content"
)

// mergeBytes is the maximum text of merged deltas in bytes, escaped as JSON: it fits
// MaxMessage together with ids and names.
const mergeBytes = 96 << 10

// mergeAbove returns how many deltas of one item a batch may hold before consecutive
// ones are merged: more mean that the fan-out is behind, and fewer messages let it
// catch up. A crowd is always sent as few as possible.
func mergeAbove(watchers int) int {
	if watchers >= crowd {
		return 1
	}
	return 16
}

// merged returns the messages of one log, in order, with consecutive deltas merged
// for items that have more than above of them. It does not change its argument.
func merged(messages []Message, above int) []Message {
	deltas := map[string]int{}
	for _, m := range messages {
		if m.Type == DeltaType {
			deltas[m.ItemID]++
		}
	}
	out := make([]Message, 0, len(messages))
	for start := 0; start < len(messages); {
		end := start + 1
		if m := messages[start]; m.Type == DeltaType && deltas[m.ItemID] > above {
			end = endOfRange(messages, start)
		}
		out = append(out, joined(messages[start:end]))
		start = end
	}
	return out
}

// endOfRange returns the end of the deltas that one message can replace.
func endOfRange(messages []Message, start int) int {
	size := escaped(*messages[start].Delta)
	end := start + 1
	for ; end < len(messages) && continues(messages[end-1], messages[end]); end++ {
		if size += escaped(*messages[end].Delta); size > mergeBytes {
			break
		}
	}
	return end
}

// continues reports whether b is the delta right after a.
func continues(a, b Message) bool {
	return b.Type == DeltaType && a.ItemID == b.ItemID && a.Cursor == b.Prev &&
		len(content.Coalesce([]content.Delta{*a.Delta, *b.Delta})) == 1
}

// joined returns one message for consecutive deltas.
func joined(stretch []Message) Message {
	last := stretch[len(stretch)-1]
	if len(stretch) == 1 {
		return last
	}
	deltas := make([]content.Delta, len(stretch))
	for i, m := range stretch {
		deltas[i] = *m.Delta
	}
	last.Prev, last.Delta = stretch[0].Prev, &content.Coalesce(deltas)[0]
	return last
}
