// Package bom joins CycloneDX documents, each of one program, into one that
// describes the whole system.
package bom

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Document has the members of a CycloneDX document that are read; components are
// kept unchanged.
type Document struct {
	Schema       string            `json:"$schema"`
	Format       string            `json:"bomFormat"`
	Spec         string            `json:"specVersion"`
	Version      int               `json:"version"`
	Metadata     Metadata          `json:"metadata"`
	Components   []json.RawMessage `json:"components"`
	Dependencies []Dependency      `json:"dependencies"`
}

// Metadata identifies the subject of a document.
type Metadata struct {
	Component json.RawMessage `json:"component"`
}

// Dependency lists the parts of a component.
type Dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn,omitempty"`
}

// system is the subject of the joined document.
type system struct {
	Ref  string `json:"bom-ref"`
	Type string `json:"type"`
	Name string `json:"name"`
}

// Join returns the document of a system with that name. It lists the programs and
// their parts, each once, in an order that depends only on the contents, and has
// no time: the same system has the same bytes.
func Join(name string, documents ...Document) (Document, error) {
	joined := Document{
		Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", Format: "CycloneDX", Spec: "1.6", Version: 1,
	}
	whole := Dependency{Ref: name}
	components, uses := map[string]json.RawMessage{}, map[string][]string{}
	for _, d := range documents {
		if d.Format != joined.Format || d.Spec != joined.Spec {
			return Document{}, fmt.Errorf("a document is %s %s, want %s %s", d.Format, d.Spec, joined.Format, joined.Spec)
		}
		ref, err := refOf(d.Metadata.Component)
		if err != nil {
			return Document{}, err
		}
		whole.DependsOn = append(whole.DependsOn, ref)
		components[ref] = d.Metadata.Component
		for _, c := range d.Components {
			ref, err := refOf(c)
			if err != nil {
				return Document{}, err
			}
			components[ref] = c
		}
		for _, u := range d.Dependencies {
			uses[u.Ref] = append(uses[u.Ref], u.DependsOn...)
		}
	}
	slices.Sort(whole.DependsOn)
	joined.Dependencies = []Dependency{whole}
	for _, ref := range slices.Sorted(maps.Keys(components)) {
		joined.Components = append(joined.Components, components[ref])
	}
	for _, ref := range slices.Sorted(maps.Keys(uses)) {
		of := slices.Clone(uses[ref])
		slices.Sort(of)
		joined.Dependencies = append(joined.Dependencies, Dependency{Ref: ref, DependsOn: slices.Compact(of)})
	}
	var err error
	joined.Metadata.Component, err = json.Marshal(system{Ref: name, Type: "application", Name: name})
	return joined, err
}

func refOf(component json.RawMessage) (string, error) {
	var c struct {
		Ref string `json:"bom-ref"`
	}
	if err := json.Unmarshal(component, &c); err != nil {
		return "", fmt.Errorf("read a component: %w", err)
	}
	if c.Ref == "" {
		return "", fmt.Errorf("a component has no bom-ref: %s", component)
	}
	return c.Ref, nil
}
