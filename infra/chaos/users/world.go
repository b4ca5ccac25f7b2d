package users

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rethread/rethread/infra/chaos/ledger"
	"github.com/rethread/rethread/infra/chaos/system"
	"github.com/rethread/rethread/infra/test/e2e/host"
)

// World is all people of a round, and what they have made.
type World struct {
	Ledger   *ledger.Ledger
	Persons  []*Person
	Watchers *Watchers

	sys    *system.System
	http   *http.Client
	tokens atomic.Int64

	mu         sync.Mutex
	violations []Violation
	loose      []*loose // what nobody was told of yet
	answered   []repeat
	keptTasks  []*Saved
	kept       []*Put
	feedback   []*Given
}

// Violation is a promise that was broken.
type Violation struct{ Invariant, Session, Text string }

// Person owns sessions, and uses them from several devices.
type Person struct {
	ID, Token string

	mu    sync.Mutex
	talks []*Talk
}

// Talk is a session as its people know it.
type Talk struct {
	ID    string
	Owner *Person

	mu          sync.Mutex
	invocations []string
	runs        []string
	guests      []guest
	deleting    bool  // somebody has asked for that
	Fork        *Fork // nil where it is none
	Import      bool
}

// Fork is where a session came from, as its maker was told.
type Fork struct {
	Of       string
	Boundary string // empty takes all
	Found    bool
}

type guest struct {
	person *Person
	share  string
}

// loose is a request whose outcome its caller does not know, though asking again
// by its key would tell.
type loose struct {
	as   *Person
	op   *ledger.Op
	call Call
	then func(Answer)
}

// repeat is a request by a key, and what it was answered.
type repeat struct {
	as      *Person
	session string
	call    Call
	body    []byte
}

// Gather makes people who have tokens of a system.
func Gather(ctx context.Context, sys *system.System, names []string) (*World, error) {
	w := &World{
		Ledger: ledger.New(), sys: sys,
		http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
	}
	w.Watchers = newWatchers(w)
	for _, name := range names {
		token, err := host.Token(ctx, sys.URL, name)
		if err != nil {
			return nil, err
		}
		w.Persons = append(w.Persons, &Person{ID: name, Token: token})
	}
	return w, nil
}

// Violate notes that a promise was broken.
func (w *World) Violate(invariant, session, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.violations = append(w.violations, Violation{invariant, session, text})
}

// Violations are those so far.
func (w *World) Violations() []Violation {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.violations)
}

// token is a text that nobody has written before.
func (w *World) token() string { return fmt.Sprintf("t%06d.", w.tokens.Add(1)) }

// Talks are all sessions that were made and told, deleted ones too.
func (w *World) Talks() []*Talk {
	var all []*Talk
	for _, p := range w.Persons {
		all = append(all, p.all()...)
	}
	return all
}

func (p *Person) all() []*Talk {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.talks)
}

// Add gives the person a session.
func (p *Person) Add(t *Talk) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.talks = append(p.talks, t)
}

// pick chooses a session that nobody has asked to delete, a newer one more often.
func (p *Person) pick(random *rand.Rand) *Talk {
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

// Deleting reports whether somebody has asked to delete the session.
func (t *Talk) Deleting() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.deleting
}

// SetDeleting notes that somebody is about to ask.
func (t *Talk) SetDeleting() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.deleting = true
}

// most is how many invocations and runs of a session are remembered.
const most = 24

func (t *Talk) heard(invocation string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.invocations = append(t.invocations, invocation)
	t.invocations = t.invocations[max(0, len(t.invocations)-most):]
}

func (t *Talk) ran(run string) {
	t.heard(run)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.runs = append(t.runs, run)
	t.runs = t.runs[max(0, len(t.runs)-most):]
}

// some is one of the newer ones, or "".
func some(random *rand.Rand, list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[len(list)-1-min(random.IntN(len(list)), random.IntN(len(list)))]
}

func (t *Talk) invocation(random *rand.Rand) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return some(random, t.invocations)
}

func (t *Talk) run() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.runs) == 0 {
		return ""
	}
	return t.runs[len(t.runs)-1]
}

func (t *Talk) path() string { return api + "/sessions/" + t.ID }

// Live lets all people act until the time is over; the last of them leaves at half
// of it, and has all that is theirs erased. Each device has its own dice.
func (w *World) Live(ctx context.Context, seed uint64, devices int, lasts time.Duration) {
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
				own.Go(func() { d.live(limited) })
			}
			own.Wait()
			if p == w.Leaver() {
				w.leave(ctx)
			}
		})
	}
	all.Wait()
}

// Leaver is who leaves in the midst of it.
func (w *World) Leaver() *Person { return w.Persons[len(w.Persons)-1] }

// leave has everything erased that the leaver owns.
func (w *World) leave(ctx context.Context) {
	p := w.Leaver()
	var ops []*ledger.Op
	for _, t := range p.all() {
		t.SetDeleting()
		ops = append(ops, w.Ledger.Begin(ledger.Op{Kind: "delete", User: p.ID, Session: t.ID, Detail: "erased"}))
	}
	a := w.Do(ctx, p, Call{Method: http.MethodDelete, Path: api + "/me/data", Repeat: true})
	for _, op := range ops {
		w.settle(op, a)
	}
}

// Path is where a session is.
func Path(t *Talk) string { return t.path() }
