package boot

import (
	"cmp"
	"fmt"
	"os"

	"github.com/rethread/rethread/shared/agent"
	"github.com/rethread/rethread/shared/session"
)

// retentionVariable names the environment variable that says how long sessions
// are kept whose agents say nothing about it (docs/limits.md).
const retentionVariable = "RETENTION"

// retention is how long sessions are kept that say nothing about it themselves:
// as their agent's configuration has it, else as the deployment has it.
func retention(agents agent.Directory) (session.Retention, error) {
	otherwise, err := session.ParseRetention(os.Getenv(retentionVariable))
	if err != nil {
		return nil, fmt.Errorf("the environment variable %s: %w", retentionVariable, err)
	}
	return func(name string) int64 { return cmp.Or(agents.Retention(name), otherwise) }, nil
}
