package boot_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/rethread/rethread/shared/boot"
)

func TestAWSConfig(t *testing.T) {
	t.Parallel()
	var requests []*http.Request
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		requests = append(requests, r)
		rw.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer server.Close()
	variables := map[string]string{
		"AWS_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "session",
		"AWS_ENDPOINT_URL": "http://any.invalid", "AWS_ENDPOINT_URL_DYNAMODB": server.URL, "AWS_ENDPOINT_URL_EVENTBRIDGE": "http://bus.invalid",
	}
	cfg := boot.AWSConfig(func(name string) string { return variables[name] })
	t.Run("signs requests with the function's credentials and region, and retries them", func(t *testing.T) {
		client := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
			o.DisableValidateResponseChecksum, o.Retryer = true, aws.NopRetryer{}
		})
		if _, err := client.ListTables(t.Context(), &dynamodb.ListTablesInput{}); err == nil {
			t.Fatal("no error")
		}
		const attempts = 6
		if len(requests) != 1 || cfg.Retryer().MaxAttempts() != attempts {
			t.Fatalf("%d requests, and at most %d attempts, want %d", len(requests), cfg.Retryer().MaxAttempts(), attempts)
		}
		signature := requests[0].Header.Get("Authorization")
		if !strings.Contains(signature, "Credential=key/") || !strings.Contains(signature, "/eu-central-1/dynamodb/") ||
			requests[0].Header.Get("X-Amz-Security-Token") != "session" {
			t.Errorf("signed %s", signature)
		}
	})
	t.Run("uses a service's own endpoint, or the general one", func(t *testing.T) {
		for want, got := range map[string]*string{
			"http://bus.invalid": eventbridge.NewFromConfig(cfg).Options().BaseEndpoint,
			"http://any.invalid": sqs.NewFromConfig(cfg).Options().BaseEndpoint,
		} {
			if aws.ToString(got) != want {
				t.Errorf("got %s, want %s", aws.ToString(got), want)
			}
		}
	})
	t.Run("honours the variables for endpoints with FIPS and IPv6", func(t *testing.T) {
		yes := boot.AWSConfig(func(name string) string {
			return map[string]string{"AWS_USE_FIPS_ENDPOINT": "true", "AWS_USE_DUALSTACK_ENDPOINT": "true"}[name]
		})
		o := sqs.NewFromConfig(yes).Options().EndpointOptions
		if o.UseFIPSEndpoint != aws.FIPSEndpointStateEnabled || o.UseDualStackEndpoint != aws.DualStackEndpointStateEnabled {
			t.Errorf("got %+v", o)
		}
		none := sqs.NewFromConfig(boot.AWSConfig(func(string) string { return "" })).Options()
		if none.BaseEndpoint != nil || none.EndpointOptions.UseFIPSEndpoint != aws.FIPSEndpointStateUnset {
			t.Errorf("without variables: %+v", none.EndpointOptions)
		}
	})
}
