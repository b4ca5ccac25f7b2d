package table

// Change is what an update does to one member: one of the types below, each made by
// a function. The paths of an update's changes neither repeat nor contain one
// another, and none is a key. All changes see the item as it was before the update.
type Change interface{ isChange() }

// The changes, exported for engines.
type (
	// Setting sets a member to a value.
	Setting struct {
		Path  Path
		Value any
		// IfAbsent keeps an existing value.
		IfAbsent bool
	}
	// Adding adds to a number; a missing member counts as 0.
	Adding struct {
		Path Path
		N    int64
	}
	// Appending appends values to a list; it creates a missing list.
	Appending struct {
		Path   Path
		Values []any
	}
	// SetChanging adds strings to a set or removes them. Adding creates a missing
	// set, and a set without strings is removed.
	SetChanging struct {
		Path   Path
		Values []string
		Out    bool
	}
	// Removing removes a member if it exists.
	Removing struct{ Path Path }
)

func (Setting) isChange()     {}
func (Adding) isChange()      {}
func (Appending) isChange()   {}
func (SetChanging) isChange() {}
func (Removing) isChange()    {}

// Set sets a member to a value. If the member is in a map, the map must exist.
func Set(p Path, v any) Change { return Setting{Path: p, Value: v} }

// SetIfAbsent sets a member to a value unless the member exists.
func SetIfAbsent(p Path, v any) Change { return Setting{Path: p, Value: v, IfAbsent: true} }

// Add adds n to a number; a missing number counts as 0.
func Add(p Path, n int64) Change { return Adding{Path: p, N: n} }

// Append appends values to a list.
func Append(p Path, values ...any) Change { return Appending{Path: p, Values: values} }

// AddToSet adds strings to a set; strings already in it stay. The set must be a
// member of the item itself, not of a map.
func AddToSet(p Path, values ...string) Change { return SetChanging{Path: p, Values: values} }

// RemoveFromSet removes strings from a set; strings that are not in it are ignored.
func RemoveFromSet(p Path, values ...string) Change {
	return SetChanging{Path: p, Values: values, Out: true}
}

// Remove removes a member.
func Remove(p Path) Change { return Removing{Path: p} }
