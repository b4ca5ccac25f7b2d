package dynamodblocal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// ErrDataInUse says that another engine works on the same data folder.
var ErrDataInUse = errors.New("data folder is in use by another engine: stop it or choose another folder")

const lockInterval = 50 * time.Millisecond

// lockFile waits for the exclusive lock of a file. The system releases it when
// the process ends, so a crash leaves nothing to clean.
func lockFile(ctx context.Context, path string) (release func(), err error) {
	for {
		release, err := tryLock(path)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return release, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for %s: %w", path, ctx.Err())
		case <-time.After(lockInterval):
		}
	}
}

func tryLock(path string) (release func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // a path chosen by this program
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), file.Close())
	}
	return func() { _ = file.Close() }, nil // closing releases the lock
}

// claimDataDir makes the data folder and holds it against a second engine,
// whose writes SQLite would refuse one by one.
func claimDataDir(dir string) (release func(), err error) {
	if dir == "" {
		return func() {}, nil
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("make data folder: %w", err)
	}
	release, err = tryLock(filepath.Join(dir, "engine.lock"))
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("%s: %w", dir, ErrDataInUse)
	}
	return release, err
}
