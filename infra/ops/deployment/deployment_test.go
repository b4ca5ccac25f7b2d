package deployment_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/ops/deployment"
)

// cloud answers like CloudFormation, for one stack whose resources fill two pages.
func cloud(t *testing.T) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil {
			t.Error(err)
		}
		rw.Header().Set("Content-Type", "text/xml")
		switch action := r.Form.Get("Action"); {
		case r.Form.Get("StackName") != "rethread":
			rw.WriteHeader(http.StatusBadRequest)
			respond(t, rw, `<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code>`+
				`<Message>Stack with id other does not exist</Message></Error></ErrorResponse>`)
		case action == "DescribeStacks":
			respond(t, rw, `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>rethread</StackName>`+
				`<StackStatus>UPDATE_COMPLETE</StackStatus><CreationTime>2026-11-21T00:00:00Z</CreationTime>`+
				`<Outputs><member><OutputKey>ApiUrl</OutputKey><OutputValue>https://api.example</OutputValue></member></Outputs>`+
				`<Parameters><member><ParameterKey>JwtIssuer</ParameterKey><ParameterValue>https://issuer.example</ParameterValue></member></Parameters>`+
				`</member></Stacks></DescribeStacksResult></DescribeStacksResponse>`)
		case action == "ListStackResources" && r.Form.Get("NextToken") == "":
			respond(t, rw, resources("<NextToken>more</NextToken>", deployment.Function, "EventsFunction", "rethread-EventsFunction-1"))
		default:
			respond(t, rw, resources("", deployment.Queue, "Failures", "https://sqs.example/1/failures"))
		}
	}))
	t.Cleanup(server.Close)
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL_CLOUDFORMATION": server.URL, "AWS_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "a",
		"AWS_SECRET_ACCESS_KEY": "b", "AWS_CONFIG_FILE": "none", "AWS_SHARED_CREDENTIALS_FILE": "none",
	} {
		t.Setenv(name, value)
	}
}

func resources(next, kind, logical, physical string) string {
	return `<ListStackResourcesResponse><ListStackResourcesResult>` + next + `<StackResourceSummaries><member>` +
		`<ResourceType>` + kind + `</ResourceType><LogicalResourceId>` + logical + `</LogicalResourceId>` +
		`<PhysicalResourceId>` + physical + `</PhysicalResourceId><ResourceStatus>CREATE_COMPLETE</ResourceStatus>` +
		`<LastUpdatedTimestamp>2026-11-21T00:00:00Z</LastUpdatedTimestamp></member></StackResourceSummaries>` +
		`</ListStackResourcesResult></ListStackResourcesResponse>`
}

func respond(t *testing.T, rw http.ResponseWriter, text string) {
	t.Helper()
	if _, err := fmt.Fprint(rw, text); err != nil {
		t.Error(err)
	}
}

func TestFind(t *testing.T) {
	t.Run("reads all pages of a stack's resources", func(t *testing.T) {
		cloud(t)
		d, err := deployment.Find(t.Context(), deployment.Location{Stack: "rethread"})
		if err != nil {
			t.Fatal(err)
		}
		if d.Local || d.Services.CloudWatch == nil || d.Outputs["ApiUrl"] != "https://api.example" ||
			d.Parameters["JwtIssuer"] != "https://issuer.example" {
			t.Errorf("got %+v", d)
		}
		if diff := cmp.Diff([]string{"EventsFunction"}, d.Resources(deployment.Function)); diff != "" {
			t.Errorf("functions (-want +got):\n%s", diff)
		}
		if url := d.Resource(deployment.Queue, "Failures"); url != "https://sqs.example/1/failures" {
			t.Errorf("the queue is %s", url)
		}
		if id, ok := d.LogicalID(deployment.Function, "rethread-EventsFunction-1"); !ok || id != "EventsFunction" {
			t.Errorf("the function is %q, %v", id, ok)
		}
	})
	t.Run("an unknown stack", func(t *testing.T) {
		cloud(t)
		if _, err := deployment.Find(t.Context(), deployment.Location{Stack: "other"}); !errors.Is(err, deployment.ErrNotFound) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a system that does not describe itself has only addresses", func(t *testing.T) {
		server := httptest.NewServer(http.NotFoundHandler())
		defer server.Close()
		d, err := deployment.Find(t.Context(), deployment.Location{URL: server.URL, Sockets: "wss://live.example"})
		if err != nil || d.Services != nil || d.Local || d.Outputs["WebSocketUrl"] != "wss://live.example" || d.Outputs["ApiUrl"] != server.URL {
			t.Errorf("got %+v, %v", d, err)
		}
	})
	t.Run("an address that does not answer", func(t *testing.T) {
		server := httptest.NewServer(http.NotFoundHandler())
		server.Close()
		if _, err := deployment.Find(t.Context(), deployment.Location{URL: server.URL}); !errors.Is(err, deployment.ErrNotFound) {
			t.Errorf("got %v", err)
		}
	})
}
