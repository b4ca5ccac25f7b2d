package ssm_test

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/rethread/rethread/infra/local/ssm"
	"github.com/rethread/rethread/shared/client/parameters"
)

func TestGetParameters(t *testing.T) {
	server := httptest.NewServer(ssm.Parameters{"/a": "1"})
	defer server.Close()
	client := parameters.Client{
		HTTP: server.Client(), Region: "eu-west-1", Endpoint: server.URL, Now: time.Now,
		Credentials: aws.Credentials{AccessKeyID: "f", SecretAccessKey: "s"},
	}
	if got, err := client.Read(t.Context(), []string{"A_PARAMETER=/a"}); err != nil || got["A"] != "1" {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := client.Read(t.Context(), []string{"A_PARAMETER=/b"}); err == nil {
		t.Error("reading an unknown parameter succeeded")
	}
}
