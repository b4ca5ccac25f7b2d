package main

import (
	"io/fs"
	"os"
	"path/filepath"
)

// copyAll copies a file or a folder of files to the folder dst.
func copyAll(dst string, files fs.FS, name string) error {
	return fs.WalkDir(files, name, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(dst, filepath.FromSlash(path))
		if entry.IsDir() {
			return os.MkdirAll(to, 0o750)
		}
		content, err := fs.ReadFile(files, path)
		if err != nil {
			return err
		}
		return os.WriteFile(to, content, 0o600)
	})
}
