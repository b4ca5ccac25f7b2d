package delivery

import "strings"

// Kind is a kind of target: what is sent to it, and where it is configured.
type Kind string

// Target is a receiver. Its name identifies it to its kind's MessageBuilder.
type Target struct {
	Kind Kind   `json:"kind"`
	Name string `json:"name"`
	// Family, if not "", is shared by targets that are removed together: it finds
	// their lanes.
	Family string `json:"family,omitempty"`
}

// Group is the group within which deliveries to this target keep their order.
func (t Target) Group() string {
	group := digest(string(t.Kind), t.Name)
	if t.Family == "" {
		return group
	}
	return JoinGroup(FamilyGroup(t.Kind, t.Family), group)
}

// groupSeparator separates the two parts of the group of a target in a family.
const groupSeparator = "."

// FamilyGroup is the prefix of the groups of all targets of a family.
func FamilyGroup(k Kind, family string) string { return digest(string(k), family) }

// JoinGroup returns the group of a member of a family.
func JoinGroup(family, member string) string { return family + groupSeparator + member }

// SplitGroup splits a group into family and member; member is "" for a target
// without a family, and for a family alone.
func SplitGroup(group string) (family, member string) {
	family, member, _ = strings.Cut(group, groupSeparator)
	return family, member
}
