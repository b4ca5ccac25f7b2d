package sessions

import (
	"context"
	"strconv"

	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/archive"
	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/store/table"
)

// missingTarget is a key that no version of an artifact has: what refers to it reads
// as a reference to something that is not there any more.
const missingTarget = prefixArtifact + "/"

// artifact is the item of a version. One that the user's sessions are to share
// waits in the log until the session is visible.
func (w *importing) artifact(ctx context.Context, a archive.Artifact, i int) (any, error) {
	on, name := w.scopeOf(a.Name)
	item := &artifactItem{
		PK: on.pk, SK: artifactSK(name, a.Version), Mime: a.MimeType, Size: a.Size, Created: a.CreatedTime,
		URI: w.reference(a.Reference), Gone: a.Gone,
	}
	var err error
	switch {
	case a.Gone:
	case a.Missing:
		item.TargetSK = missingTarget
	case a.Restored != nil:
		item.Restored = a.Restored
		err = w.follow(ctx, item, on, name, i)
	case on.log != "":
		err = w.s.packBytes(ctx, item, a.Data)
	default:
		return w.stage(ctx, item, a.Data)
	}
	if on.log == "" {
		k := stagedKey(w.rec.Log, item.SK)
		return stagedItem{PK: k.PK, SK: k.SK, Item: *item}, err
	}
	return item, err
}

// scopeOf is where the session will find an artifact.
func (w *importing) scopeOf(name string) (on artifactScope, rest string) {
	return scopeOf(&header{User: w.u.UserID, App: w.doc.Session.AppName, Log: w.rec.Log}, name)
}

// checkArtifact checks that what a version restores is there.
func (w *importing) checkArtifact(ctx context.Context, a archive.Artifact, i int) error {
	if a.Gone || a.Missing || a.Restored == nil {
		return nil
	}
	on, name := w.scopeOf(a.Name)
	return w.follow(ctx, &artifactItem{}, on, name, i)
}

// reference is a reference to a version of this very session by its new id.
func (w *importing) reference(uri string) string {
	if uri == "" {
		return ""
	}
	t, err := artifact.ParseReference([]byte(uri))
	if err != nil || t == nil || t.SessionID != w.doc.Session.ID {
		return uri
	}
	t.SessionID = w.rec.Session
	return t.URI()
}

// follow makes an item point to the version that it restores, which is before
// it in the document.
func (w *importing) follow(ctx context.Context, item *artifactItem, on artifactScope, name string, i int) error {
	seen := map[int64]bool{}
	for number := *w.u.Part.Artifacts[i].Restored; ; {
		target, err := w.versionBefore(ctx, on, name, number, i)
		if err != nil {
			return err
		}
		if target == nil || target.Gone || seen[number] {
			return fault.Field(fault.Invalid, "/artifacts/"+strconv.Itoa(i)+"/restored", "must be a version before it")
		}
		if seen[number] = true; target.Restored == nil {
			item.TargetSK = artifactSK(name, number)
			if target.Missing {
				item.TargetSK = missingTarget
			}
			return nil
		}
		number = *target.Restored
	}
}

// versionBefore finds a version in the part, or in those before it.
func (w *importing) versionBefore(
	ctx context.Context, on artifactScope, name string, number int64, i int,
) (*archive.Artifact, error) {
	for _, a := range w.u.Part.Artifacts[:i] {
		if a.Name == on.prefix+name && a.Version == number {
			return &a, nil
		}
	}
	var item artifactItem
	found := false
	var err error
	if on.log != "" {
		found, err = w.s.db.Get(ctx, table.NewKey(on.pk, artifactSK(name, number)), &item)
	} else {
		var aside stagedItem
		found, err = w.s.db.Get(ctx, stagedKey(w.rec.Log, artifactSK(name, number)), &aside)
		item = aside.Item
	}
	if err != nil || !found {
		return nil, err
	}
	return &archive.Artifact{Gone: item.Gone, Missing: item.TargetSK == missingTarget, Restored: item.Restored}, nil
}

// stagedItem is a version that waits for its place on the user's scope. Its
// chunks are there already: an import that is broken off removes them.
type stagedItem struct {
	PK   string       `dynamodbav:"PK"`
	SK   string       `dynamodbav:"SK"`
	Item artifactItem `dynamodbav:"i"`
}

// stage notes a version before its chunks are written, under a name that
// follows from the import.
func (w *importing) stage(ctx context.Context, item *artifactItem, data []byte) (any, error) {
	encoded, err := w.s.content.EncodeBytes(data)
	if err != nil {
		return nil, err
	}
	k := stagedKey(w.rec.Log, item.SK)
	aside := stagedItem{PK: k.PK, SK: k.SK, Item: *item}
	if len(encoded) <= inlineArtifact {
		aside.Item.Inline = encoded
		return aside, nil
	}
	aside.Item.Blob = uuid.NewSHA1(uuid.NameSpaceOID, []byte(w.rec.Log+"\x00"+item.SK)).String()
	aside.Item.Chunked = int64(len(encoded))
	if err := w.s.db.Put(ctx, aside); err != nil {
		return nil, err
	}
	return aside, w.s.content.WriteChunks(ctx, item.PK, aside.Item.Blob, encoded, 0)
}
