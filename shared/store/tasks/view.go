package tasks

import (
	"context"
	"sync"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/sessions"
)

// View is what a session shows, read as far as its tasks need it.
type View struct {
	log    string
	from   int64 // nothing before it in the session's own log is shown
	places *session.Places
	taken  func() (session.Timeline, error) // what the session shows of what it took over
}

// View returns the view of an outline of a session.
func (s *reader) View(ctx context.Context, h *sessions.Header, outline func() (session.Outline, error)) (*View, error) {
	o, err := outline()
	if err != nil {
		return nil, err
	}
	read := s.sessions.Markers(ctx)
	v := &View{log: h.Log, from: h.Base() + 1, places: o.Places(read)}
	for _, p := range o {
		if p.Log == h.Log {
			v.from = max(v.from, p.Seq)
			break
		}
	}
	v.taken = sync.OnceValues(func() (session.Timeline, error) {
		if h.Base() == 0 {
			return nil, nil
		}
		taken, err := o.Before(h.Base()+1, read)
		if err != nil {
			return nil, err
		}
		return taken.Ranges(read)
	})
	return v, nil
}

// shows reports whether a position of a log is shown. The own log numbers its positions as
// the session does.
func (v *View) shows(log string, position int64) (bool, error) {
	if log == v.log {
		r, shown, err := v.places.At(position)
		return shown && r.Log == log, err
	}
	taken, err := v.taken()
	return taken.Shows(log, position), err
}
