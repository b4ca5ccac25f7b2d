package openresponses

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/frontend"
	"github.com/rethread/rethread/shared/transport/openresponses/responsesconvert"
)

// lastReadTime bounds the read of a response whose request's time is up.
const lastReadTime = 5 * time.Second

// follow calls update with the events of a response's run whenever they have changed,
// until the run is over or the reader has left. It returns the run, without an ID if the
// reader has left.
func (s *server) follow(ctx context.Context, f found, left func() bool, update func([]session.Event)) (run.Run, error) {
	b := frontend.Begun{Ref: f.ref(), Queued: f.Run.Status == run.Waiting, After: f.id.After}
	return s.Follow(ctx, &b, left, func(_ context.Context, own []session.Event) error {
		update(own)
		return nil
	})
}

// stream streams a response to its end, from after a sequence number; -1 is the
// beginning.
func (s *server) stream(ctx context.Context, w http.ResponseWriter, f found, after int64) {
	out := frontend.NewSender(ctx, w, s.KeepAlive)
	defer out.Close()
	events := responsesconvert.NewStream(f.id, after)
	send := func(list []responsesconvert.Event) {
		for _, e := range list {
			out.SendNamed(e.Type(), e)
		}
	}
	send(events.Begin(f.Run, f.Own))
	var err error
	if !f.Run.Status.Final() {
		f.Run, err = s.follow(ctx, f, out.Left, func(own []session.Event) { send(events.Update(own)) })
	} else {
		send(events.Update(f.Own))
	}
	switch {
	case err != nil:
		s.fail(ctx, out, f.id, events.At(), err)
	case f.Run.ID != "":
		send(events.Finish(f.Run))
	}
	out.Done()
}

// fail sends why a stream ends before its response. The event has the number of the last
// one, after which the reader can go on.
func (s *server) fail(ctx context.Context, out *frontend.Sender, id responsesconvert.ID, at int64, err error) {
	f, _ := s.Failure(ctx, err)
	if f == nil {
		f = fault.New(fault.Busy, "The stream ends before its response, which goes on: get it again with stream=true and starting_after=%d.", at).
			With("code", codeExpired).With("response_id", id.String())
	}
	e := responsesconvert.Event{"type": "error", "sequence_number": at}
	object := errorObject(f)
	for _, name := range []string{"code", "message", "param"} {
		e[name] = object[name]
	}
	e["error"] = object
	out.SendNamed("error", e)
}

// wait answers with a response when its run is over, or as it is when the request's time
// is up.
func (s *server) wait(ctx context.Context, w http.ResponseWriter, f found) error {
	out := frontend.NewWaiter(ctx, w, s.KeepAlive)
	defer out.Close()
	if !f.Run.Status.Final() {
		ended, err := s.follow(ctx, f, out.Left, func(own []session.Event) { f.Own = own })
		switch {
		case err == nil && ended.ID == "": // the reader has left
			return nil
		case err == nil:
			f.Run = ended
		case ctx.Err() == nil:
			return s.failWait(out, err)
		default:
			if err := s.readLast(ctx, &f); err != nil {
				return s.failWait(out, err)
			}
		}
	}
	out.SendValue(f.Object())
	return nil
}

// readLast reads a response as it is when the request's time is up.
func (s *server) readLast(ctx context.Context, f *found) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastReadTime)
	defer cancel()
	now, err := s.Runs.Run(ctx, f.ref())
	if err != nil {
		return err
	}
	f.Run = now
	return s.readOwn(ctx, f)
}

// failWait answers with an error, whose status is 200 if white space was sent before.
func (s *server) failWait(out *frontend.Sender, err error) error {
	if !out.Begun() {
		return err
	}
	var f *fault.Error
	if !errors.As(err, &f) {
		f = &fault.Error{Detail: "Internal error."}
	}
	out.SendValue(map[string]any{"error": errorObject(f)})
	return nil
}
