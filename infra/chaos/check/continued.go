package check

import (
	"strings"

	"github.com/rethread/rethread/infra/chaos/agent"
)

// execution is what the log has of one run of the agent that continues runs.
type execution struct {
	asked     bool     // in this session; not a copy in a session that was imported
	texts     []string // what was said before each takeover, and after the last one
	completed bool
}

// continued checks the runs whose workers were lost: the agent was called at most
// once a worker, each worker's words are in the log once, in order and before the
// next takeover, and the next worker knew all of them.
func (c *Checker) continued(s *subject) {
	for run, x := range s.executions() {
		calls := c.Calls(run)
		if !x.asked || len(calls) == 0 {
			continue // another agent's, or no worker came to call it
		}
		takeovers := len(x.texts) - 1
		c.Count("takeovers", takeovers)
		c.expect(takeovers <= agent.Continuations, "continued", s.session.ID, "run %s was taken over %d times", run, takeovers)
		c.expect(len(calls) <= 1+takeovers, "continued", s.session.ID, "the agent was called %d times for run %s with %d takeovers", len(calls), run, takeovers)
		of := map[int]agent.Call{}
		for i, call := range calls {
			c.expect(call.Continuation <= takeovers && (i == 0 || call.Continuation > calls[i-1].Continuation),
				"continued", s.session.ID, "call %d of run %s is of continuation %d of %d", i, run, call.Continuation, takeovers)
			before := strings.Join(x.texts[:min(call.Continuation, takeovers)], "")
			c.expect(call.Said == before, "continued", s.session.ID, "the agent was told %q of run %s, but the log has %q", call.Said, run, before)
			of[call.Continuation] = call
		}
		for n, text := range x.texts {
			call, called := of[n]
			said, all := strings.Fields(text), x.completed && n == takeovers
			ok := called || len(said) == 0
			for i, word := range said {
				ok = ok && i < call.Words() && word == call.Word(i)
			}
			c.expect(ok && (!all || len(said) == call.Words()), "continued", s.session.ID,
				"run %s, completed: %v: after %d takeovers the agent said %q in call %+v", run, x.completed, n, text, call)
		}
	}
}

// executions sorts a session's own entries by run.
func (s *subject) executions() map[string]*execution {
	out := map[string]*execution{}
	for _, e := range s.log.Entries[min(s.taken, len(s.log.Entries)):] {
		x := out[e.Invocation]
		if x == nil {
			x = &execution{texts: []string{""}}
			out[e.Invocation] = x
		}
		switch {
		case e.Author == "user":
			x.asked = x.asked || s.isInput(e)
		case e.Type == "run_continued":
			x.texts = append(x.texts, "")
		case e.Type == "run":
			x.completed = e.Run != nil && e.Run.Status == "completed"
		case e.Type == "" && e.Author == agent.Name:
			x.texts[len(x.texts)-1] += e.Text()
		}
	}
	return out
}
