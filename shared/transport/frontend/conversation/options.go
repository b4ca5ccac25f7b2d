package conversation

import (
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/run"
)

// Options are what a request asks of Rethread, in a member of this name.
type Options struct {
	OnActive run.OnActive
	// Append adds new messages at the end of a thread that has gone on without the
	// front end, instead of rewinding it.
	Append bool
	// Regenerate runs the last message of the list again, after a rewind.
	Regenerate bool
	// Edit is the id of a message that the list has with another content; the session
	// is rewound before it. "" for none.
	Edit string
}

// ParseOptions reads the options in the member rethread of an object, which may be
// absent, and returns that member for those of one protocol.
func ParseOptions(of jsonx.Object) (own jsonx.Object, out Options, err error) {
	out.OnActive = run.Reject
	if jsonx.IsNull(of.Members["rethread"]) {
		return own, out, nil
	}
	if own, err = of.Object("rethread"); err != nil {
		return own, out, err
	}
	active, err := own.Choice("on_active", string(run.Reject), string(run.CancelAndMerge), string(run.Enqueue))
	if err != nil {
		return own, out, err
	}
	out.OnActive = run.OnActive(active)
	diverges, err := own.Choice("on_divergence", "rewind", "append")
	out.Append = diverges == "append"
	return own, out, err
}
