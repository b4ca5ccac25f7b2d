package run

import (
	"context"
	"io"
	"sync"
	"time"
	"unicode/utf8"
)

// Limits of what is kept of the requests to an agent.
const (
	// MaxSentBody is how many bytes of a request's body are kept.
	MaxSentBody = 256 << 10
	// MaxSent is how many requests of one call of an agent are kept, the first ones.
	MaxSent = 100
	// MaxSentDays is how many days they may be kept.
	MaxSentDays = 90
)

// keepTime is how long the worker tries to keep a request.
const keepTime = 5 * time.Second

// SentRequest is a request as it was sent to an agent. It has no headers, since these
// hold secrets, and no query for the same reason.
type SentRequest struct {
	// Continuation counts the workers that were lost before the one that sent it, and
	// Number the requests of that worker, from 1.
	Continuation int    `json:"continuation,omitempty"`
	Number       int    `json:"number"`
	SentTime     int64  `json:"sent_time"`
	Method       string `json:"method"`
	Path         string `json:"path"`
	Body         string `json:"body"`
	// Size is the size of the whole body in bytes; Cut is set if Body is only its
	// beginning, whole characters.
	Size int64 `json:"size"`
	Cut  bool  `json:"cut,omitempty"`
	// ExpiresTime is when it is no longer kept.
	ExpiresTime int64 `json:"expires_time"`
}

// placesOfCall is how many places each worker's requests have.
const placesOfCall = 1000

// Place is where the request is among those of its run.
func (r SentRequest) Place() int64 { return int64(r.Continuation)*placesOfCall + int64(r.Number) }

// SentTo is what a request was about.
type SentTo struct {
	Ref
	LogID string // of the session's log
}

// Keeper keeps requests to agents for some days.
type Keeper interface {
	// KeepRequest stores a request and sets when it expires.
	KeepRequest(ctx context.Context, to SentTo, r SentRequest) error
}

// SentQuery selects a page of the requests of a run.
type SentQuery struct {
	Ref
	Limit int
	// After is the Place after which the page begins, 0 for the first one.
	After int64
}

// SentPage is a page of requests in the order in which they were sent. Its JSON has
// at most session.PageBytes, or one request.
type SentPage struct {
	Requests []SentRequest
	Next     int64 // for After, 0 at the end
}

// Sending is a request that is about to be sent.
type Sending struct {
	Method, Path string
	Size         int64            // of its body in bytes
	Body         func() io.Reader // from its beginning
}

type sendingKey struct{}

// OnSending returns a context that Send tells of requests.
func OnSending(ctx context.Context, tell func(context.Context, Sending)) context.Context {
	return context.WithValue(ctx, sendingKey{}, tell)
}

// Send tells whom the context names that a request is about to be sent.
func Send(ctx context.Context, s Sending) {
	if tell, ok := ctx.Value(sendingKey{}).(func(context.Context, Sending)); ok {
		tell(ctx, s)
	}
}

// keeper keeps the requests of one call of an agent.
type keeper struct {
	x      *execution
	to     SentTo
	mu     sync.Mutex
	number int
}

// keeping returns the context for the call of an agent whose requests are kept.
func (x *execution) keeping(ctx context.Context, logID string) context.Context {
	if x.Requests == nil {
		return ctx
	}
	k := &keeper{x: x, to: SentTo{Ref: x.ref, LogID: logID}}
	return OnSending(ctx, k.keep)
}

// keep stores a request beside the call, which does not wait for it.
func (k *keeper) keep(ctx context.Context, s Sending) {
	r := SentRequest{
		Continuation: k.to.Continuation, SentTime: time.Now().UnixMilli(), Method: s.Method, Path: s.Path, Size: s.Size,
	}
	k.mu.Lock()
	k.number++
	r.Number = k.number
	k.mu.Unlock()
	if r.Number > MaxSent {
		return
	}
	k.x.calls.Go(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepTime)
		defer cancel()
		err := r.read(s.Body())
		if err == nil {
			err = k.x.Requests.KeepRequest(ctx, k.to, r)
		}
		if err != nil {
			k.x.log.WarnContext(ctx, "a request to the agent is not kept", "number", r.Number, "error", err)
		}
	})
}

// read reads as much of the body as is kept.
func (r *SentRequest) read(body io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(body, MaxSentBody+1))
	if r.Cut = len(text) > MaxSentBody; r.Cut {
		n := MaxSentBody
		for n > 0 && !utf8.RuneStart(text[n]) {
			n--
		}
		text = text[:n]
	}
	r.Body = string(text)
	return err
}
