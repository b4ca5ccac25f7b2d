package session

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// errTimeline says that bytes are not an encoded timeline.
var errTimeline = errors.New("not an encoded timeline")

// Encode encodes the timeline in about eight bytes for each range: the header of a
// session is read with every request, and contains one range for each rewind.
func (t Timeline) Encode() []byte {
	out := binary.AppendUvarint(nil, uint64(len(t)))
	log := ""
	for _, r := range t {
		if r.Log == log {
			out = binary.AppendUvarint(out, 0)
		} else {
			out = append(binary.AppendUvarint(out, uint64(len(r.Log))), r.Log...)
			log = r.Log
		}
		length := int64(0)
		if !r.Open() {
			length = r.To - r.From + 1
		}
		for _, v := range []int64{r.From, length, r.Seq, r.Gen} {
			out = binary.AppendUvarint(out, uint64(v)) //nolint:gosec // none is negative
		}
	}
	return out
}

// DecodeTimeline decodes the output of Encode.
func DecodeTimeline(b []byte) (Timeline, error) {
	next := func() int64 {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			b = nil
			return -1
		}
		b = b[n:]
		return int64(v) //nolint:gosec // checked below
	}
	count := next()
	if count < 0 || count > int64(len(b)) {
		return nil, errTimeline
	}
	t := make(Timeline, 0, count)
	log := ""
	for range count {
		if n := next(); n > 0 {
			if n > int64(len(b)) {
				return nil, errTimeline
			}
			log, b = string(b[:n]), b[n:]
		}
		r := Range{Log: log, From: next()}
		length := next()
		r.Seq, r.Gen = next(), next()
		if r.From < 0 || length < 0 || r.Seq < 0 || r.Gen < 0 {
			return nil, errTimeline
		}
		if length > 0 {
			r.To = r.From + length - 1
		}
		t = append(t, r)
	}
	return t, nil
}

// relative begins the encoding of a timeline that refers to another one. Elsewhere it would be a
// number of ranges that no item can hold, and earlier versions refuse it.
const relative = "\xff\xff\x7f"

// EncodeAfter encodes the timeline of a session that was forked: without the leading ranges
// that it has in common with what the session inherited.
func (t Timeline) EncodeAfter(inherited Timeline) []byte {
	n := 0
	for n < len(t) && n < len(inherited) && t[n] == inherited[n] {
		n++
	}
	return append(binary.AppendUvarint([]byte(relative), uint64(n)), t[n:].Encode()...)
}

// DecodeTimelineAfter decodes the output of EncodeAfter and of Encode.
func DecodeTimelineAfter(inherited Timeline, b []byte) (Timeline, error) {
	b, ok := bytes.CutPrefix(b, []byte(relative))
	if !ok {
		return DecodeTimeline(b)
	}
	n, read := binary.Uvarint(b)
	if read <= 0 || n > uint64(len(inherited)) {
		return nil, errTimeline
	}
	rest, err := DecodeTimeline(b[read:])
	return append(append(Timeline{}, inherited[:n]...), rest...), err
}
