package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/rethread/rethread/infra/tools/cached/store"
)

// clone is a folder whose result is a tree with a file, a program and a link.
type clone struct {
	t      *testing.T
	result string
	made   int
}

func newClone(t *testing.T) *clone {
	t.Helper()
	return &clone{t: t, result: filepath.Join(t.TempDir(), "packages", "tree")}
}

func (c *clone) makeIt() error {
	c.made++
	return errors.Join(os.MkdirAll(filepath.Join(c.result, "a", "b"), 0o750),
		os.WriteFile(filepath.Join(c.result, "list"), []byte("first"), 0o600),
		os.WriteFile(filepath.Join(c.result, "a", "b", "program"), []byte("text"), 0o700),
		os.Symlink("b/program", filepath.Join(c.result, "a", "link")))
}

func (c *clone) mustRead(name string) string {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(c.result, name))
	if err != nil {
		c.t.Fatal(err)
	}
	return string(text)
}

func TestGet(t *testing.T) {
	t.Parallel()
	t.Run("makes an entry once, and links it into the next clone", func(t *testing.T) {
		t.Parallel()
		s, one, two := store.Store{Folder: filepath.Join(t.TempDir(), "cache")}, newClone(t), newClone(t)
		for _, c := range []*clone{one, two, two} {
			if err := s.Get("tree-1", c.result, c.makeIt); err != nil {
				t.Fatal(err)
			}
		}
		if one.made != 1 || two.made != 0 {
			t.Errorf("made %d and %d times", one.made, two.made)
		}
		if two.mustRead("a/link") != "text" || two.mustRead("list") != "first" {
			t.Error("the trees differ")
		}
		info, err := os.Stat(filepath.Join(two.result, "a", "b", "program"))
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%v: %v", info.Mode(), err)
		}
		if other, err := os.Stat(filepath.Join(one.result, "a", "b", "program")); err != nil || !os.SameFile(info, other) {
			t.Errorf("the program is stored twice: %v", err)
		}
	})
	t.Run("keeps nothing of what failed", func(t *testing.T) {
		t.Parallel()
		s, c, failed := store.Store{Folder: t.TempDir()}, newClone(t), errors.New("failed")
		if err := s.Get("tree-1", c.result, func() error { return errors.Join(c.makeIt(), failed) }); !errors.Is(err, failed) {
			t.Fatal(err)
		}
		if err := s.Get("tree-1", c.result, func() error { return nil }); err != nil {
			t.Fatal(err)
		}
		if entries, err := os.ReadDir(s.Folder); err != nil || len(entries) != 1 {
			t.Errorf("%v: %v", entries, err)
		}
	})
	t.Run("replaces what was there", func(t *testing.T) {
		t.Parallel()
		s, one, two := store.Store{Folder: t.TempDir()}, newClone(t), newClone(t)
		old := filepath.Join(two.result, "old")
		if err := errors.Join(s.Get("tree-1", one.result, one.makeIt), os.MkdirAll(old, 0o750), s.Get("tree-1", two.result, two.makeIt)); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(old); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", old, err)
		}
	})
	t.Run("a list that is rewritten changes no other clone", func(t *testing.T) {
		t.Parallel()
		s, one, two := store.Store{Folder: t.TempDir()}, newClone(t), newClone(t)
		if err := errors.Join(s.Get("tree-1", one.result, one.makeIt), s.Get("tree-1", two.result, two.makeIt),
			os.WriteFile(filepath.Join(two.result, "list"), []byte("second"), 0o600)); err != nil {
			t.Fatal(err)
		}
		three := newClone(t)
		if err := s.Get("tree-1", three.result, three.makeIt); err != nil || one.mustRead("list") != "first" || three.mustRead("list") != "first" {
			t.Errorf("%v: one has %s, three %s", err, one.mustRead("list"), three.mustRead("list"))
		}
	})
	t.Run("keeps a single file", func(t *testing.T) {
		t.Parallel()
		s, folder := store.Store{Folder: t.TempDir()}, t.TempDir()
		one, two := filepath.Join(folder, "one"), filepath.Join(folder, "two")
		err := errors.Join(s.Get("file-1", one, func() error { return os.WriteFile(one, []byte("text"), 0o600) }), s.Get("file-1", two, nil))
		if text, read := os.ReadFile(two); err != nil || read != nil || string(text) != "text" {
			t.Errorf("%v, %v: %s", err, read, text)
		}
	})
	t.Run("clones that make the same at once all have it", func(t *testing.T) {
		t.Parallel()
		s := store.Store{Folder: t.TempDir()}
		clones := []*clone{newClone(t), newClone(t), newClone(t), newClone(t)}
		var making, all sync.WaitGroup
		making.Add(len(clones))
		for _, c := range clones {
			all.Go(func() {
				err := s.Get("tree-1", c.result, func() error {
					making.Done()
					making.Wait() // none has found the entry
					return c.makeIt()
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for _, c := range clones {
			if c.mustRead("a/link") != "text" {
				t.Error("a tree is not whole")
			}
		}
		if entries, err := os.ReadDir(s.Folder); err != nil || len(entries) != 1 {
			t.Errorf("%v: %v", entries, err)
		}
	})
}

func TestKey(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "lock")
	seen := map[string]bool{}
	for _, version := range []string{"1", "2"} {
		for _, text := range []string{"a", "b"} {
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			key, err := store.Key(version, []string{file})
			again, errAgain := store.Key(version, []string{file})
			if err != nil || errAgain != nil || key != again {
				t.Errorf("%s and %s: %v, %v", key, again, err, errAgain)
			}
			seen[key] = true
		}
	}
	if len(seen) != 4 {
		t.Errorf("%d different keys", len(seen))
	}
	if _, err := store.Key("1", []string{file + "-missing"}); err == nil {
		t.Error("a missing file passed")
	}
}
