package changelog_test

import (
	"errors"
	"os"
	"testing"

	"github.com/rethread/rethread/infra/tools/release/changelog"
)

const text = `# Changelog

Changes.

## Unreleased

### Moved
- One.

## 0.2.0

- Two.

## 0.1.0
`

func TestChangelog(t *testing.T) {
	t.Run("a section ends where the next one begins", func(t *testing.T) {
		for name, want := range map[string]string{"Unreleased": "### Moved\n- One.", "0.2.0": "- Two."} {
			if got, err := changelog.Section(text, name); got != want || err != nil {
				t.Errorf("%s: got %q, %v", name, got, err)
			}
		}
	})
	t.Run("a version needs entries, and none may be left without a version", func(t *testing.T) {
		released, err := changelog.Release(text, "0.3.0")
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			text, version string
			want          error
		}{
			{released, "0.3.0", nil},
			{released, "0.2.0", nil},
			{released, "0.1.0", changelog.ErrEmpty},
			{released, "0.4.0", changelog.ErrMissing},
			{text, "0.2.0", changelog.ErrUnreleased},
			{text, "0.3.0", changelog.ErrMissing},
		} {
			if err := changelog.Check(c.text, c.version); !errors.Is(err, c.want) {
				t.Errorf("%s: got %v instead of %v", c.version, err, c.want)
			}
		}
	})
	t.Run("the unreleased entries become those of the version", func(t *testing.T) {
		released, err := changelog.Release(text, "0.3.0")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := changelog.Section(released, "0.3.0"); got != "### Moved\n- One." || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
		if _, err := changelog.Release(released, "0.4.0"); !errors.Is(err, changelog.ErrMissing) {
			t.Errorf("a version without entries: got %v", err)
		}
	})
	t.Run("the repository's changelog has sections of this form", func(t *testing.T) {
		real, err := os.ReadFile("../../../../" + changelog.File)
		if err != nil {
			t.Fatal(err)
		}
		released, err := changelog.Release(string(real), "99.0.0")
		if errors.Is(err, changelog.ErrMissing) {
			return // every entry has a version
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := changelog.Check(released, "99.0.0"); err != nil {
			t.Error(err)
		}
	})
}
