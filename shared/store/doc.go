// Package store is the folder of the packages that store the domain in a table. Other
// code uses them through the interfaces of the domain; nothing else calls DynamoDB.
//
// The table has two string keys, PK and SK, and one index, "activity", with the keys
// GPK and GSK. Package keys builds the keys of the items that belong to sessions, all
// other packages those of their own items.
//
//	item                          PK           SK
//	session header                S#session    HEAD
//	log entry (one append)        L#log        E#position
//	lower bound of an invocation  L#log        I#invocation
//	lower bound of a chosen id    L#log        D#event id
//	continued body                L#log, K…#…  B#blob#chunk
//	deltas of an item             L#log        SG#position#k
//	active run                    L#log        RUN
//	queued starts                 L#log        QUEUE
//	session state, checkpoint     L#log        STATE
//	task pointer, task            L#log        TI#task, T#position#task
//	feedback of the session       L#log        F#feedback key
//	version of an artifact        L#log        A#name/version
//	artifacts of the log's source L#log        AI
//	version of a user's artifact  U#app/user   A#name/version
//	fork that reads the log       L#log        C#log of the fork
//	artifacts a fork took over    L#log        AI
//	ancestors of a deep fork      L#log        AN
//	task as earlier forks see it  L#log        TV#position#task#fork
//	compacted range of a log      L#log        P#last position
//	words of a range of a log     L#log        WS#first position
//	large metadata                L#log        MD#id
//	request to a run's agent      L#log        RQ#run/number
//	deleted log                   L#log        E#~, T#~
//	user state, app state         U#app/user, A#app   STATE
//	feedback                      F#user       time#id
//	time of a feedback            FI#user      id
//	A2A task                      AT#user      task
//	A2A task of the session       L#log        AT#task
//	idempotency key               K#user       digest
//	answer to one, by session     KA#log       digest
//	watcher of a log              W#log        W#connection
//	revocation of a share         W#log        R#share, R#share/digest of a user
//	subscriptions of a connection WC#id        W
//	retention timer of a session  L#log        RT
//	push configurations of a task NS#log       task
//	their ids                     N#log        task
//	task that a run continues     N#log        run
//	webhooks of a user            HK#user      HOOKS
//	secrets of a webhook          HS#user      webhook
//	record of a delivery          HL#user      webhook/delivery
//	lane of a slow target         DL#target    LANE
//	delivery parked in it         DL#target    P#place
//	lane of a target in a family  DL#family    LANE#target
//	delivery parked in it         DL#family    P#target#place
//	unreadable item of a lane     DL#…         ASIDE#key#time
//	keys that sign notifications  SIGN         KEYS
//	quota usage of a user         Q#user       USE
//	bytes that end on a day       Q#user       KEPT#day
//	run that messages lacked      RU#session   RUN
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
//	runs an automation started    AN#user      automation
//
// Ids contain no "/", so it separates two ids in one key. The tombstones of a deleted
// log sort right after its entries and after its tasks: a reader that reaches the end
// of either finds them without another request.
package store
