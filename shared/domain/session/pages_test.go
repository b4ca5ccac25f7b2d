package session_test

import (
	"context"
	"errors"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/session"
)

// paged has a page of one event for each number, and fails at a position.
type paged struct{ pages, failAt, reads int }

var errRead = errors.New("not read")

func (p *paged) Events(_ context.Context, _, _ string, q session.EventQuery) (session.EventPage, error) {
	p.reads++
	at := int(q.Resume.Seq)
	if at == p.failAt {
		return session.EventPage{}, errRead
	}
	page := session.EventPage{Events: []session.Event{{ID: strconv.Itoa(at)}}}
	if at+1 < p.pages {
		page.Next = &session.Resume{Seq: int64(at + 1)}
	}
	return page, nil
}

func TestPages(t *testing.T) {
	t.Parallel()
	whole := &paged{pages: 3, failAt: -1}
	all, err := session.ReadEffective(t.Context(), whole, "u", "s", 0)
	if diff := cmp.Diff([]session.Event{{ID: "0"}, {ID: "1"}, {ID: "2"}}, all); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if all, err = session.ReadEffective(t.Context(), &paged{pages: 3, failAt: 1}, "u", "s", 0); !errors.Is(err, errRead) || all != nil {
		t.Errorf("a page that is not read gives %v, %v", all, err)
	}
	whole.reads = 0
	for _, err := range session.Pages(t.Context(), whole, "u", "s", session.EventQuery{}) {
		if err != nil {
			t.Fatal(err)
		}
		break
	}
	if whole.reads != 1 {
		t.Errorf("a loop that ends has read %d pages", whole.reads)
	}
}
