// Package keys builds the keys of the items that belong to sessions, all in one place, so
// that no two kinds of items collide. Package store lists those of all packages.
package keys

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/shared/store/table"
)

// The keys of this package's items; package store lists those of all packages.
const (
	AttrGPK = "GPK"
	AttrGSK = "GSK"

	AttrTombstone = "g"  // of the entry of a log, which marks a tombstone
	AttrOwner     = "u"  // of what refers to feedback or to a link
	AttrGuest     = "gu" // of what refers to a link

	SkHeader = "HEAD"
	SkState  = "STATE"

	SkDeleted      = PrefixEntry + "~"
	SkTasksDeleted = PrefixTask + "~"

	SkRun       = "RUN"
	SkQueue     = "QUEUE"
	SkTimer     = "RT"
	SkInherited = "AI"
	SkAncestors = "AN"

	PrefixEntry       = "E#"
	PrefixInvocation  = "I#"
	PrefixChosen      = "D#"
	PrefixBlob        = "B#"
	PrefixTask        = "T#"
	PrefixTaskPointer = "TI#"
	PrefixFeedback    = "F#"
	PrefixChild       = "C#"
	PrefixKeptTask    = "TV#"
	PrefixSegment     = "SG#"
	PrefixCompacted   = "P#"
	PrefixLog         = "L#"
	PrefixSession     = "S#"
	PrefixArtifact    = "A#"
	PrefixLink        = "AT#"
	PrefixStaged      = "UA#"
	PrefixWordSet     = "WS#"
	PrefixMetadata    = "MD#"
	PrefixSent        = "RQ#"

	GpkDeleted = "GONE"
	GpkImport  = "IMPORT"
	GpkErase   = "ERASE"
)

// SessionKey is that of a session's header.
func SessionKey(id string) table.Key { return table.NewKey(PrefixSession+id, SkHeader) }

// LogPK is the partition of a log.
func LogPK(log string) string { return PrefixLog + log }

// StateKey is that of the checkpoint of a log's state.
func StateKey(log string) table.Key { return table.NewKey(LogPK(log), SkState) }

// DeletedKey is that of the pending removal of a deleted session's log.
func DeletedKey(log string) table.Key { return table.NewKey(LogPK(log), SkDeleted) }

// UserStateKey is that of a user's state in an app.
func UserStateKey(app, user string) table.Key { return table.NewKey("U#"+app+"/"+user, SkState) }

// AppStateKey is that of an app's state.
func AppStateKey(app string) table.Key { return table.NewKey("A#"+app, SkState) }

// TasksDeletedKey is that of the tombstone behind the tasks of a deleted session.
func TasksDeletedKey(log string) table.Key { return table.NewKey(LogPK(log), SkTasksDeleted) }

// InvocationKey is that of an invocation's lower bound.
func InvocationKey(log, id string) table.Key { return table.NewKey(LogPK(log), PrefixInvocation+id) }

// ChosenKey is that of the lower bound of an id that a caller chose.
func ChosenKey(log, id string) table.Key { return table.NewKey(LogPK(log), PrefixChosen+id) }

// TaskPointerKey is that of a task's pointer.
func TaskPointerKey(log, id string) table.Key { return table.NewKey(LogPK(log), PrefixTaskPointer+id) }

// FeedbackPointer is that of a session's reference to feedback.
func FeedbackPointer(log, sk string) table.Key { return table.NewKey(LogPK(log), PrefixFeedback+sk) }

// FeedbackPK is the partition of a user's feedback.
func FeedbackPK(user string) string { return PrefixFeedback + user }

// FeedbackTimeKey is that of the time of feedback.
func FeedbackTimeKey(user, id string) table.Key { return table.NewKey("FI#"+user, id) }

// LinkPK is the partition of a user's links.
func LinkPK(user string) string { return PrefixLink + user }

// LinkKey is that of a link to a task.
func LinkKey(user, task string) table.Key { return table.NewKey(LinkPK(user), task) }

// LinkPointer is that of a session's reference to a link.
func LinkPointer(log, task string) table.Key { return table.NewKey(LogPK(log), PrefixLink+task) }

// ErasureKey is that of a user's erasure.
func ErasureKey(user string) table.Key { return table.NewKey("ER#"+user, "ERASE") }

// QuotaKey is that of a user's usage.
func QuotaKey(user string) table.Key { return table.NewKey("Q#"+user, "USE") }

// KeptKey is that of the bytes that a user keeps until a day since 1970.
func KeptKey(user string, day int64) table.Key {
	return table.NewKey(QuotaKey(user).PK, fmt.Sprintf("KEPT#%06d", day))
}

// AppsPK is the partition of the apps in which a user has state or artifacts.
func AppsPK(user string) string { return "UP#" + user }

// StreamsPK is the partition of a user's stream slots.
func StreamsPK(user string) string { return "ST#" + user }

// StreamKey is that of a stream slot.
func StreamKey(user string, slot int64) table.Key {
	return table.NewKey(StreamsPK(user), fmt.Sprintf("%05d", slot))
}

// ImportPK is the partition of a user's imports.
func ImportPK(user string) string { return "IM#" + user }

// ImportKey is that of an import.
func ImportKey(user, id string) table.Key { return table.NewKey(ImportPK(user), id) }

// StagedKey is that of an artifact's version that an import has staged.
func StagedKey(log, artifactSK string) table.Key {
	return table.NewKey(LogPK(log), PrefixStaged+artifactSK[len(PrefixArtifact):])
}

// TimerKey is that of a session's retention timer.
func TimerKey(log string) table.Key { return table.NewKey(LogPK(log), SkTimer) }

// RunKey is that of a session's active run.
func RunKey(log string) table.Key { return table.NewKey(LogPK(log), SkRun) }

// SentPrefix begins the sort keys of what the agent of a run was sent.
func SentPrefix(run string) string { return PrefixSent + run + "/" }

// SentSK is the sort key of one of these requests.
func SentSK(run string, place int64) string { return SentPrefix(run) + fmt.Sprintf("%06d", place) }

// QueueKey is that of a session's queue.
func QueueKey(log string) table.Key { return table.NewKey(LogPK(log), SkQueue) }

// InheritedKey is that of the artifacts that a log inherits.
func InheritedKey(log string) table.Key { return table.NewKey(LogPK(log), SkInherited) }

// AncestorsKey is that of the ancestors of a deep fork.
func AncestorsKey(log string) table.Key { return table.NewKey(LogPK(log), SkAncestors) }

// EntrySK is the sort key of the entry at a position.
func EntrySK(position int64) string { return PrefixEntry + Pad(position) }

// CompactedSK is the sort key of the compacted range up to a position.
func CompactedSK(position int64) string { return PrefixCompacted + Pad(position) }

// CompactedKey is that of the compacted range up to a position.
func CompactedKey(log string, position int64) table.Key {
	return table.NewKey(LogPK(log), CompactedSK(position))
}

// WordSetKey is that of the words from a position on.
func WordSetKey(log string, from int64) table.Key {
	return table.NewKey(LogPK(log), PrefixWordSet+Pad(from))
}

// CompactedEnd returns the last position of a compacted range from its sort key.
func CompactedEnd(sk string) (int64, error) {
	p, err := strconv.ParseInt(strings.TrimPrefix(sk, PrefixCompacted), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("not the key of a compacted range: %q", sk)
	}
	return p, nil
}

// TaskKey is that of a task at a position.
func TaskKey(log string, position int64, id string) table.Key {
	return table.NewKey(LogPK(log), PrefixTask+Pad(position)+"#"+id)
}

// TaskOf returns the position and the id in the sort key of a task, or of a kept
// version of one.
func TaskOf(sk string) (position int64, id string, err error) {
	kept, isKept := strings.CutPrefix(sk, PrefixKeptTask)
	p, id, ok := strings.Cut(strings.TrimPrefix(kept, PrefixTask), "#")
	if n := strings.LastIndexByte(id, '#'); isKept && n >= 0 {
		id = id[:n] // the generation
	}
	if position, err = strconv.ParseInt(p, 10, 64); err != nil || !ok {
		return 0, "", fmt.Errorf("not the key of a task: %q", sk)
	}
	return position, id, nil
}

// PositionOf returns the position in the sort key of an entry.
func PositionOf(sk string) (int64, error) {
	p, err := strconv.ParseInt(strings.TrimPrefix(sk, PrefixEntry), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("not the key of a log entry: %q", sk)
	}
	return p, nil
}

// SegmentPrefix begins the sort keys of an item's segments.
func SegmentPrefix(position int64) string { return PrefixSegment + Pad(position) + "#" }

// SegmentKey is that of the k-th segment of an item.
func SegmentKey(log string, position int64, k int) table.Key {
	return table.NewKey(LogPK(log), SegmentPrefix(position)+fmt.Sprintf("%04d", k))
}

// MaxPosition is the last position that Pad can format: more than one partition can
// receive in a century.
const MaxPosition = 9_999_999_999

// Pad formats positions so that their strings sort like the numbers.
func Pad(position int64) string { return fmt.Sprintf("%010d", position) }

// ActivityPK user's sessions in the index, latest activity last.
func ActivityPK(user string) string { return "U#" + user }

// ActivitySK is the sort key in the index of what was active, or is due, at a time.
func ActivitySK(millis int64, id string) string { return fmt.Sprintf("%013d#%s", millis, id) }

// TaskIndexPK user's tasks with one id, over all sessions, in the index.
func TaskIndexPK(user, task string) string { return "T#" + task + "/" + user }

// Str is a string as an attribute.
func Str(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
