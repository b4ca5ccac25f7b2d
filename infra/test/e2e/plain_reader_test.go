package e2e_test

import (
	"encoding/json"
	"net/url"
	"slices"
	"testing"

	"github.com/rethread/rethread/clients/go/watch/view"
	"github.com/rethread/rethread/infra/test/e2e"
	"github.com/rethread/rethread/shared/domain/watch"
)

// plainReader acts like a page with EventSource: it reconnects with the id of the
// last event, and applies messages in order of arrival, without further rules.
type plainReader struct {
	items   []plainItem
	status  string
	seen    map[string]int // messages
	from    string         // cursor of the address
	last    string         // id
	turns   int
	rest    int      // turns that ended while the session was idle
	reloads []string // reasons of reading the thread
}

type plainItem struct {
	id    string
	seq   int64
	text  string
	whole bool
}

func newPlainReader() *plainReader { return &plainReader{seen: map[string]int{}, from: "0.0.0"} }

func (p *plainReader) take(t *testing.T, f e2e.Frame, id string) {
	t.Helper()
	if id != "" {
		p.last = id
	}
	p.seen[id+" "+string(f.Text)]++
	m, err := view.ParseMessage(f.Text)
	if err != nil {
		t.Fatal(err)
	}
	switch m.Type {
	case view.TypeStatus:
		if m.Status != "" {
			p.status = string(m.Status)
		}
	case view.TypeSnapshot:
		p.cut(m.Item.Seq)
		p.items = append(p.items, plain(t, *m.Item))
	case view.TypeCompleted, view.TypeFailed:
		*p.item(t, m.ItemID, f) = plain(t, *m.Item)
	case view.TypeDelta:
		p.item(t, m.ItemID, f).text += *m.Delta.Text
	case view.TypeRewound:
		p.cut(*m.ToSeq + 1)
	default:
		t.Fatalf("got %s", f.Text)
	}
}

// cut drops the item at a position and all later ones.
func (p *plainReader) cut(seq int64) {
	p.items = slices.DeleteFunc(p.items, func(i plainItem) bool { return i.seq >= seq })
}

func (p *plainReader) item(t *testing.T, id string, f e2e.Frame) *plainItem {
	t.Helper()
	i := slices.IndexFunc(p.items, func(i plainItem) bool { return i.id == id })
	if i < 0 {
		t.Fatalf("a message about an unknown item: %.300s", f.Text)
	}
	return &p.items[i]
}

func plain(t *testing.T, e view.Event) plainItem {
	t.Helper()
	return plainItem{id: e.ID, seq: e.Seq, text: contentOf(t, e), whole: e.Status == view.EventCompleted}
}

func contentOf(t *testing.T, e view.Event) string {
	t.Helper()
	var content struct{ Parts []struct{ Text string } }
	if raw := e.Fields["content"]; raw != nil {
		if err := json.Unmarshal(raw, &content); err != nil {
			t.Fatal(err)
		}
	}
	text := ""
	for _, part := range content.Parts {
		text += part.Text
	}
	return text
}

// reload reads the thread, from which the reader starts again.
func (p *plainReader) reload(t *testing.T, u *e2e.User, session, why string) {
	t.Helper()
	thread, _, err := view.ParseThread(u.Get(session + "/thread").Want(200).Body)
	if err != nil {
		t.Fatal(err)
	}
	p.reloads = append(p.reloads, why)
	p.items, p.status, p.from, p.last = nil, string(thread.Status), thread.Cursor.String(), ""
	for _, e := range thread.Items {
		p.items = append(p.items, plain(t, e))
	}
}

// follow reads turn after turn until enough reports true.
func (p *plainReader) follow(t *testing.T, u *e2e.User, session string, enough func() bool) {
	t.Helper()
	for !enough() {
		var opts []e2e.Option
		if p.last != "" {
			opts = append(opts, e2e.Header("Last-Event-ID", p.last))
		}
		// The address is unchanged, with a position that is outdated by now.
		stream := u.Watch(session, url.Values{"cursor": {p.from}}, opts...)
		p.turns++
		p.turn(t, u, session, stream, enough)
		stream.Close()
	}
}

// turn reads a stream to its end, or until enough reports true.
func (p *plainReader) turn(t *testing.T, u *e2e.User, session string, stream *e2e.EventStream, enough func() bool) {
	t.Helper()
	for !enough() {
		f, id, ok := stream.Next()
		switch {
		case ok && f.Type == string(watch.Reload):
			p.reload(t, u, session, f.Str(t, "reason"))
			return
		case ok:
			p.take(t, f, id)
			continue
		case p.status == "idle":
			p.rest++
		}
		return
	}
}

// mustShow requires the reader to show a thread.
func (p *plainReader) mustShow(t *testing.T, thread view.Thread) {
	t.Helper()
	var want []plainItem
	for _, e := range thread.Items {
		want = append(want, plain(t, e))
	}
	if !slices.Equal(want, p.items) || p.status != string(thread.Status) {
		t.Errorf("the thread is %s %.2000v\nand what is shown %s %.2000v", thread.Status, want, p.status, p.items)
	}
}
