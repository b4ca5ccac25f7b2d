package archives

import (
	"context"

	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/domain/archive"
	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/store/artifacts"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/sessions"
)

// missingTarget is a key that no version of an artifact has. A reference to it
// reads like one to a deleted version.
const missingTarget = keys.PrefixArtifact + "/"

// artifact returns the item of a version. A version that the user's sessions
// share is kept in the log until the session is visible.
func (w *importing) artifact(ctx context.Context, a archive.Artifact, i int) (any, error) {
	on, name := w.scopeOf(w.checked.After.Head, a.Name)
	item := &artifacts.ArtifactItem{
		PK: on.PK, SK: artifacts.VersionSK(name, a.Version), Mime: a.MimeType, Size: a.Size, Created: a.CreatedTime,
		URI: w.reference(a.Reference), Gone: a.Gone,
	}
	var err error
	switch {
	case a.Gone:
	case a.Missing:
		item.TargetSK = missingTarget
	case a.Restored != nil:
		item.Restored, item.TargetSK = a.Restored, artifacts.VersionSK(name, w.checked.Targets[i].Version)
		if w.checked.Targets[i].Missing {
			item.TargetSK = missingTarget
		}
	case on.Log != "":
		err = w.s.artifacts.PackBytes(ctx, item, a.Data)
	default:
		return w.stage(ctx, item, a.Data)
	}
	if on.Log == "" {
		k := keys.StagedKey(w.rec.Log, item.SK)
		return stagedItem{PK: k.PK, SK: k.SK, Item: *item}, err
	}
	return item, err
}

// scopeOf returns the scope of an artifact in the imported session, and its name
// there.
func (w *importing) scopeOf(doc archive.Head, name string) (on artifacts.ArtifactScope, rest string) {
	return artifacts.ScopeOf(&sessions.Header{Identity: sessions.Identity{User: w.u.UserID, App: doc.Session.AppName, Log: w.rec.Log}}, name)
}

// reference returns the URI of a reference, with the new session id if it refers
// to this session.
func (w *importing) reference(uri string) string {
	if uri == "" {
		return ""
	}
	t, err := artifact.ParseReference([]byte(uri))
	if err != nil || t == nil || t.SessionID != w.checked.After.Head.Session.ID {
		return uri
	}
	t.SessionID = w.rec.Session
	return t.URI()
}

// stagedItem is a version that will move to the user's scope when the import
// completes. Its chunks are already in that place; abandoning the import removes
// them.
type stagedItem struct {
	PK   string                 `dynamodbav:"PK"`
	SK   string                 `dynamodbav:"SK"`
	Item artifacts.ArtifactItem `dynamodbav:"i"`
}

// stage records a version before its chunks are written, under a name that
// depends on the import alone.
func (w *importing) stage(ctx context.Context, item *artifacts.ArtifactItem, data []byte) (any, error) {
	encoded, err := w.s.content.EncodeBytes(data)
	if err != nil {
		return nil, err
	}
	k := keys.StagedKey(w.rec.Log, item.SK)
	aside := stagedItem{PK: k.PK, SK: k.SK, Item: *item}
	if len(encoded) <= artifacts.InlineArtifact {
		aside.Item.Inline = encoded
		return aside, nil
	}
	aside.Item.Blob = uuid.NewSHA1(uuid.NameSpaceOID, []byte(w.rec.Log+"\x00"+item.SK)).String()
	aside.Item.Chunked = int64(len(encoded))
	if err := w.s.DB.Put(ctx, aside); err != nil {
		return nil, err
	}
	return aside, w.s.content.WriteChunks(ctx, item.PK, aside.Item.Blob, encoded, 0)
}
