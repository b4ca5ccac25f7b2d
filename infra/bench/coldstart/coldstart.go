// Package coldstart measures what Lambda loads at a cold start of each function: the size
// of its program, and how long the program takes, and how much memory, until it asks for
// its first invocation. Durations depend on the machine, so each is compared with that of
// the simplest function, Bare, in the same run.
package coldstart

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rethread/rethread/infra/local/samtemplate"
)

// Bare is the name of the simplest function.
const Bare = "bare"

// Program is a function to measure.
type Program struct {
	Name   string
	ARM64  string // the path of the program that is deployed
	Native string // the path of the program for this machine
	// Function is the function's resource in the template; Bare has none.
	Function samtemplate.Function
}

// Measure is what was measured of a function.
type Measure struct {
	Name   string `json:"name"`
	Bytes  int    `json:"bytes"`  // of the program for arm64
	Zipped int    `json:"zipped"` // bytes of it as it is uploaded
	// MemoryMB is the MemorySize of the template.
	MemoryMB int `json:"memory_mb,omitempty"`
	// StartMS is the median of the milliseconds from starting the process to its first
	// request for an invocation, with the program in the cache of files.
	StartMS float64 `json:"start_ms"`
	// Relative is StartMS divided by that of Bare, in hundredths.
	Relative float64 `json:"relative"`
	// Resident is the median of the process's resident bytes at that time; 0 without /proc.
	Resident int `json:"resident,omitempty"`
}

// Run measures programs, the first of which is Bare, starting each of them rounds times, in
// turns. It returns an error with a program's output if it exits before it asks for an
// invocation, and an error if it sends another request before.
func Run(ctx context.Context, rounds int, programs []Program) ([]Measure, error) {
	measures := make([]Measure, len(programs))
	for i, p := range programs {
		m, err := sizes(p)
		if err != nil {
			return nil, err
		}
		measures[i] = m
	}
	r := newRuntime()
	defer r.server.Close()
	took, resident := make([][]time.Duration, len(programs)), make([][]int, len(programs))
	for round := range rounds + 1 {
		for i, p := range programs {
			d, memory, err := r.start(ctx, p)
			if err != nil {
				return nil, err
			}
			if round > 0 { // the first one has filled the cache of files
				took[i], resident[i] = append(took[i], d), append(resident[i], memory)
			}
		}
	}
	for i := range measures {
		measures[i].StartMS = float64(median(took[i]).Microseconds()) / 1000
		measures[i].Relative = math.Round(100*measures[i].StartMS/measures[0].StartMS) / 100
		measures[i].Resident = median(resident[i])
	}
	return measures, nil
}

func median[T time.Duration | int](of []T) T {
	return slices.Sorted(slices.Values(of))[len(of)/2]
}

// sizes measures the size of a program, and of an archive with it.
func sizes(p Program) (Measure, error) {
	program, err := os.ReadFile(p.ARM64)
	if err != nil {
		return Measure{}, fmt.Errorf("measure the size of %s: %w", p.Name, err)
	}
	var zipped bytes.Buffer
	archive := zip.NewWriter(&zipped)
	entry, err := archive.Create("bootstrap")
	if err == nil {
		_, err = entry.Write(program)
	}
	if err = errors.Join(err, archive.Close()); err != nil {
		return Measure{}, fmt.Errorf("compress %s: %w", p.Name, err)
	}
	return Measure{Name: p.Name, Bytes: len(program), Zipped: zipped.Len(), MemoryMB: p.Function.MemoryMB}, nil
}

// Programs returns Bare, and the functions of a template by name, as `make programs` builds
// them in root.
func Programs(root string, template *samtemplate.Template) []Program {
	built := filepath.Join(root, "build")
	bare := filepath.Join(built, Bare)
	programs := []Program{{Name: Bare, ARM64: filepath.Join(bare, "arm64"), Native: filepath.Join(bare, "bootstrap")}}
	for _, f := range template.Functions {
		name := filepath.Base(f.CodeURI)
		programs = append(programs, Program{
			Name: name, ARM64: filepath.Join(built, "arm64", name),
			Native: filepath.Join(built, "functions", name, "bootstrap"), Function: f,
		})
	}
	slices.SortFunc(programs[1:], func(a, b Program) int { return strings.Compare(a.Name, b.Name) })
	return programs
}
