package sessions

import "github.com/rethread/rethread/shared/domain/session"

// span is a part of one log that is read at once: ranges with so few hidden
// positions between them that reading these costs less than another request, which
// is rounded up to 4 KB.
type span struct {
	ranges session.Timeline
	log    string
	from   int64
	to     int64 // 0: the head of the log
}

// bridge is how many hidden positions are read over.
const bridge = 6

func spansOf(ranges session.Timeline) []span {
	var out []span
	for _, r := range ranges {
		if n := len(out) - 1; n >= 0 && out[n].log == r.Log && r.From > out[n].to && r.From-out[n].to <= bridge+1 {
			out[n].ranges, out[n].to = append(out[n].ranges, r), r.To
			continue
		}
		out = append(out, span{ranges: session.Timeline{r}, log: r.Log, from: r.From, to: r.To})
	}
	return out
}

func (sp *span) open() bool { return sp.to == 0 }

// rangeOf returns the range of the span that contains a position.
func (sp *span) rangeOf(position int64) (session.Range, bool) {
	for _, r := range sp.ranges {
		if r.Holds(position) {
			return r, true
		}
	}
	return session.Range{}, false
}

// showsAny reports whether a span shows any position of a range.
func (sp *span) showsAny(from, to int64) bool {
	for _, r := range sp.ranges {
		if r.From <= to && (r.Open() || r.To >= from) {
			return true
		}
	}
	return false
}

// most returns how many entries of a span, from a position on or back from it, the
// rest of the page can need: one more than its events, to find out whether there is
// a next page, and the hidden ones between them.
func (p *page) most(sp *span, from int64, down bool) int {
	wanted := int64(p.limit - len(p.events) + 1)
	n := wanted
	for i := range sp.ranges {
		j := i
		if down {
			j = len(sp.ranges) - 1 - i
		}
		r := sp.ranges[j]
		if r.Open() {
			if down {
				continue
			}
			break
		}
		shown, gap := r.To-max(from, r.From)+1, int64(0)
		if down {
			shown = min(from, r.To) - r.From + 1
		}
		if shown <= 0 {
			continue
		}
		if shown >= wanted {
			break
		}
		wanted -= shown
		switch {
		case down && j > 0:
			gap = r.From - sp.ranges[j-1].To - 1
		case !down && j+1 < len(sp.ranges):
			gap = sp.ranges[j+1].From - r.To - 1
		}
		n += gap
	}
	return int(n)
}
