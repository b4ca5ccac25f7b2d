package modeltest_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/domain/session"
)

// TestStories are sequences that random ones seldom meet. A line is one step;
// after each, everything is compared with the model.
//
//	s: one {"k":1} | two          append a batch to s: invocations, state deltas
//	s < one [session,user] !      rewind s before one; scopes; ! restores shared keys
//	s > f before one              fork s as f before one; without "before", all
//	s task t = one, two           save task t with a bubble for each invocation
//	s untask t                    delete task t
//	s retries 3                   three times: append s-kept-n and s-tried-n, rewind before the latter
//	s gone                        delete s
//	new s {"k":0}                 create s, with state
//
// In a fork, t^ is the task that it took over as t.
func TestStories(t *testing.T) {
	t.Parallel()
	for name, story := range map[string]string{
		"a fork inherits state that a rewind did not restore": `
			new s
			s: one {"a":1}
			s: two {"c":5,"a":2}
			s < two [user]
			s: three {"b":1}
			s > f
			f < three
			f < one
			s > g before three
			g: four {"c":6}
			g < four
			g < one`,
		"a fork does not see entries hidden in its source": `
			new s {"k":0}
			s: one {"k":1} | two {"k":2}
			s < two
			s: two {"k":3}
			s > f
			s > h before two
			f < two
			f: three {"k":4}
			f < one
			f > g before two
			s < rewind-1
			s < rewind-1`,
		"a boundary within a batch": `
			new s
			s: one {"k":1,"user:u":1} | two {"k":2,"user:u":2} | three {"k":3,"user:u":3}
			s < two
			s < three
			s > f before two
			f < one
			s < one`,
		"a task hidden by a fork is restored unchanged": `
			new s
			s: one | two
			s task t = one, two
			s > f
			f < two
			f task t^ = one, two
			f < rewind-1
			f < one
			f task t^ =
			f < rewind-3
			s task t = two
			s untask t`,
		"messages left out of a forked task stay out": `
			new s
			s: one | two
			s task t = one, two
			s > f before two
			f: two
			f > g
			g < two`,
		"tasks changed after a fork": `
			new s
			s: one | two | three
			s task t = one
			s task u = two, three
			s > f
			s task t = three
			s untask u
			s > g
			s task t = two
			f task t^ = two
			f > h
			f untask u^
			f > i before two
			s gone
			f gone`,
		"a task without events is a separate invocation": `
			new s
			s task t =
			s task u =
			s < u
			s task u =
			s > f before u
			f task t^ = one
			s < t
			s > g`,
		"shared keys that a fork's source changed stay": `
			new s {"user:u":0}
			s: one {"user:u":1,"app:a":1}
			s > f
			f < one
			f: two {"user:u":2}
			s: three {"app:a":3}
			f < two
			s < three
			s < one
			s < one !`,
		"forks of forks are complete after all their sources are deleted": `
			new s {"k":0}
			s: one {"k":1}
			s task t = one
			s > f
			f: two {"k":2}
			f task u = two
			f > g
			g: three {"k":3}
			g > h before three
			s gone
			f gone
			new s
			s: one {"k":9}
			g gone
			h < two
			h < rewind-1
			h > i`,
		"only the initial state is left": `
			new s {"k":0,"user:u":0}
			s: one {"k":1}
			s < first
			s > f before first
			f: two {"k":2}
			f < first
			s task t = first
			f task v = first`,
		"a task of a fork names an invocation after a rewind of its source": `
			new s
			s: one
			s < one
			s: two
			s > f
			f: three
			f task t = three, two
			s < two
			f > g
			g: four
			g task u = four, three, two`,
		"a task that a fork inherited moves to an earlier position": `
			new s
			s: one | two
			s task t = two
			s > f
			f task t^ = one
			f > g
			g task t^ = two
			g task t^ = one`,
		"a fork rewinds to the initial state, after which its source hid entries of the same invocation": `
			new s {"k":0}
			s: first {"k":1,"l":1}
			s < first [user]
			s > e
			s: two {"m":2}
			s > f
			s > g
			e < first
			f < first
			g > h before first
			h: three {"k":3}
			h < first`,
		"markers have the older parts of timelines": `
			new s {"k":0}
			s: one {"k":1}
			s task t = one
			s retries 18
			s task u = s-kept-2, s-kept-17
			s > f
			s > g before s-kept-4
			g < one
			f retries 10
			f task t^ = one, f-kept-3
			f < s-kept-3
			f < rewind-11
			f < f-kept-1
			f < rewind-13
			f > h
			f > i before s-kept-7
			h retries 5
			h < f-kept-2
			h < rewind-6
			s < s-kept-5
			s < s-kept-15
			s < one
			s < rewind-20
			s > j
			j < s-kept-2
			s gone
			f gone
			h < one
			h < rewind-8
			i retries 4
			i < s-kept-2`,
		"an undone rewind of rewinds": `
			new s
			s: one {"k":1}
			s: two {"k":null}
			s: three {"k":false}
			s < two
			s < one
			s: four {"k":0}
			s < rewind-2
			s < rewind-1
			s < four
			s > f before rewind-2
			f < one`,
		"scopes one at a time": `
			new s
			s: one {"k":1,"user:u":1,"app:a":1}
			s: two {"k":2,"user:u":2,"app:a":2}
			s < two [app]
			s: three {"k":3,"app:a":3}
			s < three [session]
			s < two
			s < one [user]
			s < one`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := open(storetest.Engine(t))
			p := &play{scene: scene{t: t, store: store, world: newWorld()}, rewinds: map[*conv]int{}}
			for line := range strings.Lines(story) {
				p.line(strings.TrimSpace(line))
			}
		})
	}
}

// play is a story on its scene.
type play struct {
	scene
	rewinds map[*conv]int
	names   int
}

func (p *play) named(what string) string {
	p.names++
	return what + " " + strconv.Itoa(p.names)
}

func (p *play) line(line string) {
	p.t.Helper()
	words := strings.Fields(line)
	if len(words) == 0 {
		return
	}
	id, batch := strings.CutSuffix(words[0], ":")
	c := p.world.live[id]
	switch {
	case id == "new":
		id = words[1]
		p.create(id, strings.Join(words[2:], ""))
	case batch:
		p.batch(id, line[len(words[0]):])
	case words[1] == "<":
		p.take(c, words[2:])
	case words[1] == ">":
		p.fork(p.forking(id, words[2], strings.Join(words[min(4, len(words)):], "")))
	case words[1] == "task":
		p.task(c, words[2], words[4:])
	case words[1] == "retries":
		p.retries(id, words[2])
		return // it has compared
	case words[1] == "untask":
		p.untask(c, p.taskID(c, words[2]))
	case words[1] == "gone":
		p.must(p.store.Sessions.Delete(p.t.Context(), "user", id))
		p.world.delete(c)
	default:
		p.t.Fatalf("no step: %s", line)
	}
	for _, other := range p.world.ever {
		r := &reader{w: p.world, store: p.store, closely: other, pages: session.EventQuery{Limit: 2, Descending: true}}
		if d := within(p.t.Context(), func(ctx context.Context) string { return r.session(ctx, other) }); d != "" {
			p.t.Fatalf("after %q: %s", line, d)
		}
	}
}

// batch appends events: one, two {"k":1} | three.
func (p *play) batch(id, line string) {
	p.t.Helper()
	all := session.Append{SessionID: id, UserID: "user"}
	for part := range strings.SplitSeq(line, "|") {
		invocation, state, _ := strings.Cut(strings.TrimSpace(part), " ")
		one := p.events(id, p.invocation(p.world.live[id], invocation), state)
		one.Events[0].ID = p.named("event")
		all.Events = append(all.Events, one.Events...)
	}
	p.append(all)
}

// take rewinds: before an invocation, "first", or the marker of rewind-n.
func (p *play) take(c *conv, words []string) {
	p.t.Helper()
	p.rewinds[c]++
	r := p.rewinding(p.invocation(c, words[0]))
	r.SessionID, r.Nonce = c.id, "rewind-"+strconv.Itoa(p.rewinds[c])
	for _, word := range words[1:] {
		if word == "!" {
			r.Restore = true
			continue
		}
		for name := range strings.SplitSeq(strings.Trim(word, "[]"), ",") {
			scope, err := session.ParseScope(name)
			p.must(err)
			r.Scopes = append(r.Scopes, scope)
		}
	}
	p.rewind(r)
}

// retries appends and rewinds so that the timeline gets longer with each retry.
func (p *play) retries(id, times string) {
	p.t.Helper()
	n, err := strconv.Atoi(times)
	p.must(err)
	for i := range n {
		p.line(fmt.Sprintf(`%s: %s-kept-%d {"k":%d}`, id, id, i+1, i))
		p.line(fmt.Sprintf(`%s: %s-tried-%d {"k":%d}`, id, id, i+1, -i))
		p.line(fmt.Sprintf("%s < %s-tried-%d", id, id, i+1))
	}
}

// invocation returns the invocation for a word; "first" is that of the first entry,
// which the store generates for initial state.
func (p *play) invocation(c *conv, word string) string {
	if word == "first" {
		return c.log[0].event.InvocationID
	}
	return word
}

func (p *play) task(c *conv, name string, invocations []string) {
	p.t.Helper()
	r := &record{id: p.taskID(c, name), text: p.named("save")}
	for _, invocation := range invocations {
		invocation = p.invocation(c, strings.TrimSuffix(invocation, ","))
		r.bubbles = append(r.bubbles, bubble{text: p.named("bubble"), invocation: invocation})
	}
	p.save(c.id, r)
}

// taskID returns the id of a task: t^ is the id of t in a fork's source.
func (p *play) taskID(c *conv, name string) string {
	of, taken := strings.CutSuffix(name, "^")
	if !taken {
		return name
	}
	i := slices.IndexFunc(c.tasks, func(t *record) bool { return strings.HasPrefix(t.id, of+".") })
	return c.tasks[i].id
}

func (p *play) untask(c *conv, id string) {
	p.t.Helper()
	p.must(p.store.Tasks.DeleteTask(p.t.Context(), "user", c.id, id))
	c.tasks = slices.DeleteFunc(c.tasks, func(t *record) bool { return t.id == id })
}
