package rest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/rethread/rethread/shared/domain/archive"
	"github.com/rethread/rethread/shared/transport/rest/archives"
)

// changingStore calls a function as each event of an export is passed on.
type changingStore struct {
	archive.Exporter
	meddle func()
}

func (m changingStore) Export(ctx context.Context, userID, sessionID string, to archive.Sink) error {
	return m.Exporter.Export(ctx, userID, sessionID, meddling{to, m.meddle})
}

type meddling struct {
	archive.Sink
	meddle func()
}

func (m meddling) Event(e archive.Event) error {
	m.meddle()
	return m.Sink.Event(e)
}

// If a session changes during its export, a document of which nothing is sent yet is
// refused.
func TestExportOfAChangingShortSession(t *testing.T) {
	t.Parallel()
	s := newSystem(t)
	id := s.mustCreate(t, alice, `{}`).ID
	s.say(t, id, "hello")
	s.config.Exports = changingStore{s.config.Exports, func() { s.say(t, id, "more") }}
	s.export = archives.Export(s.config)
	s.must(t, 409, get(alice, "/sessions/"+id+"/export"))
}

// If a session changes during its export, a document that is being sent has no end,
// and the log reports the reason without an error.
func TestExportOfAChangingLongSession(t *testing.T) {
	t.Parallel()
	s := newSystem(t)
	id := s.mustCreate(t, alice, `{}`).ID
	for range 12 {
		s.say(t, id, strings.Repeat("long ", 20<<10))
	}
	export := get(alice, "/sessions/"+id+"/export")
	if got := s.must(t, 200, export); !json.Valid(got.body) {
		t.Errorf("undisturbed, %d bytes are no document", len(got.body))
	}
	s.config.Exports = changingStore{s.config.Exports, func() { s.say(t, id, "more") }}
	s.export = archives.Export(s.config)
	got := s.must(t, 200, export)
	if len(got.body) == 0 || json.Valid(got.body) {
		t.Errorf("%d bytes, valid: %t; want a document that breaks off", len(got.body), json.Valid(got.body))
	}
	if log := s.log.String(); strings.Contains(log, "level=ERROR") || !strings.Contains(log, "level=WARN") ||
		!strings.Contains(log, "the session changed while it was exported") {
		t.Errorf("the log says %q", log)
	}
}

func (s *system) say(t *testing.T, id, text string) {
	t.Helper()
	s.mustAppend(t, id, fmt.Sprintf(`{"invocation_id":"i","author":"user","content":{"role":"user","parts":[{"text":%q}]}}`, text))
}
