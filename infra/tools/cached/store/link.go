package store

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// link makes the tree `to` of hard links to the files of `from`. Files that are directly
// in it are copied, since npm rewrites its list there in place.
func link(from, to string) error {
	err := filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		return add(entry, path, filepath.Join(to, name), name)
	})
	if err != nil {
		return fmt.Errorf("link what is installed: %w", err)
	}
	return nil
}

func add(entry fs.DirEntry, path, made, name string) error {
	switch {
	case entry.IsDir():
		return os.Mkdir(made, 0o750)
	case entry.Type() == fs.ModeSymlink:
		target, err := os.Readlink(path)
		if err != nil {
			return err
		}
		return os.Symlink(target, made)
	case filepath.Dir(name) != "." && os.Link(path, made) == nil:
		return nil
	}
	return duplicate(path, made) // on another disk, too
}

func duplicate(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		_ = out.Close()
		return err
	}
	return out.Close()
}
