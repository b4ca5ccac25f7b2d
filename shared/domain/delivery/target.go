package delivery

import "strings"

// Kind is a kind of targets: what is sent to them, and where that is configured.
type Kind string

// Target is who is told. Its name says to its kind's MessageBuilder which one it is.
type Target struct {
	Kind Kind   `json:"kind"`
	Name string `json:"name"`
	// Family, unless it is "", is what several targets have in common that go
	// together: their lanes are found by it.
	Family string `json:"family,omitempty"`
}

// Group names the order that deliveries to this target keep.
func (t Target) Group() string {
	group := digest(string(t.Kind), t.Name)
	if t.Family == "" {
		return group
	}
	return JoinGroup(FamilyGroup(t.Kind, t.Family), group)
}

// groupSeparator stands between the two parts of the group of a target of a family.
const groupSeparator = "."

// FamilyGroup is what the groups of all targets of a family begin with.
func FamilyGroup(k Kind, family string) string { return digest(string(k), family) }

// JoinGroup is the group of a member of a family.
func JoinGroup(family, member string) string { return family + groupSeparator + member }

// SplitGroup is what a group was made of; member is "" where its target is of no
// family, and the family alone.
func SplitGroup(group string) (family, member string) {
	family, member, _ = strings.Cut(group, groupSeparator)
	return family, member
}
