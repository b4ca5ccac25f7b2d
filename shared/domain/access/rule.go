package access

import "github.com/rethread/rethread/shared/base/fault"

// Action is an operation on a session.
type Action string

// The actions, grouped by the right that they need. All transports use the same
// ones.
const (
	ReadSession   Action = "read"           // the session itself, its thread, events and state
	ReadTasks     Action = "read tasks"     // tasks, messages, feedback on them
	ReadArtifacts Action = "read artifacts" // contents, lists, versions
	ReadRun       Action = "read a run"
	ReadForks     Action = "read the tree of forks"
	Watch         Action = "watch"

	AppendEvents Action = "append events"
	StartRun     Action = "start a run"
	PushRun      Action = "push what an agent produced"
	CancelRun    Action = "cancel a run"
	Rewind       Action = "rewind"
	SaveTask     Action = "save a task"
	DeleteTask   Action = "delete a task"
	GiveFeedback Action = "give feedback"
	PutArtifact  Action = "put an artifact"

	Rename         Action = "change name and metadata"
	Delete         Action = "delete"
	DeleteArtifact Action = "delete an artifact"
	Fork           Action = "fork"
	Export         Action = "export"
	Share          Action = "share"
	Notify         Action = "have others notified" // push notifications to an address

	// ReadRequests shows instructions and tools that a conversation does not, so guests
	// may not, but admins may.
	ReadRequests Action = "read what agents were sent"
)

// Right returns the right that an action needs. An unlisted action needs OwnerOnly,
// so that a forgotten one gives no access.
func (a Action) Right() Right {
	switch a {
	case ReadSession, ReadTasks, ReadArtifacts, ReadRun, ReadForks, Watch:
		return Read
	case AppendEvents, StartRun, PushRun, CancelRun, Rewind, SaveTask, DeleteTask, GiveFeedback, PutArtifact:
		return Write
	case Rename, Delete, DeleteArtifact, Fork, Export, Share, Notify, ReadRequests:
		return OwnerOnly
	}
	return OwnerOnly
}

// admits reports whether the action is open to admins.
func (a Action) admits() bool { return a.Right() == Read || a == ReadRequests }

// CallerGrants describes a caller's relation to a session.
type CallerGrants struct {
	Owner string
	// Log is the session's log; a session that is created again under the same id
	// has another.
	Log    string
	Grants []Grant // from existing shares; some may have expired
}

// Grant is a right that a share gives a user.
type Grant struct {
	Share string
	Right Right
	Until int64 // epoch milliseconds, 0 for unlimited
}

// active reports whether the grant applies at a time; it no longer applies in the
// millisecond of its end.
func (g Grant) active(now int64) bool { return g.Until == 0 || now < g.Until }

// exceeds reports whether a grant gives more than another: by its right, then by
// its end.
func (g Grant) exceeds(other Grant) bool {
	if g.Right != other.Right {
		return g.Right > other.Right
	}
	return other.Until != 0 && (g.Until == 0 || g.Until > other.Until)
}

// Decide is the access rule. It returns the permission of a caller who may carry
// out an action, or the fault of one who may not. now is in epoch milliseconds.
func Decide(c Caller, s CallerGrants, a Action, now int64) (Permission, error) {
	if c.UserID == s.Owner {
		return ownerPermission(c), nil
	}
	best := Grant{}
	for _, g := range s.Grants {
		if g.active(now) && (best.Right == None || g.exceeds(best)) {
			best = g
		}
	}
	permission := Permission{Owner: s.Owner, By: c, Right: min(best.Right, Write), Share: best.Share, Until: best.Until}
	switch {
	case permission.Right >= a.Right():
		if c.Admin && a.Right() == Read { // sees more than a guest
			return Permission{Owner: s.Owner, By: c, Right: Read}, nil
		}
		return permission, nil
	case c.Admin && a.admits():
		return Permission{Owner: s.Owner, By: c, Right: Read}, nil
	case permission.Right != None:
		return Permission{}, refusal(a, permission)
	case c.Admin:
		return Permission{}, refusal(a, Permission{Right: Read})
	default:
		return Permission{}, fault.NotYours("session")
	}
}
