package table

// Change is what an update does to one member: one of the types below, each made by
// a function. The paths of an update's changes neither repeat nor contain one
// another, and none is of a key. All changes see the item as it was before.
type Change interface{ isChange() }

// The changes, for engines to look into.
type (
	// Setting gives a member a value.
	Setting struct {
		Path  Path
		Value any
		// IfAbsent leaves a member that is there.
		IfAbsent bool
	}
	// Adding adds to a number; a member that is absent counts as 0.
	Adding struct {
		Path Path
		N    int64
	}
	// Appending puts values at the end of a list, which it makes where there is none.
	Appending struct {
		Path   Path
		Values []any
	}
	// SetChanging adds strings to a set or takes them out. A set goes when it is
	// empty, and is made by its first member.
	SetChanging struct {
		Path   Path
		Values []string
		Out    bool
	}
	// Removing removes a member, if it is there.
	Removing struct{ Path Path }
)

func (Setting) isChange()     {}
func (Adding) isChange()      {}
func (Appending) isChange()   {}
func (SetChanging) isChange() {}
func (Removing) isChange()    {}

// Set gives a member a value. The map that holds the member must be there.
func Set(p Path, v any) Change { return Setting{Path: p, Value: v} }

// SetIfAbsent gives a member a value unless it has one.
func SetIfAbsent(p Path, v any) Change { return Setting{Path: p, Value: v, IfAbsent: true} }

// Add adds to a number, which is 0 where it is absent.
func Add(p Path, n int64) Change { return Adding{Path: p, N: n} }

// Append puts values at the end of a list.
func Append(p Path, values ...any) Change { return Appending{Path: p, Values: values} }

// AddToSet adds strings to a set; those that are there stay. It takes a member of
// the item itself, not of a map within.
func AddToSet(p Path, values ...string) Change { return SetChanging{Path: p, Values: values} }

// RemoveFromSet takes strings out of a set; those that are not there do not matter.
func RemoveFromSet(p Path, values ...string) Change {
	return SetChanging{Path: p, Values: values, Out: true}
}

// Remove removes a member.
func Remove(p Path) Change { return Removing{Path: p} }
