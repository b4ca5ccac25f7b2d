package table

// Path leads to a member of an item, or of a map within it. Its names are taken as
// they are: dots and the like mean nothing.
type Path []string

// At is a path.
func At(names ...string) Path { return names }

// Condition is what must hold for a write to happen: one of the types below, each
// made by the function of its name. Values are encoded as Encode does.
//
// Comparisons do not hold for members that are absent or of another type. Numbers
// are compared as numbers, strings and bytes by their bytes.
type Condition interface{ isCondition() }

// The conditions, for engines to look into.
type (
	// Presence says whether a member is there.
	Presence struct {
		Path    Path
		Present bool
	}
	// Comparison compares a member, or its size, with a value.
	Comparison struct {
		Path  Path
		Size  bool // of a map's, list's or set's members; of a string or bytes, in bytes
		Op    Operator
		Value any
	}
	// Containing holds where a set has the value, or a string has it as a part.
	Containing struct {
		Path  Path
		Value any
	}
	// Every holds where all do.
	Every struct{ Of []Condition }
	// Any holds where one does.
	Any struct{ Of []Condition }
	// Negation holds where the condition does not.
	Negation struct{ Of Condition }
)

// Operator compares.
type Operator int

// The operators.
const (
	OpEqual Operator = iota + 1
	OpNotEqual
	OpLess
	OpAtMost
	OpGreater
	OpAtLeast
)

func (Presence) isCondition()   {}
func (Comparison) isCondition() {}
func (Containing) isCondition() {}
func (Every) isCondition()      {}
func (Any) isCondition()        {}
func (Negation) isCondition()   {}

// Exists holds where the member is there.
func Exists(p Path) Condition { return Presence{Path: p, Present: true} }

// NotExists holds where the member is not there.
func NotExists(p Path) Condition { return Presence{Path: p} }

// ItemExists holds where an item is stored under the key.
func ItemExists() Condition { return Exists(At(PK)) }

// ItemNotExists holds where nothing is stored under the key.
func ItemNotExists() Condition { return NotExists(At(PK)) }

// Equal holds where the member has the value; sets have no order.
func Equal(p Path, v any) Condition { return Comparison{Path: p, Op: OpEqual, Value: v} }

// NotEqual holds where the member has another value, or is not there.
func NotEqual(p Path, v any) Condition { return Comparison{Path: p, Op: OpNotEqual, Value: v} }

// Less holds where the member is less than the value.
func Less(p Path, v any) Condition { return Comparison{Path: p, Op: OpLess, Value: v} }

// AtMost holds where the member is not greater than the value.
func AtMost(p Path, v any) Condition { return Comparison{Path: p, Op: OpAtMost, Value: v} }

// Greater holds where the member is greater than the value.
func Greater(p Path, v any) Condition { return Comparison{Path: p, Op: OpGreater, Value: v} }

// AtLeast holds where the member is not less than the value.
func AtLeast(p Path, v any) Condition { return Comparison{Path: p, Op: OpAtLeast, Value: v} }

// SizeLess holds where the member is there and smaller than a size: a map, list or
// set by its members, a string or bytes by their bytes.
func SizeLess(p Path, n int) Condition {
	return Comparison{Path: p, Size: true, Op: OpLess, Value: n}
}

// Contains holds where a set or list has the value, or a string has it as a part.
func Contains(p Path, v any) Condition { return Containing{Path: p, Value: v} }

// And holds where all conditions do, of which there is at least one.
func And(of ...Condition) Condition { return Every{Of: of} }

// Or holds where one of the conditions does, of which there is at least one.
func Or(of ...Condition) Condition { return Any{Of: of} }

// Not holds where the condition does not.
func Not(of Condition) Condition { return Negation{Of: of} }
