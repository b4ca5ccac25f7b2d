package archive_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/archive"
)

func TestImport_Admit(t *testing.T) {
	t.Parallel()
	// Part 2 was imported last; then part 3 was begun.
	waiting := archive.Import{State: archive.ImportOpen, Next: 3, Begun: 2, Digest: "two"}
	begun := archive.Import{State: archive.ImportOpen, Next: 3, Begun: 3, Digest: "three"}
	in := func(state archive.ImportState) archive.Import {
		return archive.Import{State: state, Next: 3, Begun: 2, Digest: "two"}
	}
	const imports, repeats = "imports it", "repeats it"
	for name, c := range map[string]struct {
		now    archive.Import
		number int
		digest string
		want   string // or the fault's detail
	}{
		"the first part of a new import":        {archive.Import{State: archive.ImportOpen, Next: 1}, 1, "one", imports},
		"the expected part":                     {waiting, 3, "three", imports},
		"the last imported part again":          {waiting, 2, "two", repeats},
		"the last imported part, changed":       {waiting, 2, "other", "part 3 is expected, not 2"},
		"an earlier part with the last digest":  {waiting, 1, "two", "part 3 is expected, not 1"},
		"a later part":                          {waiting, 4, "four", "part 3 is expected, not 4"},
		"an interrupted part again":             {begun, 3, "three", imports},
		"an interrupted part, changed":          {begun, 3, "other", "part 3 was begun with other content: send that again, or delete the import"},
		"the part before an interrupted one":    {begun, 2, "two", "part 3 is expected, not 2"},
		"the last part of a complete import":    {in(archive.ImportDone), 2, "two", repeats},
		"another part after a complete import":  {in(archive.ImportDone), 3, "three", "the import is over"},
		"the last part of an abandoned import":  {in(archive.ImportDead), 2, "two", "the import is over"},
		"another part of an abandoned import":   {in(archive.ImportDead), 3, "three", "the import is over"},
		"the last part, changed, when complete": {in(archive.ImportDone), 2, "other", "the import is over"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repeated, err := c.now.Admit(archive.Upload{Number: c.number, Digest: c.digest})
			got := imports
			var conflict *fault.Error
			switch {
			case errors.As(err, &conflict) && conflict.Kind == fault.Conflict:
				got = conflict.Detail
			case err != nil:
				t.Fatal(err)
			case repeated:
				got = repeats
			}
			if got != c.want || (err != nil && repeated) {
				t.Errorf("part %d, %q: %s, want %s", c.number, c.digest, got, c.want)
			}
		})
	}
}

func TestImport_CheckAbandon(t *testing.T) {
	t.Parallel()
	const now = 1_000_000
	in := func(state archive.ImportState, begun int, until int64) archive.Import {
		return archive.Import{SessionID: "s", State: state, Next: 3, Begun: begun, BusyUntil: until}
	}
	busy := &fault.Error{Kind: fault.Busy, Detail: "a part is being imported", RetryAfter: time.Second}
	for name, c := range map[string]struct {
		now  archive.Import
		want error
	}{
		"it waits for a part":          {in(archive.ImportOpen, 2, now+1000), nil},
		"a part is being imported":     {in(archive.ImportOpen, 3, now+1000), busy},
		"a part was interrupted":       {in(archive.ImportOpen, 3, now), nil},
		"its deletion was interrupted": {in(archive.ImportDead, 3, now+1000), nil},
		"it is complete": {
			in(archive.ImportDone, 2, 0),
			fault.New(fault.ImportEnded, "the import is complete: delete the session").With("session_id", "s"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, c.now.CheckAbandon(now)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
