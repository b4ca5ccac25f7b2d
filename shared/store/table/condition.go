package table

// Path leads to a member of an item, or of a map within it. Names are literal: dots
// and brackets have no special meaning.
type Path []string

// Condition is what must hold for a write to happen: one of the types below, each
// made by the function of its name. Values are encoded by EncodeValue.
//
// A comparison does not hold for a member that is missing or of another type.
// Numbers compare as numbers, strings and bytes by their bytes.
type Condition interface{ isCondition() }

// The conditions, exported for engines.
type (
	// Presence holds if a member exists, or does not exist.
	Presence struct {
		Path    Path
		Present bool
	}
	// Comparison compares a member, or its size, with a value.
	Comparison struct {
		Path  Path
		Size  bool // compare the size instead: members of a map, list or set; bytes of a string or binary
		Op    Operator
		Value any
	}
	// Containing holds if a set or list contains the value, or a string contains it
	// as a substring.
	Containing struct {
		Path  Path
		Value any
	}
	// Every holds if all conditions hold.
	Every struct{ Of []Condition }
	// Any holds if at least one condition holds.
	Any struct{ Of []Condition }
	// Negation holds if the condition does not hold.
	Negation struct{ Of Condition }
)

// Operator is a comparison operator.
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

// Exists holds if the member exists.
func Exists(p Path) Condition { return Presence{Path: p, Present: true} }

// NotExists holds if the member does not exist.
func NotExists(p Path) Condition { return Presence{Path: p} }

// ItemExists holds if an item is stored under the key.
func ItemExists() Condition { return Exists(Path{PK}) }

// ItemNotExists holds if no item is stored under the key.
func ItemNotExists() Condition { return NotExists(Path{PK}) }

// Equal holds if the member equals the value; the order in sets does not matter.
func Equal(p Path, v any) Condition { return Comparison{Path: p, Op: OpEqual, Value: v} }

// NotEqual holds if the member has another value or does not exist.
func NotEqual(p Path, v any) Condition { return Comparison{Path: p, Op: OpNotEqual, Value: v} }

// Less holds if the member is less than the value.
func Less(p Path, v any) Condition { return Comparison{Path: p, Op: OpLess, Value: v} }

// AtMost holds if the member is less than or equal to the value.
func AtMost(p Path, v any) Condition { return Comparison{Path: p, Op: OpAtMost, Value: v} }

// Greater holds if the member is greater than the value.
func Greater(p Path, v any) Condition { return Comparison{Path: p, Op: OpGreater, Value: v} }

// AtLeast holds if the member is greater than or equal to the value.
func AtLeast(p Path, v any) Condition { return Comparison{Path: p, Op: OpAtLeast, Value: v} }

// SizeLess holds if the member exists and its size is less than n: the members of a
// map, list or set, or the bytes of a string or binary.
func SizeLess(p Path, n int) Condition {
	return Comparison{Path: p, Size: true, Op: OpLess, Value: n}
}

// Contains holds if a set or list contains the value, or a string contains it as a
// substring.
func Contains(p Path, v any) Condition { return Containing{Path: p, Value: v} }

// And holds if all conditions hold. It needs at least one condition.
func And(of ...Condition) Condition { return Every{Of: of} }

// Or holds if at least one of the conditions holds. It needs at least one
// condition.
func Or(of ...Condition) Condition { return Any{Of: of} }

// Not holds if the condition does not hold.
func Not(of Condition) Condition { return Negation{Of: of} }
