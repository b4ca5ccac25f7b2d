package aisdk

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/aisdk/aisdkconvert"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

// eventsPerMessage is how many events are read for each message that is asked for, before
// it is known whether they are enough.
const eventsPerMessage = 4

// getMessages returns the newest messages of a session, or those before a position, in
// order, without the output of the run in progress, which resume streams. The header Link
// leads to older ones.
func (s *server) getMessages(w http.ResponseWriter, r *http.Request, _ string) error {
	id, err := sessionID(r)
	if err != nil {
		return err
	}
	limit, before, err := pageOf(r)
	if err != nil {
		return err
	}
	of, _, err := s.ReadSession(r.Context(), id, access.Watch)
	if err != nil {
		return err
	}
	size, inProgress := session.MaxPage, ""
	if limit > 0 {
		size = min(eventsPerMessage*limit, session.MaxPage)
	}
	if of.ActiveRunID != nil {
		inProgress = *of.ActiveRunID
	}
	h, err := s.HistoryBefore(r.Context(), of, before, size)
	if err != nil {
		return err
	}
	var page aisdkconvert.Page
	err = h.Enough(r.Context(), func(h conversation.History) (err error) {
		page, err = aisdkconvert.MessagesPage(h, inProgress, limit, session.PageBytes)
		return err
	})
	if err != nil {
		return err
	}
	if before == 0 {
		if err := s.noteUnseen(r.Context(), of.ID, inProgress); err != nil {
			return err
		}
	}
	linkOlder(w.Header(), limit, page.Before)
	if page.Messages == nil {
		page.Messages = []aisdkconvert.Message{}
	}
	return s.Answer(r.Context(), w, of, page.Messages)
}

// noteUnseen notes the run whose output the messages of a session lack; "" for none.
func (s *server) noteUnseen(ctx context.Context, sessionID, inProgress string) error {
	noted, err := s.Unseen.Unseen(ctx, sessionID)
	switch {
	case err != nil || noted == inProgress:
		return err
	case inProgress != "":
		return s.Unseen.NoteUnseen(ctx, sessionID, inProgress)
	}
	return s.Unseen.ForgetUnseen(ctx, sessionID)
}

// linkOlder adds the address of the page before a position, relative to that of the
// request; none for 0.
func linkOlder(header http.Header, limit int, before int64) {
	if before == 0 {
		return
	}
	query := url.Values{"before": {strconv.FormatInt(before, 10)}}
	if limit > 0 {
		query.Set("limit", strconv.Itoa(limit))
	}
	header.Set("Link", fmt.Sprintf("<?%s>; rel=%q", query.Encode(), "next"))
}

// pageOf reads which messages a request asks for; 0 for a parameter that is absent.
func pageOf(r *http.Request) (limit int, before int64, err error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return 0, 0, fault.New(fault.Malformed, "the query is malformed")
	}
	most, err := integer(values, "limit", session.MaxPage)
	if err == nil {
		before, err = integer(values, "before", math.MaxInt32)
	}
	return int(most), before, err
}

func integer(values url.Values, name string, most int64) (int64, error) {
	if !values.Has(name) {
		return 0, nil
	}
	n, err := strconv.ParseInt(values.Get(name), 10, 64)
	if err != nil || n < 1 || n > most || len(values[name]) > 1 {
		return 0, fault.Field(fault.Malformed, name, "must be an integer from 1 to %d, given once", most)
	}
	return n, nil
}
