package contract

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"github.com/rethread/rethread/infra/local/repo"
)

// Messages checks messages of watching against infra/asyncapi.yaml.
type Messages struct {
	schemas map[string]*jsonschema.Schema // by action or type
}

// LoadMessages reads infra/asyncapi.yaml of the repository around the working
// directory, and checks its examples.
func LoadMessages() (*Messages, error) {
	root, err := repo.Root("")
	if err != nil {
		return nil, fmt.Errorf("load the description of messages: %w", err)
	}
	file := filepath.Join(root, "infra", "asyncapi.yaml")
	described, err := readMessages(file)
	if err != nil {
		return nil, fmt.Errorf("load the description of messages: %w", err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(jsonschema.SchemeURLLoader{"file": yamlLoader{}})
	compiler.AssertFormat()
	m := &Messages{schemas: map[string]*jsonschema.Schema{}}
	for name, message := range described {
		schema, err := compiler.Compile("file://" + filepath.ToSlash(file) + "#/components/messages/" + name + "/payload")
		if err != nil {
			return nil, fmt.Errorf("read the schema of message %s: %w", name, err)
		}
		m.schemas[name] = schema
		for _, example := range message.Examples {
			if err := m.check(example.Payload); err != nil {
				return nil, fmt.Errorf("an example of message %s: %w", name, err)
			}
		}
	}
	return m, nil
}

// Check returns an error if a message, of a client or of the server, violates the
// contract.
func (m *Messages) Check(text []byte) error {
	message, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("a message is not valid JSON: %w", err)
	}
	if err := m.check(message); err != nil {
		return fmt.Errorf("%w\n%s", err, text)
	}
	return nil
}

func (m *Messages) check(message any) error {
	members, ok := message.(map[string]any)
	if !ok {
		return errors.New("a message is not an object")
	}
	name, ok := members["action"].(string)
	if !ok {
		name, _ = members["type"].(string)
	}
	schema := m.schemas[name]
	if schema == nil {
		return fmt.Errorf("message %q is not in the contract", name)
	}
	if err := schema.Validate(message); err != nil {
		return fmt.Errorf("message %s violates the contract: %w", name, err)
	}
	return nil
}

type describedMessage struct {
	Examples []struct {
		Payload any `yaml:"payload"`
	} `yaml:"examples"`
}

func readMessages(file string) (map[string]describedMessage, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var doc struct {
		Components struct {
			Messages map[string]describedMessage `yaml:"messages"`
		} `yaml:"components"`
	}
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return doc.Components.Messages, nil
}

// yamlLoader reads the files of schemas, and those that they refer to.
type yamlLoader struct{ files jsonschema.FileLoader }

// Load implements jsonschema.URLLoader.
func (l yamlLoader) Load(url string) (any, error) {
	file, err := l.files.ToFile(url)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var doc any
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return doc, nil
}
