package archives

import (
	"context"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/archive"
	"github.com/rethread/rethread/shared/store/artifacts"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// artifacts exports all versions of the session's artifacts, and of those that the
// user's sessions share.
func (x *exporting) artifacts(ctx context.Context) error {
	for _, on := range []artifacts.ArtifactScope{artifacts.SessionScope(x.h.Log), artifacts.UserScope(x.h)} {
		for after := ""; ; {
			batch, err := x.s.artifacts.NewestBatch(ctx, on, after, artifacts.ListBatch)
			if err != nil {
				return err
			}
			for _, item := range batch.Items {
				name, _, err := item.NameAndVersion()
				if err != nil {
					return err
				}
				if err := x.versions(ctx, on, name); err != nil {
					return fmt.Errorf("artifact %q: %w", on.Prefix+name, err)
				}
			}
			if after = batch.Next; after == "" {
				break
			}
		}
	}
	return nil
}

// versions exports the versions of one artifact, oldest first.
func (x *exporting) versions(ctx context.Context, on artifacts.ArtifactScope, name string) error {
	sources, err := x.s.artifacts.Sources(ctx, on, name)
	if err != nil {
		return err
	}
	from := int64(0)
	for i := len(sources) - 1; i >= 0; i-- {
		src := sources[i]
		if from > src.UpTo {
			continue
		}
		q := records.Range(src.PK, artifacts.VersionSK(name, from), artifacts.VersionSK(name, src.UpTo), true)
		err := x.s.DB.Pages(ctx, q, func(items []table.Item) (bool, error) {
			for _, attrs := range items {
				item, err := artifacts.DecodeArtifact(attrs)
				if err != nil {
					return false, err
				}
				if err := x.version(ctx, on, item); err != nil {
					return false, err
				}
			}
			return true, nil
		})
		if err != nil {
			return err
		}
		from = max(from, src.UpTo+1)
	}
	return nil
}

func (x *exporting) version(ctx context.Context, on artifacts.ArtifactScope, item *artifacts.ArtifactItem) error {
	name, number, err := item.NameAndVersion()
	if err != nil {
		return err
	}
	out := archive.Artifact{
		Name: on.Prefix + name, Version: number, MimeType: item.Mime, Size: item.Size, CreatedTime: item.Created,
		Reference: item.URI, Restored: item.Restored, Gone: item.Gone,
	}
	if item.Gone || item.Restored != nil {
		return x.to.Artifact(out)
	}
	out.Data, err = x.s.artifacts.Contents(ctx, item)
	if errors.Is(err, fault.Of(fault.NotFound)) { // its target was deleted
		out.Missing, err = true, nil
	}
	if err != nil {
		return err
	}
	return x.to.Artifact(out)
}
