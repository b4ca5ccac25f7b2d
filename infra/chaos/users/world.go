package users

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rethread/rethread/infra/chaos/ledger"
	"github.com/rethread/rethread/infra/chaos/system"
	"github.com/rethread/rethread/infra/test/e2e/host"
)

// World is all users of a round, and what they have made.
type World struct {
	Ledger   *ledger.Ledger
	Persons  []*Person
	Watchers *Watchers

	sys    *system.System
	http   *http.Client
	tokens atomic.Int64

	mu         sync.Mutex
	violations []Violation
	undecided  []*undecided // requests with an unknown outcome
	answered   []repeat
	keptTasks  []*Saved
	kept       []*Put
	feedback   []*Given
}

// Violation is a broken promise.
type Violation struct{ Invariant, Session, Text string }

// Person owns sessions, and uses them from several devices. A service acts for some:
// Token is then the service's, whose requests name the user.
type Person struct {
	ID, Token string
	Served    bool

	mu    sync.Mutex
	talks []*Session
}

// Session is a session as its users know it.
type Session struct {
	ID    string
	Owner *Person

	mu          sync.Mutex
	invocations []string
	runs        []string
	queued      map[string]string // runs that were queued, by the token of their input
	guests      []guest
	deleting    bool  // a user has asked to delete it
	Fork        *Fork // nil unless it is a fork
	Import      bool
}

// Fork is the origin of a session, as answered to its creator.
type Fork struct {
	Of       string
	Boundary string // empty means all of it
	Found    bool
}

type guest struct {
	person *Person
	share  string
}

// undecided is a request whose outcome the caller does not know, but that a repeat by
// its key would reveal.
type undecided struct {
	as   *Person
	op   *ledger.Op
	call Call
	then func(Answer)
}

// repeat is a request with a key, and its answer.
type repeat struct {
	as      *Person
	session string
	call    Call
	body    []byte
}

// backend is the user of the service's token.
const backend = "backend"

// New makes users for a system: each second one has a service, one for all of them, the
// others have tokens of their own.
func New(ctx context.Context, sys *system.System, names []string) (*World, error) {
	w := &World{
		Ledger: ledger.New(), sys: sys,
		http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
	}
	w.Watchers = newWatchers(w)
	service, err := host.TokenWith(ctx, sys.URL, backend, "rethread:service")
	if err != nil {
		return nil, err
	}
	for i, name := range names {
		p := &Person{ID: name, Token: service, Served: i%2 == 1}
		if !p.Served {
			if p.Token, err = host.Token(ctx, sys.URL, name); err != nil {
				return nil, err
			}
		}
		w.Persons = append(w.Persons, p)
	}
	return w, nil
}

// Violate records a broken promise.
func (w *World) Violate(invariant, session, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.violations = append(w.violations, Violation{invariant, session, text})
}

// Violations returns the violations so far.
func (w *World) Violations() []Violation {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.violations)
}

// token returns a unique text.
func (w *World) token() string { return fmt.Sprintf("t%06d.", w.tokens.Add(1)) }

// Sessions returns all sessions whose creation was acknowledged, deleted ones too.
func (w *World) Sessions() []*Session {
	var all []*Session
	for _, p := range w.Persons {
		all = append(all, p.all()...)
	}
	return all
}

func (p *Person) all() []*Session {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.talks)
}

// Add adds a session to the user.
func (p *Person) Add(t *Session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.talks = append(p.talks, t)
}

// pick chooses a session that no user has asked to delete, newer ones more often.
func (p *Person) pick(random *rand.Rand) *Session {
	p.mu.Lock()
	defer p.mu.Unlock()
	for range 8 {
		if len(p.talks) == 0 {
			return nil
		}
		back := min(random.IntN(len(p.talks)), random.IntN(len(p.talks)))
		if t := p.talks[len(p.talks)-1-back]; !t.Deleting() {
			return t
		}
	}
	return nil
}

// Deleting reports whether a user has asked to delete the session.
func (t *Session) Deleting() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.deleting
}

// SetDeleting records that a user is about to delete the session.
func (t *Session) SetDeleting() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.deleting = true
}

// maxRemembered is the number of invocations and runs of a session that are remembered.
const maxRemembered = 24

func (t *Session) addInvocation(invocation string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.invocations = append(t.invocations, invocation)
	t.invocations = t.invocations[max(0, len(t.invocations)-maxRemembered):]
}

func (t *Session) addRun(run string) {
	t.addInvocation(run)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.runs = append(t.runs, run)
	t.runs = t.runs[max(0, len(t.runs)-maxRemembered):]
}

// pickRecent returns one of the newer elements, or "".
func pickRecent(random *rand.Rand, list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[len(list)-1-min(random.IntN(len(list)), random.IntN(len(list)))]
}

func (t *Session) invocation(random *rand.Rand) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return pickRecent(random, t.invocations)
}

func (t *Session) run() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.runs) == 0 {
		return ""
	}
	return t.runs[len(t.runs)-1]
}

func (t *Session) path() string { return api + "/sessions/" + t.ID }

// Run runs all users until the time is over. The last user leaves halfway through
// and has all of their data erased. Each device has its own random source.
func (w *World) Run(ctx context.Context, seed uint64, devices int, lasts time.Duration) {
	var all sync.WaitGroup
	for i, p := range w.Persons {
		stays := lasts
		if p == w.Leaver() {
			stays /= 2
		}
		all.Go(func() {
			limited, cancel := context.WithTimeout(ctx, stays)
			defer cancel()
			var own sync.WaitGroup
			for j := range devices {
				d := &device{World: w, number: devices*i + j, person: p, random: rand.New(rand.NewPCG(seed, uint64(100+10*i+j)))} //nolint:gosec // no secret
				own.Go(func() { d.run(limited) })
			}
			own.Wait()
			if p == w.Leaver() {
				w.leave(ctx)
			}
		})
	}
	all.Wait()
}

// Leaver is the user who leaves halfway through.
func (w *World) Leaver() *Person { return w.Persons[len(w.Persons)-1] }

// leave has all data of the leaver erased.
func (w *World) leave(ctx context.Context) {
	p := w.Leaver()
	var ops []*ledger.Op
	for _, t := range p.all() {
		t.SetDeleting()
		ops = append(ops, w.Ledger.Begin(ledger.Op{Kind: "delete", User: p.ID, Session: t.ID, Detail: "erased"}))
	}
	a := w.Do(ctx, p, Call{Method: http.MethodDelete, Path: api + "/me/data", Repeat: true})
	for _, op := range ops {
		w.record(op, a)
	}
}

// identify says whose a request is.
func (p *Person) identify(req *http.Request) {
	req.Header.Set("Authorization", "Bearer "+p.Token)
	p.name(req)
}

// name names the user for whom a service acts.
func (p *Person) name(req *http.Request) {
	if p.Served {
		req.Header.Set("Rethread-User", url.PathEscape(p.ID))
	}
}

// Path is the path of a session.
func Path(t *Session) string { return t.path() }
