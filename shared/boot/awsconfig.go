package boot

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
)

// AWSConfig configures clients of AWS from the environment that Lambda gives to a
// function. The SDK's own loader also reads files, and brings the clients of single
// sign-on and of roles, 2 MB of each function, which Lambda would load at each cold
// start.
func AWSConfig(getenv func(string) string) aws.Config {
	return aws.Config{
		Region: getenv("AWS_REGION"),
		Credentials: credentials.NewStaticCredentialsProvider( // valid as long as the process lives
			getenv("AWS_ACCESS_KEY_ID"), getenv("AWS_SECRET_ACCESS_KEY"), getenv("AWS_SESSION_TOKEN"),
		),
		Retryer:       func() aws.Retryer { return retry.AddWithMaxAttempts(retry.NewStandard(), maxAttempts) },
		ConfigSources: []any{endpoints{getenv}},
	}
}

// endpoints answers the SDK's questions about endpoints from the environment.
type endpoints struct{ getenv func(string) string }

// GetServiceBaseEndpoint returns the address of a service, if one is configured.
func (e endpoints) GetServiceBaseEndpoint(_ context.Context, service string) (string, bool, error) {
	const general = "AWS_ENDPOINT_URL"
	own := general + "_" + strings.ToUpper(strings.ReplaceAll(service, " ", "_"))
	for _, name := range []string{own, general} {
		if url := e.getenv(name); url != "" {
			return url, true, nil
		}
	}
	return "", false, nil
}

// GetUseFIPSEndpoint returns whether to use endpoints with validated cryptography.
func (e endpoints) GetUseFIPSEndpoint(context.Context) (aws.FIPSEndpointState, bool, error) {
	switch strings.ToLower(e.getenv("AWS_USE_FIPS_ENDPOINT")) {
	case "true":
		return aws.FIPSEndpointStateEnabled, true, nil
	case "false":
		return aws.FIPSEndpointStateDisabled, true, nil
	}
	return aws.FIPSEndpointStateUnset, false, nil
}

// GetUseDualStackEndpoint returns whether to use endpoints with IPv6 addresses.
func (e endpoints) GetUseDualStackEndpoint(context.Context) (aws.DualStackEndpointState, bool, error) {
	switch strings.ToLower(e.getenv("AWS_USE_DUALSTACK_ENDPOINT")) {
	case "true":
		return aws.DualStackEndpointStateEnabled, true, nil
	case "false":
		return aws.DualStackEndpointStateDisabled, true, nil
	}
	return aws.DualStackEndpointStateUnset, false, nil
}
