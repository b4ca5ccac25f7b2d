package sessions

import (
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/ids"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/rest"
)

// Members that say how far a rewind or a fork goes back: to before an invocation, under
// either of two names, or to a position of the log.
const (
	boundaryField = "rewind_before_invocation_id"
	beforeField   = "before"
	atSeqField    = "at_seq"
)

// boundary is how far a rewind or a fork goes back; both are nil if that is not said.
type boundary struct {
	before *string
	atSeq  *int64
}

// boundaryOf reads the members of a boundary, of which at most one may be given.
func boundaryOf(o rest.Object) (b boundary, err error) {
	var broken fault.Broken
	given := ""
	for _, name := range []string{boundaryField, beforeField} {
		id, err := optionalText(o, name)
		if !broken.Add(err) || id == nil {
			continue
		}
		broken.Add(ids.Check(o.Pointer(name), *id))
		if b.before != nil {
			broken.Add(rest.FieldFault(fault.Invalid, o.Pointer(name), "must be absent beside %s, which it abbreviates", given))
		}
		b.before, given = id, name
	}
	b.atSeq, err = o.Integer(atSeqField)
	if broken.Add(err) && b.atSeq != nil {
		switch {
		case *b.atSeq < 0 || *b.atSeq > jsonx.MaxInteger:
			broken.Add(rest.FieldFault(fault.Invalid, o.Pointer(atSeqField), "must not be negative, nor over 2^53-1"))
		case b.before != nil:
			broken.Add(rest.FieldFault(fault.Invalid, o.Pointer(atSeqField), "must be absent beside %s", given))
		}
	}
	return b, broken.Err()
}

// invocationAfter returns the invocation that begins after a position of a session's log;
// nil if the position is the newest one. The store checks that the invocation begins there.
func (a *api) invocationAfter(c *rest.Call, sessionID string, seq int64) (*string, error) {
	page, err := a.Sessions.Events(c.Context(), c.User, sessionID, session.EventQuery{View: session.All, After: max(0, seq-1), Limit: 2})
	if err != nil {
		return nil, err
	}
	found := seq == 0
	for _, e := range page.Events {
		if e.Seq == seq {
			found = true
		} else if e.Seq == seq+1 && found {
			return &e.InvocationID, nil
		}
	}
	if !found {
		return nil, rest.FieldFault(fault.InvocationNotFound, "/"+atSeqField, "must be a position of the session's log")
	}
	return nil, nil
}
