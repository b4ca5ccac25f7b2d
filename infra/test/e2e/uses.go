package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/rethread/rethread/infra/local/iam"
)

// readUses reads what several systems wrote, one after the other, and adds it up.
func readUses(file string) ([]iam.Use, error) {
	in, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("read what permissions were used for: %w", err)
	}
	defer in.Close() //nolint:errcheck // it is only read
	var uses []iam.Use
	places := map[iam.Use]int{} // by all members except the number of calls
	for lines := json.NewDecoder(in); ; {
		var use iam.Use
		switch err := lines.Decode(&use); {
		case errors.Is(err, io.EOF):
			return uses, nil
		case err != nil:
			return nil, fmt.Errorf("read what permissions were used for: %w", err)
		}
		key := use
		key.Calls = 0
		at, seen := places[key]
		if !seen {
			places[key] = len(uses)
			uses = append(uses, use)
			continue
		}
		uses[at].Calls += use.Calls
	}
}
