package boot

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/rethread/rethread/shared/client/parameters"
)

// completeEnvironment sets the variables whose values are in parameters of Systems
// Manager, once at a cold start, before any code or library reads them. It uses the
// variables set by Lambda, since some functions call no other service.
func completeEnvironment(ctx context.Context) error {
	values, err := parameterClient().Read(ctx, os.Environ())
	for name, value := range values {
		err = errors.Join(err, os.Setenv(name, value))
	}
	return err
}

// parameterClient reads parameters with the function's own credentials.
func parameterClient() parameters.Client {
	return parameters.Client{
		HTTP: http.DefaultClient, Region: os.Getenv("AWS_REGION"), Endpoint: os.Getenv("AWS_ENDPOINT_URL_SSM"), Now: time.Now,
		Credentials: aws.Credentials{
			AccessKeyID: os.Getenv("AWS_ACCESS_KEY_ID"), SecretAccessKey: os.Getenv("AWS_SECRET_ACCESS_KEY"),
			SessionToken: os.Getenv("AWS_SESSION_TOKEN"),
		},
	}
}

// secretsVariable is the environment variable with the path of agents' secrets in
// Systems Manager.
const secretsVariable = "AGENT_SECRETS_PREFIX"

// AgentSecrets reads agents' secrets when they are called.
func AgentSecrets(log *slog.Logger) *parameters.Secrets {
	return &parameters.Secrets{Get: parameterClient().Get, Prefix: os.Getenv(secretsVariable), Now: time.Now, Log: log}
}
