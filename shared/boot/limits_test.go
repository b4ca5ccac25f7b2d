package boot_test

import (
	"strings"
	"testing"

	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/domain/quota"
)

func TestQuotas(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env     map[string]string
		want    quota.Limits
		refused string // the variable that is named
	}{
		"none":                         {},
		"none by 0":                    {env: map[string]string{"KEEP_AGENT_REQUESTS": "0", "MAX_BYTES": "0"}},
		"each has its variable":        {env: each("5"), want: quota.Limits{Sessions: 5, Runs: 5, Bytes: 5, Streams: 5, RequestDays: 5}},
		"requests for ninety days":     {env: map[string]string{"KEEP_AGENT_REQUESTS": "90"}, want: quota.Limits{RequestDays: 90}},
		"not for longer":               {env: map[string]string{"KEEP_AGENT_REQUESTS": "91"}, refused: "KEEP_AGENT_REQUESTS"},
		"not for a duration":           {env: map[string]string{"KEEP_AGENT_REQUESTS": "7d"}, refused: "KEEP_AGENT_REQUESTS"},
		"not for less than nothing":    {env: map[string]string{"KEEP_AGENT_REQUESTS": "-1"}, refused: "KEEP_AGENT_REQUESTS"},
		"another limit is no fraction": {env: map[string]string{"MAX_BYTES": "1.5"}, refused: "MAX_BYTES"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := boot.Quotas(func(name string) string { return c.env[name] })
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error(), c.refused) {
					t.Errorf("%+v, %v, want a refusal of %s", got, err, c.refused)
				}
				return
			}
			if err != nil || got != c.want {
				t.Errorf("%+v, %v, want %+v", got, err, c.want)
			}
		})
	}
}

func each(value string) map[string]string {
	env := map[string]string{}
	for _, name := range []string{"MAX_SESSIONS", "MAX_RUNS", "MAX_BYTES", "MAX_STREAMS", "KEEP_AGENT_REQUESTS"} {
		env[name] = value
	}
	return env
}
