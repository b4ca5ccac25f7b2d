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

	GpkDeleted = "GONE"
	GpkImport  = "IMPORT"
	GpkErase   = "ERASE"
)

func SessionKey(id string) table.Key          { return table.NewKey(PrefixSession+id, SkHeader) }
func LogPK(log string) string                 { return PrefixLog + log }
func StateKey(log string) table.Key           { return table.NewKey(LogPK(log), SkState) }
func DeletedKey(log string) table.Key         { return table.NewKey(LogPK(log), SkDeleted) }
func UserStateKey(app, user string) table.Key { return table.NewKey("U#"+app+"/"+user, SkState) }
func AppStateKey(app string) table.Key        { return table.NewKey("A#"+app, SkState) }
func TasksDeletedKey(log string) table.Key    { return table.NewKey(LogPK(log), SkTasksDeleted) }
func InvocationKey(log, id string) table.Key  { return table.NewKey(LogPK(log), PrefixInvocation+id) }
func ChosenKey(log, id string) table.Key      { return table.NewKey(LogPK(log), PrefixChosen+id) }
func TaskPointerKey(log, id string) table.Key { return table.NewKey(LogPK(log), PrefixTaskPointer+id) }

func FeedbackPointer(log, sk string) table.Key  { return table.NewKey(LogPK(log), PrefixFeedback+sk) }
func FeedbackPK(user string) string             { return PrefixFeedback + user }
func FeedbackTimeKey(user, id string) table.Key { return table.NewKey("FI#"+user, id) }

func LinkPK(user string) string              { return PrefixLink + user }
func LinkKey(user, task string) table.Key    { return table.NewKey(LinkPK(user), task) }
func LinkPointer(log, task string) table.Key { return table.NewKey(LogPK(log), PrefixLink+task) }

func ErasureKey(user string) table.Key { return table.NewKey("ER#"+user, "ERASE") }
func QuotaKey(user string) table.Key   { return table.NewKey("Q#"+user, "USE") }
func AppsPK(user string) string        { return "UP#" + user }
func StreamsPK(user string) string     { return "ST#" + user }
func StreamKey(user string, slot int64) table.Key {
	return table.NewKey(StreamsPK(user), fmt.Sprintf("%05d", slot))
}
func ImportPK(user string) string         { return "IM#" + user }
func ImportKey(user, id string) table.Key { return table.NewKey(ImportPK(user), id) }
func StagedKey(log, artifactSK string) table.Key {
	return table.NewKey(LogPK(log), PrefixStaged+artifactSK[len(PrefixArtifact):])
}

func TimerKey(log string) table.Key { return table.NewKey(LogPK(log), SkTimer) }
func RunKey(log string) table.Key   { return table.NewKey(LogPK(log), SkRun) }
func QueueKey(log string) table.Key { return table.NewKey(LogPK(log), SkQueue) }

func InheritedKey(log string) table.Key { return table.NewKey(LogPK(log), SkInherited) }

func EntrySK(position int64) string { return PrefixEntry + Pad(position) }

func CompactedSK(position int64) string { return PrefixCompacted + Pad(position) }

func CompactedKey(log string, position int64) table.Key {
	return table.NewKey(LogPK(log), CompactedSK(position))
}

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

func PositionOf(sk string) (int64, error) {
	p, err := strconv.ParseInt(strings.TrimPrefix(sk, PrefixEntry), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("not the key of a log entry: %q", sk)
	}
	return p, nil
}

func SegmentPrefix(position int64) string { return PrefixSegment + Pad(position) + "#" }

func SegmentKey(log string, position int64, k int) table.Key {
	return table.NewKey(LogPK(log), SegmentPrefix(position)+fmt.Sprintf("%04d", k))
}

// MaxPosition is the last position that Pad can format: more than one partition can
// receive in a century.
const MaxPosition = 9_999_999_999

// Pad formats positions so that their strings sort like the numbers.
func Pad(position int64) string { return fmt.Sprintf("%010d", position) }

// A user's sessions in the index, latest activity last.
func ActivityPK(user string) string { return "U#" + user }

func ActivitySK(millis int64, id string) string { return fmt.Sprintf("%013d#%s", millis, id) }

// A user's tasks with one id, over all sessions, in the index.
func TaskIndexPK(user, task string) string { return "T#" + task + "/" + user }

func Str(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
