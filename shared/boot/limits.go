package boot

import (
	"cmp"
	"fmt"
	"os"
	"strconv"

	"github.com/rethread/rethread/shared/client/agent/agentconfig"
	"github.com/rethread/rethread/shared/domain/quota"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// retentionVariable is the environment variable with the retention of sessions whose
// agents configure none (docs/limits.md).
const retentionVariable = "RETENTION"

// retention returns the default retention of sessions: that of their agent's
// configuration, otherwise the deployment's.
func retention(agents agentconfig.Agents) (session.Retention, error) {
	otherwise, err := session.ParseRetention(os.Getenv(retentionVariable))
	if err != nil {
		return nil, fmt.Errorf("the environment variable %s: %w", retentionVariable, err)
	}
	return func(name string) int64 { return cmp.Or(agents.Retention(name), otherwise) }, nil
}

// Quotas returns the limits per user in an environment; a variable that is unset or 0
// means no limit, and for KEEP_AGENT_REQUESTS that nothing is kept.
func Quotas(getenv func(string) string) (l quota.Limits, err error) {
	for variable, into := range map[string]*int64{
		"MAX_SESSIONS": &l.Sessions, "MAX_RUNS": &l.Runs, "MAX_BYTES": &l.Bytes,
		"MAX_STREAMS": &l.Streams, "KEEP_AGENT_REQUESTS": &l.RequestDays,
	} {
		text := getenv(variable)
		if text == "" {
			continue
		}
		if *into, err = strconv.ParseInt(text, 10, 64); err != nil || *into < 0 {
			return l, fmt.Errorf("the environment variable %s must be a number from 0 on, not %q", variable, text)
		}
	}
	if l.RequestDays > run.MaxSentDays {
		return l, fmt.Errorf("the environment variable KEEP_AGENT_REQUESTS must be at most %d days, not %d", run.MaxSentDays, l.RequestDays)
	}
	return l, nil
}
