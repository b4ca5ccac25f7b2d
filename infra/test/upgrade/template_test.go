package upgrade_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/rethread/rethread/infra/local/repo"
)

// stack is the part of a deployed stack that must not move: a resource that
// CloudFormation recreates under another logical id is empty, a stream's mapping
// starts at the newest record, and an API gets another address.
type stack struct {
	Resources map[string]string `json:"resources"` // types by logical id
	Mappings  []string          `json:"mappings"`  // of streams and queues: function and event
	Required  []string          `json:"required_parameters"`
	Outputs   []string          `json:"outputs"`
	Table     map[string]any    `json:"table"` // what cannot be changed in place
}

// TestTemplate checks that a stack of an older version's template keeps its
// resources.
func TestTemplate(t *testing.T) {
	t.Parallel()
	each(t, testTemplate)
}

func testTemplate(t *testing.T, of kept) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(of.folder, "stack.json"))
	if err != nil {
		t.Fatal(err)
	}
	var was stack
	if err := json.Unmarshal(text, &was); err != nil {
		t.Fatal(err)
	}
	is, checked := mustTemplate(t), 0
	for id, kind := range was.Resources {
		checked++
		if is.Resources[id] != kind {
			t.Errorf("%s was a %s, and is %q now", id, kind, is.Resources[id])
		}
	}
	for name, lists := range map[string][2][]string{"mapping": {was.Mappings, is.Mappings}, "output": {was.Outputs, is.Outputs}} {
		for _, one := range lists[0] {
			checked++
			if !slices.Contains(lists[1], one) {
				t.Errorf("the %s %s is not there any more", name, one)
			}
		}
	}
	for _, one := range is.Required {
		if !slices.Contains(was.Required, one) {
			t.Errorf("the parameter %s has no default, and existing stacks do not have it", one)
		}
	}
	for name, value := range was.Table {
		checked++
		if diff := cmp.Diff(value, is.Table[name]); diff != "" {
			t.Errorf("%s of the table (-was +is):\n%s", name, diff)
		}
	}
	const least = 12 + 7 + 8 + 4
	if checked < least {
		t.Errorf("%d things were looked at, want %d", checked, least)
	}
	t.Logf("%d resources, mappings, outputs and properties were compared", checked)
}

// unmovable is the part of a stack that its next versions must keep.
func (s stack) unmovable() stack {
	maps.DeleteFunc(s.Resources, func(_, kind string) bool {
		return !slices.Contains([]string{
			"AWS::DynamoDB::Table", "AWS::Serverless::HttpApi", "AWS::Serverless::WebSocketApi", "AWS::Serverless::Api",
			"AWS::Events::EventBus", "AWS::SQS::Queue",
		}, kind)
	})
	maps.DeleteFunc(s.Table, func(name string, _ any) bool {
		return !slices.Contains([]string{"KeySchema", "GlobalSecondaryIndexes", "StreamSpecification", "TimeToLiveSpecification"}, name)
	})
	for _, list := range [][]string{s.Mappings, s.Required, s.Outputs} {
		slices.Sort(list)
	}
	return s
}

// mustTemplate reads today's template.
func mustTemplate(t *testing.T) (s stack) {
	t.Helper()
	root, err := repo.Root("")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "template.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var template struct {
		Parameters map[string]map[string]yaml.Node `yaml:"Parameters"`
		Outputs    map[string]map[string]yaml.Node `yaml:"Outputs"`
		Resources  map[string]struct {
			Type       string               `yaml:"Type"`
			Properties map[string]yaml.Node `yaml:"Properties"`
		} `yaml:"Resources"`
	}
	if err := yaml.Unmarshal(text, &template); err != nil {
		t.Fatal(err)
	}
	s.Resources, s.Table = map[string]string{}, map[string]any{}
	for id, one := range template.Resources {
		s.Resources[id] = one.Type
		var events map[string]struct {
			Type string `yaml:"Type"`
		}
		if node, ok := one.Properties["Events"]; ok {
			if err := node.Decode(&events); err != nil {
				t.Fatalf("events of %s: %v", id, err)
			}
		}
		for name, e := range events {
			if e.Type == "DynamoDB" || e.Type == "SQS" {
				s.Mappings = append(s.Mappings, id+" "+name)
			}
		}
	}
	for name, node := range template.Resources["Table"].Properties {
		var value any
		if err := node.Decode(&value); err != nil {
			t.Fatal(err)
		}
		s.Table[name] = value
	}
	for name, p := range template.Parameters {
		if _, ok := p["Default"]; !ok {
			s.Required = append(s.Required, name)
		}
	}
	for name := range template.Outputs {
		s.Outputs = append(s.Outputs, name)
	}
	return s
}
