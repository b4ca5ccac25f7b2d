package conversation

import (
	"slices"
	"strings"

	"github.com/rethread/rethread/shared/base/fault"
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
	active, err := Choice(own, "on_active", string(run.Reject), string(run.CancelAndMerge), string(run.Enqueue))
	if err != nil {
		return own, out, err
	}
	out.OnActive = run.OnActive(active)
	diverges, err := Choice(own, "on_divergence", "rewind", "append")
	out.Append = diverges == "append"
	return own, out, err
}

// Choice reads an optional member with one of some values; the first is the default.
func Choice(o jsonx.Object, name string, values ...string) (string, error) {
	value, err := o.Text(name)
	switch {
	case err != nil:
		return "", err
	case value == "":
		return values[0], nil
	case !slices.Contains(values, value):
		return "", fault.Field(fault.Invalid, o.Pointer(name), "must be one of: %s", strings.Join(values, ", "))
	}
	return value, nil
}
