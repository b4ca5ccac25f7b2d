package samtemplate_test

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/rethread/rethread/infra/local/samtemplate"
)

// TestNothingIsUnused checks that the local host supports nothing that
// template.yaml does not use. TestLoad checks the opposite.
func TestNothingIsUnused(t *testing.T) {
	used := mustTemplateUse(t)
	checked := 0
	for _, p := range samtemplate.Properties() {
		for _, name := range propertyNames(reflect.TypeOf(p)) {
			if checked++; !used.keys[name] {
				t.Errorf("%T reads %s, which the template does not have", p, name)
			}
		}
	}
	for kind, words := range samtemplate.Words() {
		for _, word := range words {
			if checked++; !used.has(kind, word) {
				t.Errorf("the template has no %s %s", kind, word)
			}
		}
	}
	if checked < 150 {
		t.Errorf("%d words were checked", checked)
	}
	t.Logf("%d words were checked", checked)
}

// templateUse is the contents of the template: the keys of its mappings, values, tags,
// and for each attribute in use the type of its resource.
type templateUse struct {
	keys, values, tags, attributes map[string]bool
	text                           string
}

// has reports whether the template uses a word of a kind.
func (u templateUse) has(kind, word string) bool {
	switch kind {
	case "resource type", "event type":
		return u.values[word]
	case "intrinsic function", "condition function":
		return u.tags["!"+word]
	case "attribute":
		return u.attributes[word]
	case "pseudo parameter":
		return strings.Contains(u.text, word)
	default:
		return u.keys[word]
	}
}

func mustTemplateUse(t *testing.T) templateUse {
	t.Helper()
	text, err := os.ReadFile("../../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	u := templateUse{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, string(text)}
	u.collect(&root)
	resources := mustResources(t)
	for _, at := range regexp.MustCompile(`(?:!GetAtt |\$\{)(\w+)\.(\w+)`).FindAllStringSubmatch(u.text, -1) {
		u.attributes[resources[at[1]].Type+"."+at[2]] = true
	}
	return u
}

func (u templateUse) collect(node *yaml.Node) {
	u.tags[node.Tag] = true
	for i, child := range node.Content {
		if node.Kind == yaml.MappingNode && i%2 == 0 {
			u.keys[child.Value] = true
		} else {
			u.values[child.Value] = true
		}
		u.collect(child)
	}
}

func propertyNames(typ reflect.Type) []string {
	var names []string
	switch typ.Kind() { //nolint:exhaustive // only containers have properties
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return propertyNames(typ.Elem())
	case reflect.Struct:
		for i := range typ.NumField() {
			if name, _, _ := strings.Cut(typ.Field(i).Tag.Get("yaml"), ","); name != "" {
				names = append(append(names, name), propertyNames(typ.Field(i).Type)...)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
