package dynamodblocal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

const lockInterval = 50 * time.Millisecond

// resolveJars returns the folder with the engine's jars and native libraries. The
// folder is named after the contents of pom.xml and appears by a rename, so if it
// exists it is complete. A changed pom.xml gets a new folder, and a running engine
// keeps its jars.
func resolveJars(ctx context.Context, root string, log *slog.Logger) (string, error) {
	pom := filepath.Join(root, "infra", "local", "dynamodb-local", "pom.xml")
	contents, err := os.ReadFile(pom) //nolint:gosec // a path inside the repository
	if err != nil {
		return "", fmt.Errorf("read the engine's Maven project: %w", err)
	}
	sum := sha256.Sum256(contents)
	base := filepath.Join(root, "build", "dynamodb-local")
	jars := filepath.Join(base, hex.EncodeToString(sum[:6]))
	if exists(jars) {
		return jars, nil
	}
	if err := os.MkdirAll(base, 0o750); err != nil {
		return "", fmt.Errorf("make the engine's folder: %w", err)
	}
	lock := flock.New(filepath.Join(base, "lock"))
	if _, err := lock.TryLockContext(ctx, lockInterval); err != nil {
		return "", fmt.Errorf("wait for another process that downloads the engine: %w", err)
	}
	defer lock.Close() //nolint:errcheck // closing the file releases the lock
	if exists(jars) {  // another process downloaded them while this one waited
		return jars, nil
	}
	log.InfoContext(ctx, "downloading DynamoDB Local with Maven; this happens once", "folder", jars)
	return jars, runMaven(ctx, pom, jars)
}

func runMaven(ctx context.Context, pom, jars string) error {
	maven, err := exec.LookPath("mvn")
	if err != nil {
		return fmt.Errorf("%w: Maven (mvn): install it, or set DYNAMODB_ENDPOINT to a running engine", ErrPrerequisite)
	}
	scratch := jars + ".partial"
	if err := os.RemoveAll(scratch); err != nil {
		return fmt.Errorf("remove %s: %w", scratch, err)
	}
	cmd := exec.CommandContext(ctx, maven, //nolint:gosec // the arguments are built here
		"--batch-mode", "--quiet", "--file", pom, "dependency:copy-dependencies", "-Djars="+scratch)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("maven could not download DynamoDB Local (%w): %s", err, strings.TrimSpace(string(out)))
	}
	if err := os.Rename(scratch, jars); err != nil {
		return fmt.Errorf("store the downloaded engine: %w", err)
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, os.ErrNotExist)
}
