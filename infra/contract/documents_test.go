package contract_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/rethread/rethread/infra/local/repo"
)

// TestDocuments checks that links and paths exist, and that indexes are complete.
func TestDocuments(t *testing.T) {
	d := mustDocuments(t)
	t.Run("the README has at most 200 lines", func(t *testing.T) {
		if lines := strings.Count(d.text(t, "README.md"), "\n"); lines > 200 {
			t.Errorf("it has %d lines", lines)
		}
	})
	t.Run("every link has an existing file and anchor", func(t *testing.T) {
		links := 0
		for _, page := range d.pages {
			for _, link := range d.links(t, page) {
				links++
				d.follow(t, page, link)
			}
		}
		if t.Logf("%d links of %d pages", links, len(d.pages)); links < 150 {
			t.Errorf("found only %d links: does the pattern still match?", links)
		}
	})
	for _, index := range []string{"docs/README.md", "docs/llms.txt"} {
		t.Run("every page is in "+index, func(t *testing.T) { d.lists(t, index) })
	}
	for page, least := range map[string]int{"docs/architecture.md": 50, "CONTRIBUTING.md": 60} {
		t.Run("every path in "+page+" exists", func(t *testing.T) {
			paths := sourcePath.FindAllStringSubmatch(d.text(t, page), -1)
			for _, found := range paths {
				d.exists(t, page, found[1])
			}
			if t.Logf("%d paths", len(paths)); len(paths) < least {
				t.Errorf("found only %d paths: does the pattern still match?", len(paths))
			}
		})
	}
	t.Run("every decision is in docs/adr/README.md once, with its title and status", func(t *testing.T) { d.decisions(t) })
	t.Run("every step in docs/architecture.md names code of its files", func(t *testing.T) {
		names := 0
		for _, step := range stepRow.FindAllStringSubmatch(d.text(t, "docs/architecture.md"), -1) {
			code := ""
			for _, file := range sourcePath.FindAllStringSubmatch(step[3], -1) {
				code += d.text(t, file[1])
			}
			for _, name := range codeName.FindAllStringSubmatch(step[2], -1) {
				names++
				if !strings.Contains(strings.ToLower(code), strings.ToLower(name[1])) {
					t.Errorf("step %s: no file named there has %s", step[1], name[1])
				}
			}
		}
		if t.Logf("%d names", names); names < 40 {
			t.Errorf("found only %d names: does the pattern still match?", names)
		}
	})
}

var (
	// fenced is a block of code, whose brackets are not links.
	fenced = regexp.MustCompile("(?ms)^```.*?^```$")
	// target is the destination of a link.
	target = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	// heading is a heading's text.
	heading = regexp.MustCompile(`(?m)^#{1,6} +(.+?) *$`)
	// sourcePath is a file or folder in backticks, from the root.
	sourcePath = regexp.MustCompile("`((?:clients|docs|events|functions|infra|samplerequests|shared)/[\\w./-]+)`")
	// stepRow is a numbered row: its number, what happens, and the files that do it.
	stepRow = regexp.MustCompile(`(?m)^\| (\d+)\. (.+) \| (.+) \|$`)
	// decision is a row of the index of decisions: number, title, file, status.
	decision = regexp.MustCompile(`(?m)^\| (\d+) \| \[(.+)\]\((\d{4}-[a-z0-9-]+\.md)\) \| (.+) \|$`)
	// codeName is the last part of a name in backticks, such as Append of Store.Append.
	codeName = regexp.MustCompile("`(?:[A-Za-z]+\\.)?([A-Za-z]+)`")
)

// documents are README.md, CONTRIBUTING.md and the pages of docs, by their paths
// from the root.
type documents struct {
	root  string
	pages []string
}

func mustDocuments(t *testing.T) documents {
	t.Helper()
	root, err := repo.Root("")
	if err != nil {
		t.Fatal(err)
	}
	d := documents{root: root, pages: []string{"README.md", "CONTRIBUTING.md"}}
	err = fs.WalkDir(os.DirFS(root), "docs", func(name string, _ fs.DirEntry, err error) error {
		if path.Ext(name) == ".md" {
			d.pages = append(d.pages, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (d documents) text(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(d.root, filepath.FromSlash(page)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// links are the relative links of a page.
func (d documents) links(t *testing.T, page string) []string {
	t.Helper()
	var out []string
	for _, found := range target.FindAllStringSubmatch(fenced.ReplaceAllString(d.text(t, page), ""), -1) {
		if !strings.Contains(found[1], "://") {
			out = append(out, found[1])
		}
	}
	return out
}

// follow fails if the file or the anchor of a page's link does not exist.
func (d documents) follow(t *testing.T, page, link string) {
	t.Helper()
	name, anchor, anchored := strings.Cut(link, "#")
	to := page
	if name != "" {
		to = path.Join(path.Dir(page), name)
	}
	if !d.exists(t, page, to) || !anchored || path.Ext(to) != ".md" {
		return
	}
	for _, found := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(d.text(t, to), ""), -1) {
		if slug(found[1]) == anchor {
			return
		}
	}
	t.Errorf("%s: %s has no heading #%s", page, to, anchor)
}

func (d documents) exists(t *testing.T, page, name string) bool {
	t.Helper()
	_, err := os.Stat(filepath.Join(d.root, filepath.FromSlash(name)))
	if err != nil {
		t.Errorf("%s: %v", page, err)
	}
	return err == nil
}

// lists fails for each page of docs that an index lacks.
func (d documents) lists(t *testing.T, index string) {
	t.Helper()
	listed := map[string]bool{index: true}
	for _, link := range d.links(t, index) {
		name, _, _ := strings.Cut(link, "#")
		to := path.Join(path.Dir(index), name)
		listed[to] = d.exists(t, index, to)
	}
	for _, page := range d.pages {
		if path.Dir(page) == "docs" && !listed[page] {
			t.Errorf("%s does not list %s", index, page)
		}
	}
}

// slug is the anchor of a heading on GitHub.
func slug(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_':
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

// decisions fails unless the index of decisions has each record once, with its title
// and whether a newer one supersedes it as a whole.
func (d documents) decisions(t *testing.T) {
	t.Helper()
	const folder = "docs/adr/"
	rows := map[string][]string{}
	for _, row := range decision.FindAllStringSubmatch(d.text(t, folder+"README.md"), -1) {
		if rows[row[3]] != nil {
			t.Errorf("%s is listed twice", row[3])
		}
		rows[row[3]] = row
	}
	records := 0
	for _, page := range d.pages {
		if path.Dir(page)+"/" != folder || path.Base(page) == "README.md" {
			continue
		}
		records++
		lines := strings.SplitN(d.text(t, page), "\n", 4)
		row := rows[path.Base(page)]
		if row == nil {
			t.Errorf("the index lacks %s", page)
			continue
		}
		if want := "# " + row[1] + ". " + row[2]; lines[0] != want {
			t.Errorf("%s begins with %q, the index has %q", page, lines[0], want)
		}
		superseded := strings.HasPrefix(lines[2], "Status: superseded") || strings.Contains(lines[2], "; superseded by")
		if strings.HasPrefix(row[4], "superseded by") != superseded {
			t.Errorf("%s: %q in the index, %q in the record", page, row[4], lines[2])
		}
	}
	if t.Logf("%d records", records); records < 70 {
		t.Errorf("found only %d records", records)
	}
}
