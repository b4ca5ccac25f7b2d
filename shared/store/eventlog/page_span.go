package eventlog

import (
	"github.com/rethread/rethread/shared/domain/session"
)

// Span is a part of one log that is read at once: ranges with so few hidden
// positions between them that reading these costs less than another request, which
// is rounded up to 4 KB.
type Span struct {
	Ranges session.Timeline
	Log    string
	From   int64
	To     int64 // 0: the head of the log
}

// bridge is how many hidden positions are read over.
const bridge = 6

// SpansOf returns the spans of a timeline, in its order.
func SpansOf(ranges session.Timeline) []Span {
	var out []Span
	for _, r := range ranges {
		if n := len(out) - 1; n >= 0 && out[n].Log == r.Log && r.From > out[n].To && r.From-out[n].To <= bridge+1 {
			out[n].Ranges, out[n].To = append(out[n].Ranges, r), r.To
			continue
		}
		out = append(out, Span{Ranges: session.Timeline{r}, Log: r.Log, From: r.From, To: r.To})
	}
	return out
}

func (sp *Span) open() bool { return sp.To == 0 }

// rangeOf returns the range of the span that contains a position.
func (sp *Span) rangeOf(position int64) (session.Range, bool) {
	for _, r := range sp.Ranges {
		if r.Holds(position) {
			return r, true
		}
	}
	return session.Range{}, false
}

// showsAny reports whether a span shows any position of a range.
func (sp *Span) showsAny(from, to int64) bool {
	for _, r := range sp.Ranges {
		if r.From <= to && (r.Open() || r.To >= from) {
			return true
		}
	}
	return false
}

// most returns how many entries of a span, from a position on or back from it, the
// rest of the page can need: one more than its events, to find out whether there is
// a next page, and the hidden ones between them.
func (p *Page) most(sp *Span, from int64, down bool) int {
	wanted := int64(p.Limit - len(p.Events) + 1)
	n := wanted
	for i := range sp.Ranges {
		j := i
		if down {
			j = len(sp.Ranges) - 1 - i
		}
		r := sp.Ranges[j]
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
			gap = r.From - sp.Ranges[j-1].To - 1
		case !down && j+1 < len(sp.Ranges):
			gap = sp.Ranges[j+1].From - r.To - 1
		}
		n += gap
	}
	return int(n)
}
