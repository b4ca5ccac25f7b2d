package sessions

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/rethread/rethread/shared/store/keys"

	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/store/content"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// artifactItem is one version of an artifact. It never changes. It has exactly one
// of these: a body; a pointer to the item whose body is read instead; Gone, for a
// version that reads as deleted.
type artifactItem struct {
	PK      string `dynamodbav:"PK"`
	SK      string `dynamodbav:"SK"`
	Mime    string `dynamodbav:"m,omitempty"`
	Size    int64  `dynamodbav:"z,omitempty"`
	Created int64  `dynamodbav:"ct"`
	Nonce   string `dynamodbav:"n,omitempty"` // identifies a put whose answer was lost
	content.Body
	Chunked int64 `dynamodbav:"e,omitempty"` // bytes in the chunks

	// A pointer is stored resolved: its target is never a pointer, so reads follow
	// neither chains nor cycles. Mime and Size are those of the target.
	TargetPK string `dynamodbav:"tp,omitempty"` // "" is the item's own partition
	TargetSK string `dynamodbav:"ts,omitempty"`
	// The external form of the pointer: the reference as given, or the version of
	// the same artifact that a rewind restored.
	URI      string `dynamodbav:"r,omitempty"`
	Restored *int64 `dynamodbav:"rv,omitempty"`

	Gone        bool `dynamodbav:"g,omitempty"`
	attribution      // of a version that a caller put
}

// artifactSK is the sort key of a version. Names contain no "/", so no key is a
// prefix of another name's.
func artifactSK(name string, version int64) string { return artifactPrefix(name) + keys.Pad(version) }

func artifactPrefix(name string) string { return keys.PrefixArtifact + name + "/" }

// nameAndVersion returns the name, without prefix, and the number in a version's
// key.
func (i *artifactItem) nameAndVersion() (name string, version int64, err error) {
	key := strings.TrimPrefix(i.SK, keys.PrefixArtifact)
	at := strings.LastIndexByte(key, '/')
	if version, err = strconv.ParseInt(key[at+1:], 10, 64); err != nil || at < 0 {
		return "", 0, fmt.Errorf("not the key of an artifact: %q", i.SK)
	}
	return key[:at], version, nil
}

// artifactScope is the partition of the artifacts of a session, or of those that
// the user's sessions share.
type artifactScope struct {
	pk     string
	log    string // "" for the shared ones
	prefix string // of their names
}

func sessionScope(log string) artifactScope { return artifactScope{pk: keys.LogPK(log), log: log} }

func userScope(h *header) artifactScope {
	return artifactScope{pk: keys.UserStateKey(h.App, h.User).PK, prefix: artifact.UserPrefix}
}

// scopeOf returns the scope of an artifact of a session, and its name there.
func scopeOf(h *header, name string) (on artifactScope, rest string) {
	if rest, ok := strings.CutPrefix(name, artifact.UserPrefix); ok {
		return userScope(h), rest
	}
	return sessionScope(h.Log), name
}

// version returns the domain's version of an item, as a session sees it.
func (s artifactScope) version(h *header, item *artifactItem) (artifact.Version, error) {
	name, number, err := item.nameAndVersion()
	if err != nil {
		return artifact.Version{}, err
	}
	v := artifact.Version{
		Name: s.prefix + name, Version: number, MimeType: item.Mime, Size: item.Size,
		CreatedTime: item.Created, Reference: item.URI,
	}
	if item.Restored != nil {
		t := artifact.Target{SessionID: h.id(), Name: v.Name, Version: *item.Restored}
		if s.log == "" {
			t.SessionID = ""
		}
		v.Reference = t.URI()
	}
	return v, nil
}

// newest reads the latest version of an artifact, nil if there is none, and returns
// the highest number in use, -1 if there is none.
func (s *Store) newest(ctx context.Context, on artifactScope, name string) (*artifactItem, int64, error) {
	return s.newestInSource(ctx, on.all(), name)
}

// newestInSource is newest for the versions of a source.
func (s *Store) newestInSource(ctx context.Context, src *source, name string) (*artifactItem, int64, error) {
	top := int64(-1)
	for src != nil {
		item, err := s.newestUpTo(ctx, src.pk, name, src.upTo)
		if err != nil {
			return nil, 0, err
		}
		if item != nil {
			_, number, err := item.nameAndVersion()
			return item, max(top, number), err
		}
		if src, err = s.inheritedFrom(ctx, src, name); err != nil {
			return nil, 0, err
		}
		if src != nil {
			top = max(top, src.upTo)
		}
	}
	return nil, top, nil
}

// versionAt reads one version of an artifact, nil if it does not exist.
func (s *Store) versionAt(ctx context.Context, on artifactScope, name string, number int64) (*artifactItem, error) {
	for src := on.all(); src != nil && number <= src.upTo; {
		var item artifactItem
		found, err := s.db.Get(ctx, table.NewKey(src.pk, artifactSK(name, number)), &item)
		if err != nil {
			return nil, err
		}
		if found {
			return &item, nil
		}
		if src, err = s.inheritedFrom(ctx, src, name); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// newestUpTo reads the latest version in a partition with a number of at most upTo.
func (s *Store) newestUpTo(ctx context.Context, pk, name string, upTo int64) (*artifactItem, error) {
	q := records.Range(pk, artifactPrefix(name), artifactSK(name, upTo), true)
	q.Descending, q.Limit = true, 1
	page, err := s.db.Query(ctx, q)
	if err != nil || len(page.Items) == 0 {
		return nil, err
	}
	return decodeArtifact(page.Items[0])
}

func decodeArtifact(attrs table.Item) (*artifactItem, error) {
	var item artifactItem
	if err := table.Decode(attrs, &item); err != nil {
		return nil, fmt.Errorf("decode an artifact: %w", err)
	}
	return &item, nil
}
