// Command sbom joins the bills of materials of the deployed programs into one.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"github.com/rethread/rethread/infra/tools/sbom/bom"
)

func main() {
	output := flag.String("output", "build/sbom.json", "the file to write")
	flag.Parse()
	if err := run(*output, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(output string, files []string) error {
	var documents []bom.Document
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("read a bill of materials: %w", err)
		}
		var d bom.Document
		if err := json.Unmarshal(text, &d); err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		documents = append(documents, d)
	}
	joined, err := bom.Join("rethread", documents...)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(joined, "", "  ")
	if err != nil {
		return fmt.Errorf("write the bill of materials: %w", err)
	}
	if err := os.WriteFile(output, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("write the bill of materials: %w", err)
	}
	return nil
}
