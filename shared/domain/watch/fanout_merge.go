package watch

import "github.com/rethread/rethread/shared/domain/run"

const (
	// mergeAbove is how many deltas of one item a batch may hold before those
	// that follow one another are sent as one: that many mean that the fan-out
	// is behind, and fewer messages let it catch up.
	mergeAbove = 16
	// mergeBytes is the most text of deltas sent as one, in bytes as it is
	// escaped in JSON: it fits MaxMessage with ids and names.
	mergeBytes = 96 << 10
)

// merged is the messages of one log, in order, with the deltas joined of items
// that have more than mergeAbove of them. What it is given stays as it is.
func merged(messages []Message) []Message {
	deltas := map[string]int{}
	for _, m := range messages {
		if m.Type == DeltaType {
			deltas[m.ItemID]++
		}
	}
	out := make([]Message, 0, len(messages))
	for start := 0; start < len(messages); {
		end := start + 1
		if m := messages[start]; m.Type == DeltaType && deltas[m.ItemID] > mergeAbove {
			end = endOfStretch(messages, start)
		}
		out = append(out, joined(messages[start:end]))
		start = end
	}
	return out
}

// endOfStretch is where the deltas end that one message can stand for.
func endOfStretch(messages []Message, start int) int {
	size := escaped(*messages[start].Delta)
	end := start + 1
	for ; end < len(messages) && continues(messages[end-1], messages[end]); end++ {
		if size += escaped(*messages[end].Delta); size > mergeBytes {
			break
		}
	}
	return end
}

// continues reports whether b is the delta that comes right after a.
func continues(a, b Message) bool {
	return b.Type == DeltaType && a.ItemID == b.ItemID && a.Cursor == b.Prev &&
		len(run.Coalesce([]run.Delta{*a.Delta, *b.Delta})) == 1
}

// joined is one message for all of a stretch.
func joined(stretch []Message) Message {
	last := stretch[len(stretch)-1]
	if len(stretch) == 1 {
		return last
	}
	deltas := make([]run.Delta, len(stretch))
	for i, m := range stretch {
		deltas[i] = *m.Delta
	}
	last.Prev, last.Delta = stretch[0].Prev, &run.Coalesce(deltas)[0]
	return last
}
