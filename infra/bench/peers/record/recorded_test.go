package record_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/bench/peers/play"
	"github.com/rethread/rethread/infra/bench/peers/record"
)

const root = "../../../.."

func mustRead(t *testing.T) record.Record {
	t.Helper()
	r, err := record.ReadFile(filepath.Join(root, "docs", "benchmarks", record.DataFile))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRecorded(t *testing.T) {
	r := mustRead(t)
	t.Run("the plots match the data", func(t *testing.T) {
		files := mustPlots(t, r)
		if len(files) != 3 {
			t.Errorf("%d files", len(files))
		}
		for name, want := range files {
			got, err := os.ReadFile(filepath.Join(root, name))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("`make bench-peers DRAW=1` writes another %s (-file +written):\n%s", name, cmp.Diff(string(got), string(want)))
			}
		}
	})
	t.Run("the README shows a plot of the data, and links to the page", func(t *testing.T) {
		readme, err := os.ReadFile(filepath.Join(root, "README.md"))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"(docs/benchmarks/peers-writes.svg)", "(docs/costs.md#beside-other-conversation-stores)"} {
			if !strings.Contains(string(readme), want) {
				t.Errorf("README.md has no %s", want)
			}
		}
	})
	t.Run("it is a full run of all peers with the pinned packages", func(t *testing.T) {
		if _, err := time.Parse(time.DateOnly, r.Date); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(play.Full(), r.Plan); diff != "" {
			t.Errorf("another plan (-want +recorded):\n%s", diff)
		}
		entries := play.Entries()
		if len(r.Peers) != len(entries) {
			t.Fatalf("%d peers, not %d", len(r.Peers), len(entries))
		}
		for i, p := range r.Peers {
			packages, err := entries[i].Packages(root)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(packages, p.Packages); diff != "" {
				t.Errorf("%s was measured with other packages; run `make bench-peers` (-pinned +recorded):\n%s", p.Name, diff)
			}
			if diff := cmp.Diff(entries[i].How, p.How); diff != "" || entries[i].Name != p.Name || entries[i].Short != p.Short {
				t.Errorf("%s is described otherwise (-want +recorded):\n%s", p.Name, diff)
			}
		}
	})
	t.Run("bounds hold", func(t *testing.T) {
		for i, entry := range play.Entries() {
			if err := entry.Check(r.Peers[i]); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("each thread was stored to its end, or failed", func(t *testing.T) {
		for _, p := range r.Peers {
			if _, whole := p.At(slices.Max(r.Plan.Turns)); whole == (p.Failed != nil) {
				t.Errorf("%s: stored to the end: %t; failure: %v", p.Name, whole, p.Failed)
			}
		}
	})
}
