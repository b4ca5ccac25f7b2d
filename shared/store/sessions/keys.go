package sessions

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/store/table"
)

// The table has two string keys, PK and SK, and one index, "activity", with
// the keys GPK and GSK. Every key is made here.
//
//	item                          PK           SK
//	session header                S#session    HEAD
//	log entry (one append)        L#log        E#position
//	lower bound of an invocation  L#log        I#invocation
//	lower bound of a chosen id    L#log        D#event id
//	continued body                L#log, K…#…  B#blob#chunk
//	deltas of an item             L#log        SG#position#k
//	active run                    L#log        RUN
//	session state, checkpoint     L#log        STATE
//	task pointer, task            L#log        TI#task, T#position#task
//	feedback of the session       L#log        F#feedback key
//	version of an artifact        L#log        A#name/version
//	artifacts of the log's source L#log        AI
//	version of a user's artifact  U#app/user   A#name/version
//	fork that reads the log       L#log        C#log of the fork
//	artifacts a fork took over    L#log        AI
//	task as earlier forks see it  L#log        TV#position#task#fork
//	sealed stretch of a log       L#log        P#last position
//	deleted log                   L#log        E#~, T#~
//	user state, app state         U#app/user, A#app   STATE
//	feedback                      F#user       time#id
//	time of a feedback            FI#user      id
//	A2A task                      AT#user      task
//	A2A task of the session       L#log        AT#task
//	idempotency key               K#user       digest
//	answer of one, of a session   KA#log       digest
//	who watches a log             W#log        W
//	what a connection watches     WC#id        W
//	when a session may be due     L#log        RT
//	who is told of an A2A task    N#log        task
//	task that a run goes on with  N#log        run
//	webhooks of a user            HK#user      HOOKS
//	secrets of a webhook          HS#user      webhook
//	what became of a delivery     HL#user      webhook/delivery
//	lane of a target that is slow DL#target    LANE
//	delivery that waits in it     DL#target    P#place
//	lane of one of a family       DL#family    LANE#target
//	delivery that waits in it     DL#family    P#target#place
//	either, if it is unreadable   DL#…         ASIDE#key#time
//	keys that sign what is told   SIGN         KEYS
//	what a user uses of quotas    Q#user       USE
//	open stream of a user         ST#user      slot
//	app in which a user has state UP#user      app
//	erasure of a user's data      ER#user      ERASE
//	import under way              IM#user      import
//	shared artifact to be taken   L#log        UA#name/version
//	share of a session            SH#log       S#share
//	user whom a share lets in     SH#log       U#user/share
//	changes of a session's shares SH#log       N
//	token of a link               SHT#digest   T
//	session shared with a user    SHU#user     log/share
//	automation                    AU#user      place
//	what an automation started    AN#user      automation
//
// Ids hold no "/", which therefore separates two of them in one key. What says
// that a log was deleted stands right behind its entries and behind its tasks:
// whoever reads either to its end meets it, without a request of its own.
const (
	attrPK  = "PK"
	attrSK  = "SK"
	attrGPK = "GPK"
	attrGSK = "GSK"

	skHeader = "HEAD"
	skState  = "STATE"

	skGone      = prefixEntry + "~"
	skTasksGone = prefixTask + "~"

	skLane      = "LANE"
	skRun       = "RUN"
	skWatch     = "W"
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
	prefixSeal        = "P#"
	prefixLog         = "L#"
	prefixSession     = "S#"
	prefixArtifact    = "A#"
	prefixLink        = "AT#"
	prefixPushed      = "N#"
	prefixTaken       = "UA#"
	prefixShares      = "SH#"
	prefixShare       = "S#"
	prefixGrant       = "U#"
	prefixClaim       = "K#"
	prefixLane        = "DL#"
	prefixParked      = "P#"
	prefixAside       = "ASIDE#"

	gpkGone   = "GONE"
	gpkImport = "IMPORT"
	gpkErase  = "ERASE"
)

func sessionKey(id string) table.Key          { return table.NewKey(prefixSession+id, skHeader) }
func logPK(log string) string                 { return prefixLog + log }
func stateKey(log string) table.Key           { return table.NewKey(logPK(log), skState) }
func goneKey(log string) table.Key            { return table.NewKey(logPK(log), skGone) }
func userStateKey(app, user string) table.Key { return table.NewKey("U#"+app+"/"+user, skState) }
func appStateKey(app string) table.Key        { return table.NewKey("A#"+app, skState) }
func tasksGoneKey(log string) table.Key       { return table.NewKey(logPK(log), skTasksGone) }
func invocationKey(log, id string) table.Key  { return table.NewKey(logPK(log), prefixInvocation+id) }
func chosenKey(log, id string) table.Key      { return table.NewKey(logPK(log), prefixChosen+id) }
func taskPointerKey(log, id string) table.Key { return table.NewKey(logPK(log), prefixTaskPointer+id) }

func feedbackPointer(log, sk string) table.Key  { return table.NewKey(logPK(log), prefixFeedback+sk) }
func feedbackPK(user string) string             { return prefixFeedback + user }
func feedbackTimeKey(user, id string) table.Key { return table.NewKey("FI#"+user, id) }

func linkPK(user string) string              { return prefixLink + user }
func linkKey(user, task string) table.Key    { return table.NewKey(linkPK(user), task) }
func linkPointer(log, task string) table.Key { return table.NewKey(logPK(log), prefixLink+task) }

// lanePK is of a group, or of a family: its lanes stand together.
func lanePK(group string) string {
	family, _ := delivery.SplitGroup(group)
	return prefixLane + family
}

func laneKey(group string) table.Key {
	if _, member := delivery.SplitGroup(group); member != "" {
		return table.NewKey(lanePK(group), skLane+"#"+member)
	}
	return table.NewKey(lanePK(group), skLane)
}

// laneGroup is the group whose lane an item is.
func laneGroup(k table.Key) string {
	family, member := strings.TrimPrefix(k.PK, prefixLane), strings.TrimPrefix(k.SK, skLane)
	if member == "" {
		return family
	}
	return delivery.JoinGroup(family, member[1:])
}

func parkedPrefix(group string) string {
	if _, member := delivery.SplitGroup(group); member != "" {
		return prefixParked + member + "#"
	}
	return prefixParked
}

func parkedKey(group, place string) table.Key {
	return table.NewKey(lanePK(group), parkedPrefix(group)+place)
}

func asideSK(sk string, millis int64) string {
	return prefixAside + sk + "#" + strconv.FormatInt(millis, 10)
}

func erasureKey(user string) table.Key { return table.NewKey("ER#"+user, "ERASE") }
func quotaKey(user string) table.Key   { return table.NewKey("Q#"+user, "USE") }
func appsPK(user string) string        { return "UP#" + user }
func streamsPK(user string) string     { return "ST#" + user }
func streamKey(user string, slot int64) table.Key {
	return table.NewKey(streamsPK(user), fmt.Sprintf("%05d", slot))
}
func importPK(user string) string         { return "IM#" + user }
func importKey(user, id string) table.Key { return table.NewKey(importPK(user), id) }
func takenKey(log, artifactSK string) table.Key {
	return table.NewKey(logPK(log), prefixTaken+artifactSK[len(prefixArtifact):])
}

func timerKey(log string) table.Key     { return table.NewKey(logPK(log), skTimer) }
func runKey(log string) table.Key       { return table.NewKey(logPK(log), skRun) }
func watchersKey(log string) table.Key  { return table.NewKey("W#"+log, skWatch) }
func connectionKey(id string) table.Key { return table.NewKey("WC#"+id, skWatch) }

func webhooksKey(user string) table.Key          { return table.NewKey("HK#"+user, "HOOKS") }
func webhookSecretKey(user, id string) table.Key { return table.NewKey("HS#"+user, id) }
func webhookRecordsPK(user string) string        { return "HL#" + user }
func webhookRecordPrefix(id string) string       { return id + "/" }
func webhookRecordKey(user, id, delivery string) table.Key {
	return table.NewKey(webhookRecordsPK(user), webhookRecordPrefix(id)+delivery)
}

func pushPK(log string) string         { return prefixPushed + log }
func pushKey(log, id string) table.Key { return table.NewKey(pushPK(log), id) }
func keyringKey() table.Key            { return table.NewKey("SIGN", "KEYS") }

func claimPK(user string) string           { return prefixClaim + user }
func claimKey(user, name string) table.Key { return table.NewKey(claimPK(user), name) }
func answersPK(log string) string          { return "KA#" + log }
func (i *keyItem) user() string            { return i.PK[len(prefixClaim):] }

func sharesPK(log string) string        { return prefixShares + log }
func shareKey(log, id string) table.Key { return table.NewKey(sharesPK(log), prefixShare+id) }
func sharingKey(log string) table.Key   { return table.NewKey(sharesPK(log), "N") }
func grantPrefix(user string) string    { return prefixGrant + user + "/" }
func grantKey(log, user, share string) table.Key {
	return table.NewKey(sharesPK(log), grantPrefix(user)+share)
}
func tokenKey(digest string) table.Key { return table.NewKey("SHT#"+digest, "T") }
func entrancesPK(user string) string   { return "SHU#" + user }
func entranceKey(user, log, share string) table.Key {
	return table.NewKey(entrancesPK(user), log+"/"+share)
}

func automationPK(user string) string      { return "AU#" + user }
func automationSK(place int) string        { return fmt.Sprintf("%02d", place) }
func startedPK(user string) string         { return "AN#" + user }
func startedKey(user, id string) table.Key { return table.NewKey(startedPK(user), id) }

func inheritedKey(log string) table.Key { return table.NewKey(logPK(log), skInherited) }

func entrySK(position int64) string { return prefixEntry + pad(position) }

func sealSK(position int64) string { return prefixSeal + pad(position) }

func sealKey(log string, position int64) table.Key { return table.NewKey(logPK(log), sealSK(position)) }

// sealEnd reads the last position of a stretch out of the sort key of its seal.
func sealEnd(sk string) (int64, error) {
	p, err := strconv.ParseInt(strings.TrimPrefix(sk, prefixSeal), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("not the key of a seal: %q", sk)
	}
	return p, nil
}

func taskKey(log string, position int64, id string) table.Key {
	return table.NewKey(logPK(log), prefixTask+pad(position)+"#"+id)
}

// taskOf reads the position and the id out of the sort key of a task, or of a
// kept version of one.
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

// maxPosition is the last that pad can write: more than one partition can take
// in a century.
const maxPosition = 9_999_999_999

// pad keeps the order of positions in the order of strings.
func pad(position int64) string { return fmt.Sprintf("%010d", position) }

// A user's sessions in the index: newest activity last.
func activityPK(user string) string { return "U#" + user }

func activitySK(millis int64, id string) string { return fmt.Sprintf("%013d#%s", millis, id) }

// A user's tasks with one id, over all sessions, in the index.
func taskIndexPK(user, task string) string { return "T#" + task + "/" + user }

func str(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
