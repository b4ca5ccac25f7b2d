package coldstart

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// head is the first line of the table in docs/operation.md.
const head = "| function | MB | zipped | memory, MB | resident, MB | start |\n"

// ErrNoTable means that a page lacks the table.
var ErrNoTable = errors.New("the table of functions is missing")

// Page returns a page, docs/operation.md, with its table of functions replaced.
func Page(page string, measures []Measure) (string, error) {
	before, rest, found := strings.Cut(page, head)
	if !found {
		return "", fmt.Errorf("%w: %s", ErrNoTable, head)
	}
	_, after, _ := strings.Cut(rest, "\n\n")
	return before + Table(measures) + "\n" + after, nil
}

// Table is the table of the page.
func Table(measures []Measure) string {
	var b strings.Builder
	b.WriteString(head + "|---|---:|---:|---:|---:|---:|\n")
	for _, m := range measures {
		fmt.Fprintf(&b, "| %s | %.1f | %.1f | %s | %s | %.1f |\n", m.Name, float64(m.Bytes)/1e6, float64(m.Zipped)/1e6,
			unlessZero(m.MemoryMB), unlessZero(int(m.Resident>>20)), m.Relative)
	}
	return b.String()
}

func unlessZero(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
