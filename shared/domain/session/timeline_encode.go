package session

import (
	"encoding/binary"
	"errors"
	"math"
)

// errTimeline says that bytes are not an encoded timeline.
var errTimeline = errors.New("not an encoded timeline")

// Encode encodes the timeline in about eight bytes for each range.
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
	d := decoder{rest: b}
	count := d.uint()
	if d.failed || count > int64(len(b)) {
		return nil, errTimeline
	}
	t := make(Timeline, 0, count)
	log := ""
	for range count {
		log = d.text(log)
		r := Range{Log: log, From: d.uint()}
		length := d.uint()
		r.Seq, r.Gen = d.uint(), d.uint()
		if d.failed {
			return nil, errTimeline
		}
		if length > 0 {
			r.To = r.From + length - 1
		}
		t = append(t, r)
	}
	return t, nil
}

// decoder decodes numbers and texts until it fails.
type decoder struct {
	rest   []byte
	failed bool
}

// uint decodes a number that is not negative.
func (d *decoder) uint() int64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 || v > math.MaxInt64 {
		d.rest, d.failed = nil, true
		return 0
	}
	d.rest = d.rest[n:]
	return int64(v)
}

// int decodes a number of either sign.
func (d *decoder) int() int64 {
	v, n := binary.Varint(d.rest)
	if n <= 0 {
		d.rest, d.failed = nil, true
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

// text decodes a text, or returns the one before if it is the same.
func (d *decoder) text(before string) string {
	n := d.uint()
	if n == 0 || d.failed {
		return before
	}
	if n > int64(len(d.rest)) {
		d.failed = true
		return before
	}
	text := string(d.rest[:n])
	d.rest = d.rest[n:]
	return text
}
