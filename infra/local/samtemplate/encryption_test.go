package samtemplate_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/rethread/rethread/infra/local/repo"
	"github.com/rethread/rethread/infra/local/samtemplate"
)

const ownKey = "arn:aws:kms:us-east-1:123456789012:key/1234abcd"

// TestOwnKey checks template.yaml: with a key of the deployer's own, the table and each
// queue are encrypted with it, and exactly the functions that call them may use it.
func TestOwnKey(t *testing.T) {
	root, err := repo.Root("")
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(root, "template.yaml")
	for _, key := range []string{"", ownKey} {
		got, err := samtemplate.Load(name, samtemplate.Options{Parameters: map[string]string{
			"JwtIssuer": "https://issuer.example", "JwtAudience": "rethread", "DataKeyArn": key,
		}})
		if err != nil {
			t.Fatal(err)
		}
		users := 0
		for _, f := range got.Functions {
			may, needs := uses(f, "kms:Decrypt", ownKey), calls(f, "dynamodb:") || calls(f, "sqs:")
			if want := needs && key != ""; may != want {
				t.Errorf("with the key %q, %s may use it: %t, want %t", key, f.LogicalID, may, want)
			}
			if may {
				users++
			}
		}
		if key != "" && users < 20 {
			t.Errorf("only %d functions use the key", users)
		}
	}
	encrypted := map[string]string{"AWS::DynamoDB::Table": "SSESpecification", "AWS::SQS::Queue": "KmsMasterKeyId"}
	found := 0
	for id, r := range mustRaw(t, name) {
		property, holdsData := encrypted[r.Type]
		if !holdsData {
			continue
		}
		found++
		given := r.Properties[property]
		if text, err := yaml.Marshal(&given); err != nil || !strings.Contains(string(text), "HasDataKey") || !strings.Contains(string(text), "DataKeyArn") {
			t.Errorf("%s: %s is %s: %v", id, property, text, err)
		}
	}
	if found < 8 {
		t.Errorf("found only %d tables and queues", found)
	}
}

type rawResource struct {
	Type       string               `yaml:"Type"`
	Properties map[string]yaml.Node `yaml:"Properties"`
}

func mustRaw(t *testing.T, name string) map[string]rawResource {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var raw struct {
		Resources map[string]rawResource `yaml:"Resources"`
	}
	if err := yaml.Unmarshal(text, &raw); err != nil {
		t.Fatal(err)
	}
	return raw.Resources
}

// uses reports whether a function is allowed an action on a resource.
func uses(f samtemplate.Function, action, resource string) bool {
	return slices.ContainsFunc(f.Permissions, func(p samtemplate.Permission) bool {
		return !p.Deny && slices.Contains(p.Actions, action) && slices.Contains(p.Resources, resource)
	})
}

// calls reports whether a function is allowed an action of a service, given as a prefix,
// or reads a stream or a queue.
func calls(f samtemplate.Function, service string) bool {
	return slices.ContainsFunc(f.Permissions, func(p samtemplate.Permission) bool {
		return !p.Deny && slices.ContainsFunc(p.Actions, func(action string) bool { return strings.HasPrefix(action, service) })
	})
}
