package sessions

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/shared/store/table"
)

// The keys of this package's items; package store lists those of all packages.
const (
	attrPK  = "PK"
	attrSK  = "SK"
	attrGPK = "GPK"
	attrGSK = "GSK"

	skHeader = "HEAD"
	skState  = "STATE"

	skDeleted      = prefixEntry + "~"
	skTasksDeleted = prefixTask + "~"

	skRun       = "RUN"
	skQueue     = "QUEUE"
	skTimer     = "RT"
	skInherited = "AI"

	prefixEntry       = "E#"
	prefixInvocation  = "I#"
	prefixChosen      = "D#"
	prefixBlob        = "B#"
	prefixTask        = "T#"
	prefixTaskPointer = "TI#"
	prefixFeedback    = "F#"
	prefixChild       = "C#"
	prefixKeptTask    = "TV#"
	prefixSegment     = "SG#"
	prefixCompacted   = "P#"
	prefixLog         = "L#"
	prefixSession     = "S#"
	prefixArtifact    = "A#"
	prefixLink        = "AT#"
	prefixStaged      = "UA#"
	prefixWordSet     = "WS#"

	gpkDeleted = "GONE"
	gpkImport  = "IMPORT"
	gpkErase   = "ERASE"
)

func sessionKey(id string) table.Key          { return table.NewKey(prefixSession+id, skHeader) }
func logPK(log string) string                 { return prefixLog + log }
func stateKey(log string) table.Key           { return table.NewKey(logPK(log), skState) }
func deletedKey(log string) table.Key         { return table.NewKey(logPK(log), skDeleted) }
func userStateKey(app, user string) table.Key { return table.NewKey("U#"+app+"/"+user, skState) }
func appStateKey(app string) table.Key        { return table.NewKey("A#"+app, skState) }
func tasksDeletedKey(log string) table.Key    { return table.NewKey(logPK(log), skTasksDeleted) }
func invocationKey(log, id string) table.Key  { return table.NewKey(logPK(log), prefixInvocation+id) }
func chosenKey(log, id string) table.Key      { return table.NewKey(logPK(log), prefixChosen+id) }
func taskPointerKey(log, id string) table.Key { return table.NewKey(logPK(log), prefixTaskPointer+id) }

func feedbackPointer(log, sk string) table.Key  { return table.NewKey(logPK(log), prefixFeedback+sk) }
func feedbackPK(user string) string             { return prefixFeedback + user }
func feedbackTimeKey(user, id string) table.Key { return table.NewKey("FI#"+user, id) }

func linkPK(user string) string              { return prefixLink + user }
func linkKey(user, task string) table.Key    { return table.NewKey(linkPK(user), task) }
func linkPointer(log, task string) table.Key { return table.NewKey(logPK(log), prefixLink+task) }

func erasureKey(user string) table.Key { return table.NewKey("ER#"+user, "ERASE") }
func quotaKey(user string) table.Key   { return table.NewKey("Q#"+user, "USE") }
func appsPK(user string) string        { return "UP#" + user }
func streamsPK(user string) string     { return "ST#" + user }
func streamKey(user string, slot int64) table.Key {
	return table.NewKey(streamsPK(user), fmt.Sprintf("%05d", slot))
}
func importPK(user string) string         { return "IM#" + user }
func importKey(user, id string) table.Key { return table.NewKey(importPK(user), id) }
func stagedKey(log, artifactSK string) table.Key {
	return table.NewKey(logPK(log), prefixStaged+artifactSK[len(prefixArtifact):])
}

func timerKey(log string) table.Key { return table.NewKey(logPK(log), skTimer) }
func runKey(log string) table.Key   { return table.NewKey(logPK(log), skRun) }
func queueKey(log string) table.Key { return table.NewKey(logPK(log), skQueue) }

func inheritedKey(log string) table.Key { return table.NewKey(logPK(log), skInherited) }

func entrySK(position int64) string { return prefixEntry + pad(position) }

func compactedSK(position int64) string { return prefixCompacted + pad(position) }

func compactedKey(log string, position int64) table.Key {
	return table.NewKey(logPK(log), compactedSK(position))
}

func wordSetKey(log string, from int64) table.Key {
	return table.NewKey(logPK(log), prefixWordSet+pad(from))
}

// compactedEnd returns the last position of a compacted range from its sort key.
func compactedEnd(sk string) (int64, error) {
	p, err := strconv.ParseInt(strings.TrimPrefix(sk, prefixCompacted), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("not the key of a compacted range: %q", sk)
	}
	return p, nil
}

func taskKey(log string, position int64, id string) table.Key {
	return table.NewKey(logPK(log), prefixTask+pad(position)+"#"+id)
}

// taskOf returns the position and the id in the sort key of a task, or of a kept
// version of one.
func taskOf(sk string) (position int64, id string, err error) {
	kept, isKept := strings.CutPrefix(sk, prefixKeptTask)
	p, id, ok := strings.Cut(strings.TrimPrefix(kept, prefixTask), "#")
	if n := strings.LastIndexByte(id, '#'); isKept && n >= 0 {
		id = id[:n] // the generation
	}
	if position, err = strconv.ParseInt(p, 10, 64); err != nil || !ok {
		return 0, "", fmt.Errorf("not the key of a task: %q", sk)
	}
	return position, id, nil
}

func positionOf(sk string) (int64, error) {
	p, err := strconv.ParseInt(strings.TrimPrefix(sk, prefixEntry), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("not the key of a log entry: %q", sk)
	}
	return p, nil
}

func segmentPrefix(position int64) string { return prefixSegment + pad(position) + "#" }

func segmentKey(log string, position int64, k int) table.Key {
	return table.NewKey(logPK(log), segmentPrefix(position)+fmt.Sprintf("%04d", k))
}

// maxPosition is the last position that pad can format: more than one partition can
// receive in a century.
const maxPosition = 9_999_999_999

// pad formats positions so that their strings sort like the numbers.
func pad(position int64) string { return fmt.Sprintf("%010d", position) }

// A user's sessions in the index, latest activity last.
func activityPK(user string) string { return "U#" + user }

func activitySK(millis int64, id string) string { return fmt.Sprintf("%013d#%s", millis, id) }

// A user's tasks with one id, over all sessions, in the index.
func taskIndexPK(user, task string) string { return "T#" + task + "/" + user }

func str(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
