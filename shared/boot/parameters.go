package boot

import (
	"context"
	"errors"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/rethread/rethread/shared/client/parameters"
)

// completeEnvironment sets, once at a cold start, the variables that parameters of
// Systems Manager hold, before anything reads them, libraries included. It goes by
// the variables that Lambda sets, as some functions call no other service.
func completeEnvironment(ctx context.Context) error {
	values, err := parameters.Client{
		HTTP: http.DefaultClient, Region: os.Getenv("AWS_REGION"), Endpoint: os.Getenv("AWS_ENDPOINT_URL_SSM"), Now: time.Now,
		Credentials: aws.Credentials{
			AccessKeyID: os.Getenv("AWS_ACCESS_KEY_ID"), SecretAccessKey: os.Getenv("AWS_SECRET_ACCESS_KEY"),
			SessionToken: os.Getenv("AWS_SESSION_TOKEN"),
		},
	}.Read(ctx, os.Environ())
	for name, value := range values {
		err = errors.Join(err, os.Setenv(name, value))
	}
	return err
}
