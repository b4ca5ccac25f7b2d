package bom_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/tools/sbom/bom"
)

func TestJoin(t *testing.T) {
	one := mustRead(t, `{"bomFormat": "CycloneDX", "specVersion": "1.6", "metadata": {"component": {"bom-ref": "b"}},
		"components": [{"bom-ref": "y", "version": "1"}, {"bom-ref": "x"}], "dependencies": [{"ref": "b", "dependsOn": ["x", "y"]}]}`)
	other := mustRead(t, `{"bomFormat": "CycloneDX", "specVersion": "1.6", "metadata": {"component": {"bom-ref": "a"}},
		"components": [{"bom-ref": "x"}], "dependencies": [{"ref": "a", "dependsOn": ["x"]}, {"ref": "x"}]}`)
	t.Run("lists every program and part once", func(t *testing.T) {
		got := mustJoin(t, one, other)
		want := `{"$schema":"http://cyclonedx.org/schema/bom-1.6.schema.json","bomFormat":"CycloneDX","specVersion":"1.6","version":1,` +
			`"metadata":{"component":{"bom-ref":"system","type":"application","name":"system"}},` +
			`"components":[{"bom-ref":"a"},{"bom-ref":"b"},{"bom-ref":"x"},{"bom-ref":"y","version":"1"}],` +
			`"dependencies":[{"ref":"system","dependsOn":["a","b"]},{"ref":"a","dependsOn":["x"]},` +
			`{"ref":"b","dependsOn":["x","y"]},{"ref":"x"}]}`
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
	t.Run("does not depend on the order of the programs", func(t *testing.T) {
		if diff := cmp.Diff(mustJoin(t, one, other), mustJoin(t, other, one)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("refuses ambiguous components", func(t *testing.T) {
		nameless := mustRead(t, `{"bomFormat": "CycloneDX", "specVersion": "1.6", "metadata": {"component": {}}}`)
		if _, err := bom.Join("system", nameless); err == nil {
			t.Error("no error")
		}
		if _, err := bom.Join("system", mustRead(t, `{"bomFormat": "SPDX"}`)); err == nil {
			t.Error("no error")
		}
	})
}

func mustRead(t *testing.T, text string) (d bom.Document) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func mustJoin(t *testing.T, documents ...bom.Document) string {
	t.Helper()
	joined, err := bom.Join("system", documents...)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(joined)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
