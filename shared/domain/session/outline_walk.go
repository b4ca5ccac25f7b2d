package session

import "slices"

// Walk visits the ranges of an outline in order, or from the last to the first, and reads
// older ones as they are needed.
type Walk struct {
	rest          Outline
	read          Markers
	down          bool
	after, before int64 // 0 for the end
}

// Walk returns a walk over the ranges with seqs greater than after and less than before,
// which is 0 for no bound. With down it begins at the end.
func (o Outline) Walk(after, before int64, down bool, read Markers) *Walk {
	w := &Walk{rest: slices.Clone(o), read: read, down: down, after: after, before: before}
	for before > 0 && len(w.rest) > 0 && w.rest[len(w.rest)-1].Seq >= before {
		w.rest = w.rest[:len(w.rest)-1]
	}
	w.cut()
	return w
}

// cut drops parts that end before the walk begins.
func (w *Walk) cut() {
	for len(w.rest) > 1 && w.rest[1].Seq <= w.after+1 {
		w.rest = w.rest[1:]
	}
}

// Next returns the next ranges, in the timeline's order: those of about as many positions
// as are wanted, or more if they need not be read; nil at the end.
func (w *Walk) Next(wanted int) (Timeline, error) {
	for len(w.rest) > 0 {
		n, err := w.unfold(int64(wanted))
		if err != nil {
			return nil, err
		}
		var next Outline
		if w.down {
			next, w.rest = w.rest[len(w.rest)-n:], w.rest[:len(w.rest)-n]
		} else {
			next, w.rest = w.rest[:n], w.rest[n:]
		}
		out := next.ranges().After(w.after)
		if w.before > 0 {
			out = out.Before(w.before)
		}
		if len(out) > 0 {
			return out, nil
		}
	}
	return nil, nil
}

// unfold makes the parts that come next ranges, and returns how many those are.
func (w *Walk) unfold(wanted int64) (int, error) {
	for {
		at := 0
		if w.down {
			at = len(w.rest) - 1
		}
		if w.rest[at].Level == 0 {
			return w.itself(), nil
		}
		from, to := w.enough(wanted)
		parts, err := unfolded(w.rest[from:to], w.read)
		if err != nil {
			return 0, err
		}
		w.rest = slices.Concat(w.rest[:from], slices.Concat(parts...), w.rest[to:])
		for w.before > 0 && w.rest[len(w.rest)-1].Seq >= w.before {
			w.rest = w.rest[:len(w.rest)-1]
		}
		w.cut()
	}
}

// itself returns how many ranges come next.
func (w *Walk) itself() int {
	n := 0
	for _, p := range w.rest {
		switch {
		case p.Level == 0:
			n++
		case !w.down:
			return n
		default:
			n = 0
		}
	}
	return n
}

// enough returns which parts come next that show enough positions.
func (w *Walk) enough(wanted int64) (from, to int) {
	if w.down {
		from = len(w.rest)
		for to = from; from > 0 && (wanted > 0 || from == to) && w.rest[from-1].Level > 0; from-- {
			wanted -= w.rest[from-1].length()
		}
		return from, to
	}
	for ; to < len(w.rest) && (wanted > 0 || to == 0) && w.rest[to].Level > 0; to++ {
		wanted -= w.rest[to].length()
	}
	return 0, to
}

// Ranges returns the whole timeline.
func (o Outline) Ranges(read Markers) (Timeline, error) {
	for len(o) > 0 && o[0].Level > 0 {
		parts, err := unfolded(o, read)
		if err != nil {
			return nil, err
		}
		o = slices.Concat(parts...)
	}
	return o.ranges(), nil
}
