package session

import (
	"cmp"
	"slices"
)

// Places finds which range of an outline shows a seq, and keeps what it has read.
type Places struct {
	outline Outline
	read    Markers
}

// Places returns what finds places in the outline.
func (o Outline) Places(read Markers) *Places { return &Places{outline: slices.Clone(o), read: read} }

// Unfold reads what At needs of some seqs, all markers of a level at once.
func (p *Places) Unfold(seqs []int64) error {
	for {
		var at []int // parts to unfold, in order
		for _, seq := range seqs {
			if i := p.index(seq); i >= 0 && p.outline[i].Level > 0 {
				at = append(at, i)
			}
		}
		if len(at) == 0 {
			return nil
		}
		slices.Sort(at)
		at = slices.Compact(at)
		parts := make([]Part, len(at))
		for i, n := range at {
			parts[i] = p.outline[n]
		}
		held, err := unfolded(parts, p.read)
		if err != nil {
			return err
		}
		for i, n := range slices.Backward(at) {
			p.outline = slices.Replace(p.outline, n, n+1, held[i]...)
		}
	}
}

// index returns the last part that begins at a seq or before it, -1 for none.
func (p *Places) index(seq int64) int {
	i, found := slices.BinarySearchFunc(p.outline, seq, func(p Part, seq int64) int { return cmp.Compare(p.Seq, seq) })
	if found {
		return i
	}
	return i - 1
}

// At returns the range that shows a seq; false for a hidden one.
func (p *Places) At(seq int64) (Range, bool, error) {
	if err := p.Unfold([]int64{seq}); err != nil {
		return Range{}, false, err
	}
	i := p.index(seq)
	if i < 0 {
		return Range{}, false, nil
	}
	r := p.outline[i].Range
	return r, r.Open() || seq <= r.Last(), nil
}
