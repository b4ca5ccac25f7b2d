package plan

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Hash returns a name for the files of a checkout in the given folders: those that git
// tracks, or would, as they are now. Committing them changes nothing. The record of what
// has passed is none of them.
func Hash(ctx context.Context, root string, paths []string) (string, error) {
	args := append([]string{"-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"}, paths...)
	names, err := exec.CommandContext(ctx, "git", args...).Output()
	if err != nil {
		return "", fmt.Errorf("list the files of %s: %w", strings.Join(paths, ", "), err)
	}
	h := sha256.New()
	for name := range bytes.SplitSeq(names, []byte{0}) {
		if len(name) == 0 || string(name) == Record {
			continue
		}
		if err := add(h, root, string(name)); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}

func add(h io.Writer, root, name string) error {
	path := filepath.Join(root, filepath.FromSlash(name))
	info, err := os.Lstat(path)
	if os.IsNotExist(err) {
		return nil // deleted, but not committed
	}
	if err != nil {
		return fmt.Errorf("hash %s: %w", name, err)
	}
	text := []byte{}
	if info.Mode()&os.ModeSymlink != 0 {
		target, err := os.Readlink(path)
		if err != nil {
			return fmt.Errorf("hash %s: %w", name, err)
		}
		text = []byte(target)
	} else if info.Mode().IsRegular() {
		if text, err = os.ReadFile(path); err != nil {
			return fmt.Errorf("hash %s: %w", name, err)
		}
	}
	_, err = fmt.Fprintf(h, "%q %t %x\n", name, info.Mode().Perm()&0o100 != 0, sha256.Sum256(text))
	return err
}
