package system

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/rethread/rethread/infra/local/stackinfo"
)

var errNoTable = errors.New("the system has no table")

// Table is the name of the system's table.
func (s *System) Table(ctx context.Context) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/dev/stack", nil)
	if err != nil {
		return "", err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", fmt.Errorf("describe the system: %w", err)
	}
	defer res.Body.Close() //nolint:errcheck // read to its end
	var stack stackinfo.Stack
	if err := json.NewDecoder(res.Body).Decode(&stack); err != nil {
		return "", fmt.Errorf("describe the system: %w", err)
	}
	for _, r := range stack.Resources {
		if r.Type == "AWS::DynamoDB::Table" {
			return r.PhysicalID, nil
		}
	}
	return "", errNoTable
}
