package sessions

import (
	"fmt"
	"hash/fnv"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/table"
)

// Timer schedules the check whether a session is due to be deleted. An append
// does not change it: a due timer looks up the session's last activity, and is
// only moved if the session is in use. It is created and deleted in one
// transaction with the session's header.
type Timer struct {
	PK      string `dynamodbav:"PK"`
	SK      string `dynamodbav:"SK"`
	User    string `dynamodbav:"u"`
	Session string `dynamodbav:"s"`
	GPK     string `dynamodbav:"GPK"`
	GSK     string `dynamodbav:"GSK"`
}

// ExpireShards spreads the timers over index partitions, each of which takes
// 1,000 write units a second.
const ExpireShards = 4

// ExpireShard is the partition of a shard of the retention timers.
func ExpireShard(n uint32) string { return fmt.Sprintf("EXPIRE#%d", n) }

func expireIndexPK(log string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(log)) // never fails
	return ExpireShard(h.Sum32() % ExpireShards)
}

// setRetention sets the session's retention.
func (h *Header) setRetention(r session.Retained) { h.Retention, h.OwnRetention = r.Seconds, r.Own }

// Retained returns the session's retention.
func (h *Header) Retained() session.Retained {
	return session.Retained{Seconds: h.Retention, Own: h.OwnRetention, Imported: h.Imported}
}

// setTimer returns the write of the timer of a session with the given last
// activity, in epoch milliseconds.
func (h *Header) setTimer(active int64) table.Write {
	k := keys.TimerKey(h.Log)
	return table.Put(Timer{
		PK: k.PK, SK: k.SK, User: h.User, Session: h.ID(),
		GPK: expireIndexPK(h.Log), GSK: keys.ActivitySK(h.Retained().Expires(active), h.Log),
	})
}

// retentionChange sets a session's own retention. It returns the changes of the
// header, and the write of the timer for the same transaction.
func (s *Store) retentionChange(h *Header, own int64) ([]table.Change, table.Write) {
	h.setRetention(session.RetainedFor(own, s.retention(h.Agent)))
	changes := []table.Change{
		table.Set(table.Path{headerRetention}, h.Retention), table.Set(table.Path{headerOwnRetention}, h.OwnRetention),
	}
	if h.Retention == 0 {
		return changes, table.Delete(keys.TimerKey(h.Log))
	}
	return changes, h.setTimer(h.LastActivity)
}
