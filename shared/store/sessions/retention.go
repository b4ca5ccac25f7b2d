package sessions

import (
	"fmt"
	"hash/fnv"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/table"
)

// WithRetention sets how long sessions are kept that say nothing about it
// themselves: for ever unless it is set. It is asked when a session is made, and
// when one gives up its own retention.
func WithRetention(of session.Retention) Option { return func(s *Store) { s.retention = of } }

// timer says when to look whether a session is to go. Appending to the session
// does not touch it: what a timer finds when it is due is looked at then, and a
// session in use only moves it. It comes and goes in one transaction with the
// session's header.
type timer struct {
	PK      string `dynamodbav:"PK"`
	SK      string `dynamodbav:"SK"`
	User    string `dynamodbav:"u"`
	Session string `dynamodbav:"s"`
	GPK     string `dynamodbav:"GPK"`
	GSK     string `dynamodbav:"GSK"`
}

// expireShards spreads the timers over index partitions, each of which takes
// 1,000 write units a second.
const expireShards = 4

func expireShard(n uint32) string { return fmt.Sprintf("EXPIRE#%d", n) }

func expireIndexPK(log string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(log)) // never fails
	return expireShard(h.Sum32() % expireShards)
}

// setRetention sets for how long the session is kept without activity.
func (h *header) setRetention(r session.Retained) { h.Retention, h.OwnRetention = r.Seconds, r.Own }

// retained is for how long the session is kept without activity.
func (h *header) retained() session.Retained {
	return session.Retained{Seconds: h.Retention, Own: h.OwnRetention, Imported: h.Imported}
}

// setTimer puts the timer of a session that was active at a time.
func (h *header) setTimer(active int64) table.Write {
	k := timerKey(h.Log)
	return table.Put(timer{
		PK: k.PK, SK: k.SK, User: h.User, Session: h.id(),
		GPK: expireIndexPK(h.Log), GSK: activitySK(h.retained().Expires(active), h.Log),
	})
}

// retentionChange changes for how long a session is kept: by changes of its header, and by a
// write that goes along with them.
func (s *Store) retentionChange(h *header, own int64) ([]table.Change, table.Write) {
	h.setRetention(session.RetainedFor(own, s.retention(h.Agent)))
	changes := []table.Change{
		table.Set(table.At(headerRetention), h.Retention), table.Set(table.At(headerOwnRetention), h.OwnRetention),
	}
	if h.Retention == 0 {
		return changes, table.Delete(timerKey(h.Log))
	}
	return changes, h.setTimer(h.LastActivity)
}
