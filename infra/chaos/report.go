package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rethread/rethread/infra/chaos/faults"
	"github.com/rethread/rethread/infra/chaos/ledger"
	"github.com/rethread/rethread/infra/chaos/users"
)

// total sums up the rounds.
type total struct {
	rounds, requests, unknown, calls, faults, kills, sessions, checks, broken int

	by       map[string]int // checks by invariant
	injected map[string]int // faults by kind
}

func newTotal() *total {
	t := &total{by: map[string]int{}, injected: map[string]int{}}
	for _, kind := range faults.Kinds() {
		t.injected[string(kind)] = 0
	}
	return t
}

func (t *total) add(r *round) {
	requests, unknown := r.world.Ledger.Requests()
	calls, injected := r.sys.Proxy.Counts()
	t.rounds++
	t.requests += requests
	t.unknown += unknown
	t.calls += calls
	t.faults += sum(injected)
	t.kills += sum(r.sys.Kills())
	t.sessions += len(r.world.Sessions())
	t.checks += sum(r.checker.Counts())
	t.broken += len(r.world.Violations())
	for name, n := range r.checker.Counts() {
		t.by[name] += n
	}
	for kind, n := range injected {
		t.injected[string(kind)] += n
	}
}

func sum[K comparable](counts map[K]int) int {
	n := 0
	for _, each := range counts {
		n += each
	}
	return n
}

// close prints the totals, and returns an error if promises were broken or too
// little was tested.
func (t *total) close(out io.Writer, lasted time.Duration) error {
	line := fmt.Sprintf("%d rounds: %d requests, %d with an unknown outcome; %d of %d calls to the database failed, "+
		"%d processes killed; %d sessions, %d checks: %d violations",
		t.rounds, t.requests, t.unknown, t.faults, t.calls, t.kills, t.sessions, t.checks, t.broken)
	_, _ = fmt.Fprintln(out, line)
	if t.broken > 0 {
		return fmt.Errorf("%w: %d", errBroken, t.broken)
	}
	return t.checkFloors(lasted)
}

// maxViolations limits the printed and stored violations of a round.
const maxViolations = 20

// report prints the results of a round, and stores the histories of sessions with
// a violation.
func (r *round) report() error {
	requests, unknown := r.world.Ledger.Requests()
	calls, injected := r.sys.Proxy.Counts()
	r.say("  %d requests, %d with an unknown outcome; %d calls to the database", requests, unknown, calls)
	r.say("  faults: %s", listed(injected))
	r.say("  kills: %s", listed(r.sys.Kills()))
	r.say("  operations: %s", r.operations())
	r.say("  checks: %s", listed(r.checker.Counts()))
	for i, v := range r.world.Violations() {
		if i == maxViolations {
			r.say("  and %d more", len(r.world.Violations())-i)
			break
		}
		r.say("  VIOLATION %s %s: %.1500s", v.Invariant, v.Session, v.Text)
		if err := r.saveHistory(v); err != nil {
			return err
		}
	}
	return nil
}

func listed[K ~string](counts map[K]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", name, counts[name]))
	}
	return strings.Join(parts, ", ")
}

// operations counts the operations, with those acknowledged in brackets.
func (r *round) operations() string {
	asked, done := map[string]int{}, map[string]int{}
	for _, op := range r.world.Ledger.All() {
		asked[op.Kind]++
		if op.Outcome == ledger.Acked {
			done[op.Kind]++
		}
	}
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(asked)) {
		parts = append(parts, fmt.Sprintf("%s %d (%d)", kind, asked[kind], done[kind]))
	}
	return strings.Join(parts, ", ")
}

// saveHistory writes the operations on a session to a file.
func (r *round) saveHistory(v users.Violation) error {
	if v.Session == "" {
		return nil
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s: %s\n\n", v.Invariant, v.Text)
	for _, op := range r.world.Ledger.Of(v.Session) {
		fmt.Fprintln(&text, op.String())
	}
	fmt.Fprintf(&text, "\nlog:\n%s\n", r.checker.Log(v.Session))
	file, err := os.OpenFile(filepath.Join(r.dir, v.Session+".txt"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text.String() + "\n")
	if closed := file.Close(); err == nil {
		err = closed
	}
	return err
}
