package watch_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	client "github.com/rethread/rethread/clients/go/watch"
	"github.com/rethread/rethread/shared/domain/watch"
)

// dismiss takes whoever watches s off it, as the fan-out does; asking again is
// answered with status, 0 for being let in.
func (c *cloud) dismiss(reason watch.Reason, status int) {
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

func TestWatchingNoLonger(t *testing.T) {
	for _, reason := range []watch.Reason{watch.ReasonRevoked, watch.ReasonExpired} {
		inBubble(t, "a right that is "+string(reason)+" is the end once the server says so", func(c *cloud) {
			t := c.t
			cl := c.open()
			f, other := follow(t, cl, "s"), follow(t, cl, "other")
			c.asked()
			c.dismiss(reason, 403)
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
	inBubble(t, "who has another right goes on without a gap", func(c *cloud) {
		t := c.t
		f := follow(t, c.open(), "s")
		c.do("s", answer)
		synctest.Wait()
		c.asked()
		c.dismiss(watch.ReasonRevoked, 0)
		c.do("s", func(m *model) { m.flush(text("world")) })
		time.Sleep(time.Second)
		synctest.Wait()
		wantAsked(t, c, "subscribe s")
		c.wantThread("s", f.now())
	})
	inBubble(t, "being let in and put out again and again makes no storm", func(c *cloud) {
		t := c.t
		follow(t, c.open(), "s")
		c.asked()
		for range 600 {
			c.dismiss(watch.ReasonExpired, 0)
			time.Sleep(100 * time.Millisecond)
			synctest.Wait()
		}
		if n := len(c.asked()); n > 500 {
			t.Errorf("asked %d times in a minute", n)
		}
	})
	inBubble(t, "a token that has ended takes another connection", func(c *cloud) {
		t := c.t
		f := follow(t, c.open(), "s")
		c.do("s", answer)
		synctest.Wait()
		c.asked()
		c.dismiss(watch.ReasonToken, 0)
		time.Sleep(time.Second)
		synctest.Wait()
		wantAsked(t, c, "connect", "subscribe s")
		c.wantThread("s", f.now())
	})
}
