// Package parameters completes the environment of a function with parameters of AWS
// Systems Manager: configuration that is too large for an environment, and secrets,
// which SecureStrings encrypt. It implements the one operation that this requires and
// signs it with the SDK's signer: the SDK's client of that service would make every
// function larger by 5 MB.
package parameters

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/cenkalti/backoff/v5"
)

const (
	// Suffix ends the names of variables that name a parameter: AGENTS_PARAMETER
	// names the parameter with the value of AGENTS.
	Suffix = "_PARAMETER"

	atOnce      = 10              // names per request, the service's limit
	patience    = 8 * time.Second // of a cold start, which Lambda ends after 10
	maxTries    = 4
	maxResponse = 1 << 20
)

// ErrUnreadable says that a function cannot read its configuration.
var ErrUnreadable = errors.New("parameters of Systems Manager")

// Client reads parameters.
type Client struct {
	HTTP        *http.Client
	Credentials aws.Credentials
	Region      string
	// Endpoint overrides the region's endpoint if it is not empty.
	Endpoint string
	Now      func() time.Time
}

// Read returns the variables that an environment, in the form of os.Environ, leaves
// to parameters. A missing or empty parameter is an error; errors never quote a
// value. If no variable names a parameter, no request is sent.
func (c Client) Read(ctx context.Context, environment []string) (map[string]string, error) {
	wanted := map[string][]string{} // variables by parameter
	for _, pair := range environment {
		name, parameter, _ := strings.Cut(pair, "=")
		if variable, ok := strings.CutSuffix(name, Suffix); ok && variable != "" && parameter != "" {
			wanted[parameter] = append(wanted[parameter], variable)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	values := map[string]string{}
	for names := range slices.Chunk(slices.Sorted(maps.Keys(wanted)), atOnce) {
		found, err := c.Get(ctx, names)
		if err != nil {
			return nil, fmt.Errorf("%w: read %s: %w", ErrUnreadable, strings.Join(names, ", "), err)
		}
		for _, name := range names {
			for _, variable := range wanted[name] {
				if found[name] == "" {
					return nil, fmt.Errorf("%w: %s, which is to hold %s, is not there or empty", ErrUnreadable, name, variable)
				}
				values[variable] = found[name]
			}
		}
	}
	return values, nil
}

// Get reads parameters by their names, at most ten; those that are missing are absent.
func (c Client) Get(ctx context.Context, names []string) (map[string]string, error) {
	return backoff.Retry(ctx, func() (map[string]string, error) { return c.get(ctx, names) }, backoff.WithMaxTries(maxTries))
}

// get sends one request; an error that a retry cannot repair is permanent.
func (c Client) get(ctx context.Context, names []string) (map[string]string, error) {
	body, err := json.Marshal(map[string]any{"Names": names, "WithDecryption": true})
	if err != nil {
		return nil, backoff.Permanent(err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint(), bytes.NewReader(body))
	if err != nil {
		return nil, backoff.Permanent(err)
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.1")
	r.Header.Set("X-Amz-Target", "AmazonSSM.GetParameters")
	digest := sha256.Sum256(body)
	if err := v4.NewSigner().SignHTTP(ctx, c.Credentials, r, hex.EncodeToString(digest[:]), "ssm", c.Region, c.Now()); err != nil {
		return nil, backoff.Permanent(err)
	}
	resp, err := c.HTTP.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, refusal(resp.StatusCode, text)
	}
	var out struct {
		Parameters []struct{ Name, Value string }
	}
	if json.Unmarshal(text, &out) != nil {
		return nil, errors.New("the answer is no JSON")
	}
	found := map[string]string{}
	for _, p := range out.Parameters {
		found[p.Name] = p.Value
	}
	return found, nil
}

// refusal is the service's answer to a request that it refuses.
func refusal(status int, text []byte) error {
	var said struct {
		Type    string `json:"__type"`
		Message string `json:"message"`
	}
	_ = json.Unmarshal(text, &said) // without it, the status is enough
	err := fmt.Errorf("status %d: %s: %s", status, said.Type, said.Message)
	if status < http.StatusInternalServerError && !strings.Contains(said.Type, "Throttl") {
		return backoff.Permanent(err)
	}
	return err
}

func (c Client) endpoint() string {
	if c.Endpoint != "" {
		return c.Endpoint
	}
	suffix := "amazonaws.com"
	if strings.HasPrefix(c.Region, "cn-") {
		suffix += ".cn"
	}
	return "https://ssm." + c.Region + "." + suffix + "/"
}
