package session

import "slices"

// Outline is a timeline in bounded space. Its newest ranges are parts of level 0. A part of
// a higher level stands for older ranges: the marker of an earlier rewind has them in its
// own outline, as parts of the level below. Levels never rise from one part to the next.
type Outline []Part

// Part is a range or, of level n > 0, the first parts of level n−1 in the outline of the
// marker at the position From of Log, as many as show Count positions. If From is 0, it is
// the first parts, of any level, of what the fork with that log took over. Seq is the first
// that the part shows; all ranges of Log in it have its Gen.
type Part struct {
	Range
	Level int
	Count int64
}

// Markers reads the outlines of the markers that parts name, in their order.
type Markers func(parts []Part) ([]Outline, error)

// OutlineOf returns a timeline as an outline that has all of it.
func OutlineOf(t Timeline) Outline {
	out := make(Outline, len(t))
	for i, r := range t {
		out[i] = Part{Range: r}
	}
	return out
}

// length returns how many positions the part shows; 0 for an open range.
func (p Part) length() int64 {
	switch {
	case p.Level > 0:
		return p.Count
	case p.Open():
		return 0
	}
	return p.To - p.From + 1
}

// ranges returns the ranges that the outline has itself.
func (o Outline) ranges() Timeline {
	var out Timeline
	for _, p := range o {
		if p.Level == 0 {
			out = append(out, p.Range)
		}
	}
	return out
}

// Shows reports whether a position of a log is in one of the ranges that the outline has
// itself.
func (o Outline) Shows(log string, position int64) bool { return o.ranges().Shows(log, position) }

// Reopened returns the outline continued from a position of the session's own log, which
// numbers its positions as the session does.
func (o Outline) Reopened(log string, position int64) Outline {
	return append(slices.Clone(o), Part{Range: Range{Log: log, From: position, Seq: position}})
}

// closed returns the outline with its open range up to a head, which comes after all else.
func (o Outline) closed(head int64) Outline {
	last := len(o) - 1
	if last < 0 || o[last].Level > 0 || !o[last].Open() {
		return o
	}
	return append(slices.Clone(o[:last]), OutlineOf(Timeline{o[last].Range}.Before(head+1))...)
}

// Inherited returns what a fork takes over from a closed outline: the same, numbered from 1
// without gaps. Ranges of the source's own log are shown as of its generation gen.
func (o Outline) Inherited(own string, gen int64) (Outline, int64) {
	out := slices.Clone(o)
	next := int64(1)
	for i := range out {
		out[i].Seq = next
		if out[i].Log == own {
			out[i].Gen = gen
		}
		next += out[i].length()
	}
	return out, next - 1
}

// Without returns the outline without one position of a log in the ranges that it has
// itself. Its seq stays unused until a fork renumbers what it takes over.
func (o Outline) Without(log string, position int64) Outline {
	var out Outline
	for _, p := range o {
		if p.Level > 0 || p.Log != log || !p.Holds(position) {
			out = append(out, p)
			continue
		}
		before, after := p, p
		before.To = position - 1
		after.From, after.Seq = position+1, p.Seq+position+1-p.From
		if before.From <= before.To {
			out = append(out, before)
		}
		if after.Open() || after.From <= after.To {
			out = append(out, after)
		}
	}
	return out
}

// Folded returns the outline with at most so many parts of each level: the oldest of them
// become a part of the next level. The marker at the position of the log has them all in
// its own outline, at the beginning of their level.
func (o Outline) Folded(log string, marker int64, most int) Outline {
	out := slices.Clone(o)
	for level := 0; marker > 0; level++ {
		first := slices.IndexFunc(out, func(p Part) bool { return p.Level <= level })
		end := first
		for end < len(out) && out[end].Level == level {
			end++
		}
		if end-first <= most {
			break
		}
		fold := Part{Range: Range{Log: log, From: marker, Seq: out[first].Seq}, Level: level + 1}
		folded := out[first : end-most/2]
		for _, p := range folded {
			fold.Count += p.length()
		}
		out = slices.Replace(out, first, first+len(folded), fold)
	}
	return out
}

// unfolded returns what parts stand for, each in its turn; a range stands for itself.
func unfolded(parts []Part, read Markers) ([]Outline, error) {
	var folds []Part
	for _, p := range parts {
		if p.Level > 0 {
			folds = append(folds, p)
		}
	}
	var held []Outline
	if len(folds) > 0 {
		var err error
		if held, err = read(folds); err != nil {
			return nil, err
		}
	}
	out := make([]Outline, len(parts))
	for i, p := range parts {
		if p.Level == 0 {
			out[i] = Outline{p}
			continue
		}
		var err error
		if out[i], err = p.of(held[0]); err != nil {
			return nil, err
		}
		held = held[1:]
	}
	return out, nil
}

// of returns what a part stands for, from the outline of its marker. What a fork took over
// is numbered without gaps.
func (p Part) of(marker Outline) (Outline, error) {
	var out Outline
	count := int64(0)
	for _, part := range marker {
		if count == p.Count {
			break
		}
		if p.From > 0 && part.Level != p.Level-1 {
			continue
		}
		if p.Gen > 0 {
			if part.Seq = p.Seq + count; part.Log == p.Log && part.Gen == 0 {
				part.Gen = p.Gen
			}
		}
		out, count = append(out, part), count+part.length()
	}
	if count != p.Count || len(out) == 0 || out[len(out)-1].length() == 0 {
		return nil, errTimeline
	}
	return out, nil
}

// Before returns the part of the outline with seqs less than n.
func (o Outline) Before(n int64, read Markers) (Outline, error) {
	end, _ := slices.BinarySearchFunc(o, n, func(p Part, n int64) int {
		if p.Seq < n {
			return -1
		}
		return 1
	})
	out := slices.Clone(o[:end])
	if end == 0 || end < len(o) && o[end].Seq == n {
		return out, nil
	}
	last := out[end-1]
	if last.Level == 0 {
		return append(out[:end-1], OutlineOf(Timeline{last.Range}.Before(n))...), nil
	}
	unfold, err := unfolded(out[end-1:], read)
	if err != nil {
		return nil, err
	}
	parts := unfold[0]
	cut := len(parts) - 1 // the part to be cut: those before it stay one
	for ; parts[cut].Seq >= n; cut-- {
		last.Count -= parts[cut].length()
	}
	if last.Count -= parts[cut].length(); last.Count > 0 {
		out[end-1] = last
	} else {
		out = out[:end-1]
	}
	rest, err := parts[cut:cut+1].Before(n, read)
	return append(out, rest...), err
}

// Kept returns a closed outline as one part, all of which the fork with a log took over.
func (o Outline) Kept(log string) Outline {
	if len(o) == 0 {
		return nil
	}
	kept := Part{Range: Range{Log: log, Seq: o[0].Seq}, Level: o[0].Level + 1}
	for _, p := range o {
		kept.Count += p.length()
	}
	return Outline{kept}
}

// Unkept returns the outline without the part that refers to what the fork with a log took
// over, with what that stands for in its place.
func (o Outline) Unkept(log string, held Outline) (Outline, error) {
	if len(o) == 0 || o[0].Level == 0 || o[0].From > 0 || o[0].Log != log {
		return o, nil
	}
	parts, err := o[0].of(held)
	return slices.Concat(parts, o[1:]), err
}

// Common returns the last seq up to which two outlines show the same, and whether the
// second shows nothing after it.
func (o Outline) Common(next Outline, read Markers) (last int64, all bool, err error) {
	was := slices.Clone(o)
	next = slices.Clone(next)
	var same *Part // the latest that both have, if it is no range
	end := func(all bool) (int64, bool, error) {
		if same != nil {
			last, err = same.last(read)
		}
		return last, all, err
	}
	for len(next) > 0 {
		if len(was) == 0 {
			return end(false)
		}
		a, b := was[0], next[0]
		level := max(a.Level, b.Level)
		if level > 0 && a == b {
			same, was, next = &a, was[1:], next[1:]
			continue
		}
		if level > 0 {
			for _, of := range []*Outline{&was, &next} {
				if (*of)[0].Level < level {
					continue
				}
				parts, err := unfolded((*of)[:1], read)
				if err != nil {
					return 0, false, err
				}
				*of = slices.Concat(parts[0], (*of)[1:])
			}
			continue
		}
		switch {
		case a.Log != b.Log || a.From != b.From || a.Seq != b.Seq:
			return end(false)
		case !a.Open() && (b.Open() || b.To > a.To):
			return a.Last(), false, nil
		case b.Open(): // it is still empty
			return b.Seq - 1, true, nil
		}
		same, last = nil, b.Last()
		if a.Open() || b.To < a.To {
			return last, len(next) == 1, nil
		}
		was, next = was[1:], next[1:]
	}
	return end(true)
}

// last returns the last seq of a part.
func (p Part) last(read Markers) (int64, error) {
	for p.Level > 0 {
		parts, err := unfolded([]Part{p}, read)
		if err != nil {
			return 0, err
		}
		p = parts[0][len(parts[0])-1]
	}
	return p.Last(), nil
}
