package watch_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	client "github.com/rethread/rethread/clients/go/watch"
	"github.com/rethread/rethread/shared/domain/watch"
)

// unsubscribe ends all subscriptions to session s, as the fan-out does. The next
// subscription is answered with status; 0 accepts it.
func (c *cloud) unsubscribe(reason watch.Reason, status int) {
	const id = "s"
	c.mu.Lock()
	defer c.mu.Unlock()
	if status != 0 {
		c.status[id] = status
	}
	for conn, watching := range c.sockets {
		if watching[id] {
			delete(watching, id)
			c.write(conn, watch.NewUnsubscribedNotice(id, reason).Frame())
		}
	}
}

func TestAccessEnds(t *testing.T) {
	for _, reason := range []watch.Reason{watch.ReasonRevoked, watch.ReasonExpired} {
		inBubble(t, "access "+string(reason)+": ends when the server rejects the next subscription", func(c *cloud) {
			t := c.t
			cl := c.open()
			f, other := follow(t, cl, "s"), follow(t, cl, "other")
			c.asked()
			c.unsubscribe(reason, 403)
			if err := <-f.done; !errors.Is(err, client.ErrForbidden) {
				t.Errorf("got %v", err)
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			wantAsked(t, c, "subscribe s", "unsubscribe s")
			c.do("other", answer)
			synctest.Wait()
			c.wantThread("other", other.now())
		})
	}
	inBubble(t, "continues without a gap if access remains", func(c *cloud) {
		t := c.t
		f := follow(t, c.open(), "s")
		c.do("s", answer)
		synctest.Wait()
		c.asked()
		c.unsubscribe(watch.ReasonRevoked, 0)
		c.do("s", func(m *model) { m.flush(text("world")) })
		time.Sleep(time.Second)
		synctest.Wait()
		wantAsked(t, c, "subscribe s")
		c.wantThread("s", f.now())
	})
	inBubble(t, "backs off when the server accepts and ends subscriptions repeatedly", func(c *cloud) {
		t := c.t
		follow(t, c.open(), "s")
		c.asked()
		for range 600 {
			c.unsubscribe(watch.ReasonExpired, 0)
			time.Sleep(100 * time.Millisecond)
			synctest.Wait()
		}
		if n := len(c.asked()); n > 500 {
			t.Errorf("%d requests in a minute", n)
		}
	})
	inBubble(t, "reconnects when the token has expired", func(c *cloud) {
		t := c.t
		f := follow(t, c.open(), "s")
		c.do("s", answer)
		synctest.Wait()
		c.asked()
		c.unsubscribe(watch.ReasonToken, 0)
		time.Sleep(time.Second)
		synctest.Wait()
		wantAsked(t, c, "connect", "subscribe s")
		c.wantThread("s", f.now())
	})
}
