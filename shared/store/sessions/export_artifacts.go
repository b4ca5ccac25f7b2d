package sessions

import (
	"context"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/archive"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// artifacts exports all versions of the session's artifacts, and of those that the
// user's sessions share.
func (x *exporting) artifacts(ctx context.Context) error {
	for _, on := range []artifactScope{sessionScope(x.h.Log), userScope(x.h)} {
		for after := ""; ; {
			batch, err := x.s.newestBatch(ctx, on, after, listBatch)
			if err != nil {
				return err
			}
			for _, item := range batch.items {
				name, _, err := item.nameAndVersion()
				if err != nil {
					return err
				}
				if err := x.versions(ctx, on, name); err != nil {
					return fmt.Errorf("artifact %q: %w", on.prefix+name, err)
				}
			}
			if after = batch.next; after == "" {
				break
			}
		}
	}
	return nil
}

// versions exports the versions of one artifact, oldest first.
func (x *exporting) versions(ctx context.Context, on artifactScope, name string) error {
	sources, err := x.s.sources(ctx, on, name)
	if err != nil {
		return err
	}
	from := int64(0)
	for i := len(sources) - 1; i >= 0; i-- {
		src := sources[i]
		if from > src.upTo {
			continue
		}
		q := records.Range(src.pk, artifactSK(name, from), artifactSK(name, src.upTo), true)
		err := x.s.db.Pages(ctx, q, func(items []table.Item) (bool, error) {
			for _, attrs := range items {
				item, err := decodeArtifact(attrs)
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
		from = max(from, src.upTo+1)
	}
	return nil
}

func (x *exporting) version(ctx context.Context, on artifactScope, item *artifactItem) error {
	name, number, err := item.nameAndVersion()
	if err != nil {
		return err
	}
	out := archive.Artifact{
		Name: on.prefix + name, Version: number, MimeType: item.Mime, Size: item.Size, CreatedTime: item.Created,
		Reference: item.URI, Restored: item.Restored, Gone: item.Gone,
	}
	if item.Gone || item.Restored != nil {
		return x.to.Artifact(out)
	}
	out.Data, err = x.s.contents(ctx, item)
	if errors.Is(err, fault.Of(fault.NotFound)) { // its target was deleted
		out.Missing, err = true, nil
	}
	if err != nil {
		return err
	}
	return x.to.Artifact(out)
}
