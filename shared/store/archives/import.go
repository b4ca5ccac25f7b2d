package archives

import (
	"context"
	"fmt"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/archive"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

const (
	// importLife is how long an import waits for its next part.
	importLife = 24 * time.Hour
	// importBusy is how long a part counts as being imported: a second longer
	// than its request can take, since the function's timeout is 29 s.
	importBusy = 30 * time.Second
)

// ImportItem is an import. Its parts are written to a log that no session refers
// to; one transaction with the last part creates the session with that log. So
// nothing is visible before, and an abandoned import is cleared like the log of a
// deleted session.
type ImportItem struct {
	PK      string              `dynamodbav:"PK"`
	SK      string              `dynamodbav:"SK"`
	Session string              `dynamodbav:"s"`
	KeyedBy string              `dynamodbav:"ik,omitempty"` // the idempotency claim of the request that began it
	Log     string              `dynamodbav:"l"`
	State   archive.ImportState `dynamodbav:"st"`
	Version int64               `dynamodbav:"v"`
	Next    int                 `dynamodbav:"n"` // number of the expected part
	// Digest is that of the part Begun. While that part is being imported, or
	// after it was interrupted, only the same part is accepted.
	Digest       string   `dynamodbav:"d"`
	Begun        int      `dynamodbav:"bg"`
	Busy         int64    `dynamodbav:"until"` // epoch milliseconds
	Head         logHead  `dynamodbav:"h"`     // of the log so far
	Shared       int      `dynamodbav:"sh"`    // versions for the user's scope so far
	Kept         []string `dynamodbav:"k,omitempty"`
	Bytes        int64    `dynamodbav:"by,omitempty"` // stored so far
	records.Body          // the document's head
	GPK          string   `dynamodbav:"GPK,omitempty"`
	GSK          string   `dynamodbav:"GSK,omitempty"`
	Expire       int64    `dynamodbav:"expires,omitempty"` // once it is done
}

const importVersion = "v"

// logHead is a head as it is stored between two parts.
type logHead struct {
	Next   int64 `dynamodbav:"n"`
	State  int64 `dynamodbav:"s"`
	Marker int64 `dynamodbav:"m"`
	Epoch  int64 `dynamodbav:"e"`
	Deltas int64 `dynamodbav:"d"`
}

// Key returns the import's key.
func (i *ImportItem) Key() table.Key { return table.NewKey(i.PK, i.SK) }

// same is the condition that the import has not changed since it was read.
func (i *ImportItem) same() table.Condition { return table.Equal(table.Path{importVersion}, i.Version) }

// Import implements archive.Importer.
func (s *Store) Import(ctx context.Context, u archive.Upload) (archive.Progress, error) {
	out, err := records.ContendedValue(ctx, func() (archive.Progress, error) { return s.takePart(ctx, u) })
	if err != nil {
		err = fmt.Errorf("import %s, part %d: %w", u.ImportID, u.Number, err)
	}
	return out, err
}

// takePart makes one attempt; table.ErrConditionFailed if the import was changed
// concurrently.
func (s *Store) takePart(ctx context.Context, u archive.Upload) (archive.Progress, error) {
	var rec ImportItem
	found, err := s.DB.Get(ctx, keys.ImportKey(u.UserID, u.ImportID), &rec)
	if err != nil {
		return archive.Progress{}, err
	}
	if !found {
		if u.Number != 1 {
			return archive.Progress{}, fault.Missing("Import")
		}
		first, err := s.newImport(ctx, u)
		if err != nil {
			return archive.Progress{}, err
		}
		rec = *first
		if err := s.sessions.AdmitSession(ctx, u.UserID); err != nil {
			return archive.Progress{}, err
		}
	}
	switch repeated, err := rec.standing().Admit(u); {
	case err != nil:
		return archive.Progress{}, err
	case repeated:
		return s.repeat(ctx, &rec, u.UserID)
	}
	w := &importing{s: s, rec: &rec, u: u, outlines: newOutlines(s.sessions.Markers(ctx))}
	if err := w.check(ctx); err != nil {
		return archive.Progress{}, err
	}
	if err := s.claimPart(ctx, &rec, u); err != nil {
		return archive.Progress{}, err
	}
	if err := w.write(ctx); err != nil {
		return archive.Progress{}, err
	}
	if u.Part.Complete {
		return w.commit(ctx)
	}
	return w.advance(ctx)
}

// newImport returns an import that begins with a part. It is not stored yet.
func (s *Store) newImport(ctx context.Context, u archive.Upload) (*ImportItem, error) {
	if u.Part.Head == nil {
		return nil, fault.Field(fault.Malformed, "/session", "is required")
	}
	k := keys.ImportKey(u.UserID, u.ImportID)
	rec := &ImportItem{
		PK: k.PK, SK: k.SK, Session: u.Part.Head.Session.ID, Log: s.NewLog(), State: archive.ImportOpen, Next: 1,
		KeyedBy: u.KeyedBy, Head: logHead{Next: 1},
	}
	if u.SessionID != "" {
		rec.Session = u.SessionID
	}
	return rec, s.free(ctx, rec)
}

// free returns fault.Conflict if a session with the id exists.
func (s *Store) free(ctx context.Context, rec *ImportItem) error {
	item, err := s.DB.GetItem(ctx, keys.SessionKey(rec.Session))
	if err == nil {
		item, err = s.sessions.Present(ctx, item)
	}
	if err == nil && item != nil {
		err = fault.New(fault.SessionExists, "a session with the id %q exists: ask for another with ?id=", rec.Session).
			With("session_id", rec.Session)
	}
	return err
}

// standing returns the progress of the import.
func (i *ImportItem) standing() archive.Import {
	return archive.Import{
		SessionID: i.Session, State: i.State, Next: i.Next, Begun: i.Begun, Digest: i.Digest, BusyUntil: i.Busy,
	}
}

// repeat answers an upload that repeats the last imported part.
func (s *Store) repeat(ctx context.Context, rec *ImportItem, userID string) (archive.Progress, error) {
	if rec.State == archive.ImportDone {
		return s.imported(ctx, rec, userID)
	}
	return rec.progress(), nil
}

func (i *ImportItem) progress() archive.Progress {
	return archive.Progress{
		ImportID: i.SK, SessionID: i.Session, NextPart: i.Next, Kept: i.Kept,
		ExpiresTime: i.Busy - importBusy.Milliseconds() + importLife.Milliseconds(),
	}
}

// imported returns the progress of a complete import, with its session.
func (s *Store) imported(ctx context.Context, rec *ImportItem, userID string) (archive.Progress, error) {
	p := rec.progress()
	created, err := s.runs.Get(ctx, userID, rec.Session)
	p.Session = &created
	return p, err
}

// claimPart records that a part is being imported; table.ErrConditionFailed if
// another request was faster.
func (s *Store) claimPart(ctx context.Context, rec *ImportItem, u archive.Upload) error {
	c := rec.same()
	if rec.Version == 0 {
		c = table.ItemNotExists()
	}
	now := s.Millis()
	rec.Version, rec.Begun, rec.Digest = rec.Version+1, u.Number, u.Digest
	rec.Busy = now + importBusy.Milliseconds()
	rec.GPK, rec.GSK = keys.GpkImport, keys.ActivitySK(now, rec.Log)
	if rec.Inline == nil && rec.Blob == "" {
		var err error
		if rec.Body, err = s.content.Pack(ctx, keys.LogPK(rec.Log), u.Part.Head, 0); err != nil {
			return err
		}
	}
	return s.DB.Put(ctx, rec, c)
}

// advance records that a part was imported and the next one is expected.
func (w *importing) advance(ctx context.Context) (archive.Progress, error) {
	c := w.rec.same()
	w.rec.Version++
	w.rec.Next, w.rec.Head, w.rec.Shared = w.rec.Next+1, logHead(w.checked.After.Log), w.checked.After.Shared
	w.rec.Bytes += w.bytes
	err := w.s.DB.Put(ctx, w.rec, c)
	return w.rec.progress(), err
}

// Arrived reports whether an import is complete, and caches the answer in known.
// A missing import was complete: an abandoned one is deleted after its data.
func (s *Store) Arrived(ctx context.Context, user, id string, known map[string]bool) (bool, error) {
	if id == "" {
		return true, nil
	}
	if _, asked := known[id]; !asked {
		var rec ImportItem
		found, err := s.DB.Get(ctx, keys.ImportKey(user, id), &rec)
		if err != nil {
			return false, err
		}
		known[id] = !found || rec.State == archive.ImportDone
	}
	return known[id], nil
}
