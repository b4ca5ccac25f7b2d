package faults

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"
)

// Phase is a period of time with its own rates of faults.
type Phase struct {
	Name  string
	Lasts time.Duration
	Rates map[Kind]float64 // shares of the requests that can have the kind
}

// String returns the phase's name and highest rates.
func (p Phase) String() string {
	var parts []string
	for _, kind := range Kinds() {
		if rate := p.Rates[kind]; rate >= stormRate && kind != Partial {
			parts = append(parts, fmt.Sprintf("%s %.0f%%", kind, 100*rate))
		}
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", p.Name, p.Lasts, strings.Join(parts, ", ")))
}

// Plan is the sequence of phases of a round. It is safe for concurrent use.
type Plan struct {
	Phases []Phase
	seed   uint64
	count  atomic.Uint64
	began  atomic.Int64 // in nanoseconds since 1970; 0 without faults
}

// Rates of phases: of all kinds in calms and breezes, of some kinds in storms.
const (
	calmRate   = 0.002
	breezeRate = 0.01
	stormRate  = 0.05
	worstRate  = 0.35
	outageRate = 0.95

	partialRate = 0.3

	shortest = 2 * time.Second
	longest  = 12 * time.Second
)

// New draws a plan of the given duration. Half of it is breeze, a third storms of
// two or three kinds at once, the rest calm; occasionally nearly every request
// fails for a moment.
func New(seed uint64, lasts time.Duration) *Plan {
	random := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // faults are not secret
	p := &Plan{seed: seed}
	for left := lasts; left > 0; {
		phase := drawPhase(random)
		phase.Lasts = min(left, phase.Lasts)
		left -= phase.Lasts
		p.Phases = append(p.Phases, phase)
	}
	return p
}

func drawPhase(random *rand.Rand) Phase {
	phase := Phase{Name: "breeze", Rates: map[Kind]float64{}, Lasts: shortest + time.Duration(random.Int64N(int64(longest-shortest)))}
	base := breezeRate
	switch dice := random.IntN(12); {
	case dice < 2:
		phase.Name, base = "calm", calmRate
	case dice == 2:
		phase.Name, phase.Lasts = "outage", shortest
	case dice < 7:
		phase.Name = "storm"
	}
	for _, kind := range Kinds() {
		phase.Rates[kind] = base
	}
	phase.Rates[Partial] = partialRate // batches are rare
	kinds := Kinds()
	random.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
	switch phase.Name {
	case "storm":
		for _, kind := range kinds[:2+random.IntN(2)] {
			phase.Rates[kind] = stormRate + random.Float64()*(worstRate-stormRate)
		}
	case "outage":
		phase.Rates[[]Kind{Throttle, Before, After, Cut}[random.IntN(4)]] = outageRate
	}
	return phase
}

// Begin starts the first phase.
func (p *Plan) Begin(now time.Time) { p.began.Store(now.UnixNano()) }

// End ends all faults.
func (p *Plan) End() { p.began.Store(0) }

// At returns the phase at a time; false before, after, and while the faults are
// off.
func (p *Plan) At(now time.Time) (Phase, bool) {
	began := p.began.Load()
	if began == 0 {
		return Phase{}, false
	}
	since := now.Sub(time.Unix(0, began))
	for _, phase := range p.Phases {
		if since < phase.Lasts {
			return phase, true
		}
		since -= phase.Lasts
	}
	return Phase{}, false
}

// Pick decides which fault the next request has, and its severity: a number below
// 1.
func (p *Plan) Pick(operation string, now time.Time) (Kind, float64) {
	phase, on := p.At(now)
	if !on {
		return None, 0
	}
	random := rand.New(rand.NewPCG(p.seed, p.count.Add(1)+2)) //nolint:gosec // as above
	for _, kind := range Possible(operation) {
		if random.Float64() < phase.Rates[kind] {
			return kind, random.Float64()
		}
	}
	return None, 0
}
