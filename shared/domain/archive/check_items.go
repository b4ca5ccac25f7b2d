package archive

import (
	"strconv"
	"strings"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/artifact"
)

func (c *checker) tasks() error {
	for i, t := range c.part.Tasks {
		if err := t.checkPlaces(c.After.Log.Next, "/tasks/"+strconv.Itoa(i)); err != nil {
			return err
		}
	}
	return nil
}

// checkPlaces checks that a task is at events before a seq.
func (t Task) checkPlaces(next int64, at string) error {
	const known = "must be the seq of an event before it"
	if t.Place >= next {
		return fault.Field(fault.Invalid, at+"/place", known)
	}
	for id, place := range t.Places {
		if place >= next {
			return fault.Field(fault.Invalid, at+"/places/"+jsonx.EscapePointer(id), known)
		}
	}
	for i, id := range t.Named {
		if _, ok := t.Places[id]; !ok {
			return fault.Field(fault.Invalid, at+"/named/"+strconv.Itoa(i), "must be one of places")
		}
	}
	return nil
}

// Stored finds a version of an artifact in earlier parts, by the name that the
// document gives it; nil for none.
type Stored func(name string, version int64) (*Artifact, error)

// Target is the version whose bytes a restored version has. Missing is set if that
// version refers to one that does not exist any more.
type Target struct {
	Version int64
	Missing bool
}

func (c *checker) artifacts(stored Stored) error {
	type version struct {
		name   string
		number int64
	}
	seen := map[version]bool{}
	for i, a := range c.part.Artifacts {
		at := "/artifacts/" + strconv.Itoa(i)
		v := version{a.Name, a.Version}
		if seen[v] {
			return fault.Field(fault.Invalid, at+"/version", "exists already, under the same name")
		}
		seen[v] = true
		if strings.HasPrefix(a.Name, artifact.UserPrefix) {
			c.After.Shared++
		}
		if c.After.Shared > MaxShared {
			return fault.Field(fault.Invalid, at, "is one too many: a document may hold %d versions of user: artifacts", MaxShared)
		}
		if a.Gone || a.Missing || a.Restored == nil {
			continue
		}
		target, err := c.follow(i, at, stored)
		if err != nil {
			return err
		}
		c.Targets[i] = target
	}
	return nil
}

// follow finds the version with the bytes of a restored one: an earlier one in the
// document, which may have been restored itself.
func (c *checker) follow(i int, at string, stored Stored) (Target, error) {
	name := c.part.Artifacts[i].Name
	seen := map[int64]bool{}
	for number := *c.part.Artifacts[i].Restored; ; {
		found, err := c.versionBefore(name, number, i, stored)
		if err != nil {
			return Target{}, err
		}
		if found == nil || found.Gone || seen[number] {
			return Target{}, fault.Field(fault.Invalid, at+"/restored", "must be a version before it")
		}
		if found.Restored == nil {
			return Target{Version: number, Missing: found.Missing}, nil
		}
		seen[number] = true
		number = *found.Restored
	}
}

// versionBefore finds a version in the part before an index, or in earlier parts.
func (c *checker) versionBefore(name string, number int64, i int, stored Stored) (*Artifact, error) {
	for _, a := range c.part.Artifacts[:i] {
		if a.Name == name && a.Version == number {
			return &a, nil
		}
	}
	return stored(name, number)
}
