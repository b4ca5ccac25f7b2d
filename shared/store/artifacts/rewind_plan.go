package artifacts

import (
	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/domain/session"
)

// Impossible reports whether a key stands for an artifact with a name that no artifact
// can have. Events may name those, but there is nothing to restore: a rewind neither
// restores them nor reports them as conflicts.
func Impossible(key string) bool {
	name, ok := session.ArtifactOf(key)
	return ok && artifact.CheckName("", name) != nil
}
