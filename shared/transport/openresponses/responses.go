package openresponses

import (
	"context"
	"net/http"
	"strconv"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/transport/frontend"
	"github.com/rethread/rethread/shared/transport/openresponses/responsesconvert"
)

// getResponse returns a response as it is, or streams it.
func (s *server) getResponse(w http.ResponseWriter, r *http.Request) error {
	streams, after, err := streamQuery(r)
	if err != nil {
		return err
	}
	f, err := s.load(r, access.Watch)
	if err != nil {
		return err
	}
	if !streams {
		return s.answer(r.Context(), w, f.of, f.Object())
	}
	return s.WithLease(r.Context(), func(ctx context.Context) error {
		s.stream(ctx, w, f, after)
		return nil
	})
}

// streamQuery reads the parameters stream and starting_after; -1 without the latter.
func streamQuery(r *http.Request) (streams bool, after int64, err error) {
	q := r.URL.Query()
	if text := q.Get("stream"); text != "" {
		if streams, err = strconv.ParseBool(text); err != nil {
			return false, 0, fault.Field(fault.Malformed, "stream", "must be true or false")
		}
	}
	text := q.Get("starting_after")
	if text == "" {
		return streams, -1, nil
	}
	after, err = strconv.ParseInt(text, 10, 64)
	if err != nil || after < 0 {
		return false, 0, fault.Field(fault.Malformed, "starting_after", "must be the sequence number of an event")
	}
	if !streams {
		return false, 0, fault.Field(fault.Malformed, "starting_after", "requires stream=true")
	}
	return streams, after, nil
}

// cancelResponse cancels the run of a response, and keeps what it said: a client has read
// it. One that is over stays as it is.
func (s *server) cancelResponse(w http.ResponseWriter, r *http.Request) error {
	f, err := s.load(r, access.CancelRun)
	if err != nil {
		return err
	}
	if !f.Run.Status.Final() {
		if f.Run, err = s.Runs.CancelAs(r.Context(), f.ref(), run.Keep); err != nil {
			return err
		}
		if err := s.readOwn(r.Context(), &f); err != nil {
			return err
		}
	}
	return frontend.WriteJSON(w, f.Object())
}

// deleteResponse refuses: a log is only appended to, and later responses build on
// earlier ones.
func (s *server) deleteResponse(_ http.ResponseWriter, r *http.Request) error {
	if _, err := s.load(r, access.ReadSession); err != nil {
		return err
	}
	return fault.Field(fault.Invalid, "response_id",
		"cannot be deleted: a response is a part of its conversation's log. Delete the conversation.").
		With("code", responsesconvert.CodeUnsupported)
}

// getInputItems lists the items that a response was created from.
func (s *server) getInputItems(w http.ResponseWriter, r *http.Request) error {
	q, err := parseListQuery(r)
	if err != nil {
		return err
	}
	f, err := s.find(r.Context(), frontend.PathParameter(r, "response_id"), access.ReadSession)
	if err != nil {
		return err
	}
	if f.Run.Status == run.Waiting {
		if err := s.readOwn(r.Context(), &f); err != nil {
			return err
		}
	}
	entries, err := s.entriesOf(r.Context(), f.of, f.id) // later: it may have begun
	if err != nil {
		return err
	}
	own := entries.own
	if len(own) == 0 {
		own = f.Own
	}
	return s.answer(r.Context(), w, f.of, q.page(responsesconvert.Inputs(append(entries.history, own...), f.id.RunID)))
}
