package lambda

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rethread/rethread/infra/local/samtemplate"
)

// MaxEnvironmentBytes limits the variables of a function, measured as Lambda does:
// as one JSON object.
const MaxEnvironmentBytes = 4096

// ErrEnvironment means that a function's environment is too large for Lambda.
var ErrEnvironment = errors.New("the environment variables exceed Lambda's 4 KB limit")

// CheckEnvironment returns an error that names the largest variables if they
// exceed Lambda's limit.
func CheckEnvironment(f samtemplate.Function) error {
	size, err := environmentBytes(f.Environment)
	if err != nil || size <= MaxEnvironmentBytes {
		return err
	}
	names := slices.SortedFunc(maps.Keys(f.Environment), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(f.Environment[b]), len(f.Environment[a])), cmp.Compare(a, b))
	})
	var largest []string
	for _, name := range names[:min(3, len(names))] {
		one, err := environmentBytes(map[string]string{name: f.Environment[name]})
		if err != nil {
			return err
		}
		largest = append(largest, fmt.Sprintf("%s takes %d", name, one-len("{}")))
	}
	return fmt.Errorf("function %s: %w: %d bytes as JSON, of %d; %s. Put large values into SSM parameters (docs/operation.md)",
		f.LogicalID, ErrEnvironment, size, MaxEnvironmentBytes, strings.Join(largest, ", "))
}

func environmentBytes(variables map[string]string) (int, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(variables); err != nil {
		return 0, fmt.Errorf("measure the environment: %w", err)
	}
	return text.Len() - len("\n"), nil
}

// environment is Lambda's own variables, then the template's, then those that keep
// the SDK's clients on this machine. The host's own environment is not passed on.
func (w *worker) environment() []string {
	f, opts := w.pool.Function, w.pool.host.opts
	vars := map[string]string{
		"AWS_ACCESS_KEY_ID":               f.LogicalID, // identifies the caller to the services
		"AWS_SECRET_ACCESS_KEY":           "local",
		"AWS_SESSION_TOKEN":               "local",
		"AWS_REGION":                      opts.Region,
		"AWS_DEFAULT_REGION":              opts.Region,
		"AWS_EC2_METADATA_DISABLED":       "true",
		"AWS_ENDPOINT_URL_LAMBDA":         w.pool.host.Endpoint(),
		"AWS_LAMBDA_FUNCTION_NAME":        f.Name,
		"AWS_LAMBDA_FUNCTION_VERSION":     "$LATEST",
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": strconv.Itoa(f.MemoryMB),
		"AWS_LAMBDA_INITIALIZATION_TYPE":  "on-demand",
		"AWS_LAMBDA_LOG_GROUP_NAME":       "/aws/lambda/" + f.Name,
		"AWS_LAMBDA_LOG_STREAM_NAME":      w.id,
		"AWS_LAMBDA_RUNTIME_API":          w.pool.host.address + "/" + w.id,
		"AWS_XRAY_CONTEXT_MISSING":        "LOG_ERROR",
		"LAMBDA_TASK_ROOT":                filepath.Dir(w.pool.Binary),
		"LAMBDA_RUNTIME_DIR":              filepath.Dir(w.pool.Binary),
		"LANG":                            "en_US.UTF-8",
		"PATH":                            "/usr/local/bin:/usr/bin:/bin",
		"TZ":                              ":UTC",
		"_HANDLER":                        f.Handler,
	}
	if f.LogFormat != "" {
		vars["AWS_LAMBDA_LOG_FORMAT"] = f.LogFormat
	}
	if f.LogLevel != "" {
		vars["AWS_LAMBDA_LOG_LEVEL"] = f.LogLevel
	}
	maps.Copy(vars, f.Environment)
	maps.Copy(vars, opts.Environment)
	var environment []string
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		environment = append(environment, name+"="+vars[name])
	}
	return environment
}

func (h *Host) arn(name string) string {
	return fmt.Sprintf("arn:aws:lambda:%s:%s:function:%s", h.opts.Region, h.opts.Account, name)
}
