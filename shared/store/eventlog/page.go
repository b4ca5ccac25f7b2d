package eventlog

import (
	"cmp"
	"fmt"

	"github.com/rethread/rethread/shared/base/retry"
	"github.com/rethread/rethread/shared/domain/session"
)

// ErrRewound says that the log contains a rewind that is missing in the header:
// both must be read again.
var ErrRewound = fmt.Errorf("the session was rewound while it was read: %w", retry.ErrAgain)

// Page collects events up to its limits.
type Page struct {
	Show     func(session.Range, session.Event) session.Event // as the session's readers see an event
	Head     *Head                                            // of the session's log, nil if it was not read
	View     session.View
	Limit    int
	MaxBytes int // bytes, 0 for session.PageBytes
	Events   []session.Event
	Bytes    int
	Full     bool // there is at least one more event

	Compactor *Compactor
}

// take adds an event of a span to the page, unless it is hidden or the page is
// full.
func (p *Page) take(sp *Span, rec *Record, e session.Event) error {
	r, shown := sp.rangeOf(e.Seq)
	if !shown || p.Full {
		return nil
	}
	if p.View == session.Effective {
		if rec.IsRewind() {
			return ErrRewound // the header's timeline leaves out the markers that it includes
		}
		if e.TaskID != "" || rec.Hidden {
			return nil
		}
	}
	size := e.Size()
	if len(p.Events) == p.Limit || (len(p.Events) > 0 && p.Bytes+size > cmp.Or(p.MaxBytes, session.PageBytes)) {
		p.Full = true
		return nil
	}
	p.Bytes += size
	p.Events = append(p.Events, p.Show(r, e))
	return nil
}

// Result returns the page as a caller gets it.
func (p *Page) Result(epoch int64) session.EventPage {
	out := session.EventPage{Events: p.Events, Epoch: epoch}
	if p.Full {
		out.Next = &session.Resume{Seq: p.Events[len(p.Events)-1].Seq, Epoch: epoch}
	}
	return out
}
