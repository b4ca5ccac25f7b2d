package dynamodblocal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// ErrDataInUse means that another engine uses the same data folder.
var ErrDataInUse = errors.New("data folder is in use by another engine: stop it or choose another folder")

// claimDataDir makes the data folder and locks it against a second engine, whose
// writes SQLite would refuse one by one. The operating system releases the lock
// when the process ends, so a crash leaves nothing to clean up.
func claimDataDir(dir string) (release func(), err error) {
	if dir == "" {
		return func() {}, nil
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("make data folder: %w", err)
	}
	lock := flock.New(filepath.Join(dir, "engine.lock"))
	switch free, err := lock.TryLock(); {
	case err != nil:
		return nil, fmt.Errorf("lock the data folder: %w", err)
	case !free:
		return nil, fmt.Errorf("%s: %w", dir, ErrDataInUse)
	}
	return func() { _ = lock.Close() }, nil // closing the file releases the lock
}
