// Package store is the folder of what keeps the domain in a table. Other code meets
// it through the interfaces of the domain; nothing else talks to DynamoDB.
//
// The table has two string keys, PK and SK, and one index, "activity", with
// the keys GPK and GSK. Each package makes
// the keys of what it keeps, which no other does.
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
package store
