package host

import (
	"bytes"
	"io"
	"regexp"
	"sync"
)

// greeting passes a host's output on and reads the addresses from what the host
// prints when it is ready.
type greeting struct {
	ready                                 chan struct{}
	url, socketsURL, lambdaURL, eventsURL string // set when ready is closed

	mu   sync.Mutex
	out  io.Writer
	said []byte // output until the host is ready
}

var addresses = regexp.MustCompile(
	`Rethread answers on (http://\S+)[\s\S]*?\n  websocket +(ws://\S+)?[\s\S]*?\n  lambda +(http://\S+)\n[\s\S]*?\n  events +(http://\S+)\n`)

func newGreeting(out io.Writer) *greeting {
	if out == nil {
		out = io.Discard
	}
	return &greeting{ready: make(chan struct{}), out: out}
}

// Write passes all output on.
func (g *greeting) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.url == "" {
		g.said = append(g.said, p...)
		if m := addresses.FindSubmatch(g.said); m != nil {
			g.url, g.socketsURL, g.lambdaURL = string(bytes.TrimSuffix(m[1], []byte("/"))), string(m[2]), string(m[3])
			g.eventsURL = string(m[4])
			g.said = nil
			close(g.ready)
		}
	}
	return g.out.Write(p)
}
