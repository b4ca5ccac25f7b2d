package archive

import (
	"time"

	"github.com/rethread/rethread/shared/base/fault"
)

// ImportState is the state of an import.
type ImportState string

// The states of an import.
const (
	ImportOpen ImportState = "open" // further parts are expected
	ImportDone ImportState = "done"
	ImportDead ImportState = "dead" // abandoned; its data is being deleted
)

// Import is the progress of an import as it decides about the next upload and about
// its end.
type Import struct {
	SessionID string
	State     ImportState
	Next      int // number of the expected part
	// Begun is the number of the part that was begun last. It equals Next while that
	// part is being imported, or if it was interrupted.
	Begun  int
	Digest string // of the part Begun
	// BusyUntil is when the part Begun counts as interrupted, in epoch milliseconds.
	BusyUntil int64
}

// Admit decides about an upload. It reports whether the upload repeats the last
// imported part, whose answer was lost: it is answered again and imports nothing. It
// returns fault.Conflict if the import has ended, another part is expected, or the
// part was begun with other content.
func (i Import) Admit(u Upload) (repeated bool, err error) {
	repeated = u.Number == i.Next-1 && u.Digest == i.Digest
	switch {
	case repeated && i.State != ImportDead:
		return true, nil
	case i.State != ImportOpen:
		return false, fault.New(fault.ImportEnded, "the import is over")
	case u.Number != i.Next:
		return false, fault.New(fault.ImportPartConflict, "part %d is expected, not %d", i.Next, u.Number).With("next_part", i.Next)
	case i.Begun == u.Number && i.Digest != u.Digest:
		return false, fault.New(fault.ImportPartConflict,
			"part %d was begun with other content: send that again, or delete the import", u.Number)
	}
	return false, nil
}

// CheckAbandon returns nil if the import may be abandoned now, in epoch milliseconds:
// again, too, since an interrupted call is repeated. It returns fault.Conflict, with
// session_id, if the import is complete, and fault.Busy while a part is being imported.
func (i Import) CheckAbandon(now int64) error {
	switch {
	case i.State == ImportDone:
		return fault.New(fault.ImportEnded, "the import is complete: delete the session").With("session_id", i.SessionID)
	case i.State == ImportOpen && i.Begun == i.Next && now < i.BusyUntil:
		return &fault.Error{
			Kind: fault.Busy, Detail: "a part is being imported", RetryAfter: time.Duration(i.BusyUntil-now) * time.Millisecond,
		}
	}
	return nil
}
