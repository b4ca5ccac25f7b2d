// Package npm reads in a package-lock.json under which licences what is shipped
// of it may be used.
package npm

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/github/go-spdx/v2/spdxexp"
)

// lock is a package-lock.json, lockfileVersion 2 or 3.
type lock struct {
	Packages map[string]struct {
		License string `json:"license"` // an SPDX expression
		Dev     bool   `json:"dev"`     // needed to build and test only
		Link    bool   `json:"link"`    // a folder of this repository
	} `json:"packages"`
}

// Check returns a line for each package that is shipped and not under one of the
// allowed licences, SPDX ids, and how many packages are shipped.
func Check(text []byte, allowed []string) (faults []string, shipped int, err error) {
	var l lock
	if err := json.Unmarshal(text, &l); err != nil {
		return nil, 0, fmt.Errorf("read a package-lock.json: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(l.Packages)) {
		p := l.Packages[name]
		if name == "" || p.Dev || p.Link { // "" is the root, which is ours
			continue
		}
		shipped++
		switch fine, err := spdxexp.Satisfies(p.License, allowed); {
		case p.License == "":
			faults = append(faults, name+" names no licence")
		case err != nil:
			faults = append(faults, fmt.Sprintf("%s: %q is no licence that SPDX knows", name, p.License))
		case !fine:
			faults = append(faults, fmt.Sprintf("%s is under %s", name, p.License))
		}
	}
	return faults, shipped, nil
}
