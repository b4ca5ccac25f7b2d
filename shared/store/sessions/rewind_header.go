package sessions

import (
	"maps"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/shared/domain/session"
)

// updateHeader is the change of the header by a rewind that somebody asked for:
// what is left is neither a failure nor to be answered.
func (m *marker) updateHeader(newest func() (bool, error)) (types.TransactWriteItem, error) {
	c := m.h.sameLog()
	c.wasText("rn", m.h.Run)
	remove := " REMOVE #rx, #mi, #ma, #mo"
	if m.h.Run != "" {
		c.names["#ca"] = "ca"
		remove += ", #rn, #ca"
	}
	maps.Copy(c.names, map[string]string{
		"#rx": "rx", "#mi": "mi", "#ma": "ma", "#mo": "mo", "#status": "status",
	})
	m.h.Status = session.Idle
	c.values[":status"] = str(string(session.Idle))
	set, err := m.h.andMoveUp("SET #status = :status"+m.moveOn(&c), &c, newest, m.rec.time)
	if err != nil {
		return types.TransactWriteItem{}, err
	}
	return m.s.transactUpdate(sessionKey(m.h.id()), set+remove, c), nil
}

// moveOn adds to a change of the header that the session shows what the marker
// says, if it was not rewound since it was read.
func (m *marker) moveOn(c *condition) (set string) {
	c.was("e", m.h.Epoch-1)
	maps.Copy(c.names, map[string]string{"#mk": "mk", "#tl": "tl"})
	maps.Copy(c.values, attributes{":epoch": num(m.h.Epoch), ":mk": num(m.h.Marker), ":tl": bin(m.h.Timeline)})
	return ", #e = :epoch, #mk = :mk, #tl = :tl"
}
