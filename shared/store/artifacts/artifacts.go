package artifacts

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
)

// ArtifactItem is one version of an artifact. It never changes. It has exactly one
// of these: a body; a pointer to the item whose body is read instead; Gone, for a
// version that reads as deleted.
type ArtifactItem struct {
	PK      string `dynamodbav:"PK"`
	SK      string `dynamodbav:"SK"`
	Mime    string `dynamodbav:"m,omitempty"`
	Size    int64  `dynamodbav:"z,omitempty"`
	Created int64  `dynamodbav:"ct"`
	Nonce   string `dynamodbav:"n,omitempty"` // identifies a put whose answer was lost
	records.Body
	Chunked int64 `dynamodbav:"e,omitempty"` // bytes in the chunks

	// A pointer is stored resolved: its target is never a pointer, so reads follow
	// neither chains nor cycles. Mime and Size are those of the target.
	TargetPK string `dynamodbav:"tp,omitempty"` // "" is the item's own partition
	TargetSK string `dynamodbav:"ts,omitempty"`
	// The external form of the pointer: the reference as given, or the version of
	// the same artifact that a rewind restored.
	URI      string `dynamodbav:"r,omitempty"`
	Restored *int64 `dynamodbav:"rv,omitempty"`

	Gone bool `dynamodbav:"g,omitempty"`
	// Gen is how often its session had been forked when it was stored: those forks
	// may name the version, but do not have it.
	Gen                  int64 `dynamodbav:"fg,omitempty"`
	eventlog.Attribution       // of a version that a caller put
}

// VersionSK is the sort key of a version. Names contain no "/", so no key is a
// prefix of another name's.
func VersionSK(name string, version int64) string { return artifactPrefix(name) + keys.Pad(version) }

func artifactPrefix(name string) string { return keys.PrefixArtifact + name + "/" }

// NameAndVersion returns the name, without prefix, and the number in a version's
// key.
func (i *ArtifactItem) NameAndVersion() (name string, version int64, err error) {
	key := strings.TrimPrefix(i.SK, keys.PrefixArtifact)
	at := strings.LastIndexByte(key, '/')
	if version, err = strconv.ParseInt(key[at+1:], 10, 64); err != nil || at < 0 {
		return "", 0, fmt.Errorf("not the key of an artifact: %q", i.SK)
	}
	return key[:at], version, nil
}

// ArtifactScope is the partition of the artifacts of a session, or of those that
// the user's sessions share.
type ArtifactScope struct {
	PK     string
	Log    string // "" for the shared ones
	Prefix string // of their names
}

// SessionScope is that of a log's artifacts.
func SessionScope(log string) ArtifactScope { return ArtifactScope{PK: keys.LogPK(log), Log: log} }

// UserScope is that of the artifacts that a user's sessions of an app share.
func UserScope(h *sessions.Header) ArtifactScope {
	return ArtifactScope{PK: keys.UserStateKey(h.App, h.User).PK, Prefix: artifact.UserPrefix}
}

// ScopeOf returns the scope of an artifact of a session, and its name there.
func ScopeOf(h *sessions.Header, name string) (on ArtifactScope, rest string) {
	if rest, ok := strings.CutPrefix(name, artifact.UserPrefix); ok {
		return UserScope(h), rest
	}
	return SessionScope(h.Log), name
}

// version returns the domain's version of an item, as a session sees it.
func (s ArtifactScope) version(h *sessions.Header, item *ArtifactItem) (artifact.Version, error) {
	name, number, err := item.NameAndVersion()
	if err != nil {
		return artifact.Version{}, err
	}
	v := artifact.Version{
		Name: s.Prefix + name, Version: number, MimeType: item.Mime, Size: item.Size,
		CreatedTime: item.Created, Reference: item.URI,
	}
	if item.Restored != nil {
		t := artifact.Target{SessionID: h.ID(), Name: v.Name, Version: *item.Restored}
		if s.Log == "" {
			t.SessionID = ""
		}
		v.Reference = t.URI()
	}
	return v, nil
}

// Newest reads the latest version of an artifact, nil if there is none, and returns
// the highest number in use, -1 if there is none.
func (s *Store) Newest(ctx context.Context, on ArtifactScope, name string) (*ArtifactItem, int64, error) {
	return s.newestInSource(ctx, on.all(), name)
}

// newestInSource is newest for the versions of a source.
func (s *Store) newestInSource(ctx context.Context, src *source, name string) (*ArtifactItem, int64, error) {
	top := int64(-1)
	for src != nil {
		item, err := s.newestUpTo(ctx, src, name)
		if err != nil {
			return nil, 0, err
		}
		if item != nil {
			_, number, err := item.NameAndVersion()
			return item, max(top, number), err
		}
		if src, err = s.inheritedFrom(ctx, src, name); err != nil {
			return nil, 0, err
		}
		if src != nil && src.Gen == 0 {
			top = max(top, src.UpTo)
		}
	}
	return nil, top, nil
}

// versionAt reads one version of an artifact, nil if it does not exist.
func (s *Store) versionAt(ctx context.Context, on ArtifactScope, name string, number int64) (*ArtifactItem, error) {
	for src := on.all(); src != nil && number <= src.UpTo; {
		var item ArtifactItem
		found, err := s.DB.Get(ctx, table.NewKey(src.PK, VersionSK(name, number)), &item)
		if err != nil {
			return nil, err
		}
		if found && src.has(&item) {
			return &item, nil
		}
		if src, err = s.inheritedFrom(ctx, src, name); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// newestUpTo reads the latest version that a source has in its own partition.
func (s *Store) newestUpTo(ctx context.Context, src *source, name string) (*ArtifactItem, error) {
	q := records.Range(src.PK, artifactPrefix(name), VersionSK(name, src.UpTo), true)
	q.Descending, q.Limit = true, 1
	var newest *ArtifactItem
	err := s.DB.Pages(ctx, q, func(items []table.Item) (bool, error) {
		for _, attrs := range items {
			item, err := DecodeArtifact(attrs)
			if err != nil {
				return false, err
			}
			if src.has(item) {
				newest = item
			}
		}
		return newest == nil, nil
	})
	return newest, err
}

// DecodeArtifact decodes a version.
func DecodeArtifact(attrs table.Item) (*ArtifactItem, error) {
	var item ArtifactItem
	if err := table.Decode(attrs, &item); err != nil {
		return nil, fmt.Errorf("decode an artifact: %w", err)
	}
	return &item, nil
}

// Impossible reports whether a key stands for an artifact with a name that no artifact
// can have. Events may name those, but there is nothing to restore: a rewind neither
// restores them nor reports them as conflicts.
func Impossible(key string) bool {
	name, ok := session.ArtifactOf(key)
	return ok && artifact.CheckName("", name) != nil
}
