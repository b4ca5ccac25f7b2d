// Package npm checks the licences of the packages in a package-lock.json that are
// shipped.
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

// Check returns a line for each shipped package without an allowed licence (SPDX
// ids), and the number of shipped packages.
func Check(text []byte, allowed []string) (faults []string, shipped int, err error) {
	var l lock
	if err := json.Unmarshal(text, &l); err != nil {
		return nil, 0, fmt.Errorf("read a package-lock.json: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(l.Packages)) {
		p := l.Packages[name]
		if name == "" || p.Dev || p.Link { // "" is the root package
			continue
		}
		shipped++
		switch fine, err := spdxexp.Satisfies(p.License, allowed); {
		case p.License == "":
			faults = append(faults, name+" has no licence")
		case err != nil:
			faults = append(faults, fmt.Sprintf("%s: %q is not an SPDX expression", name, p.License))
		case !fine:
			faults = append(faults, fmt.Sprintf("%s has the licence %s", name, p.License))
		}
	}
	return faults, shipped, nil
}
