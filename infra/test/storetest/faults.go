package storetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/hooks"
)

// Before calls a function before each call of an engine; its error replaces the
// call.
func Before(of table.Engine, do func(context.Context, hooks.Call) error) table.Engine {
	return hooks.New(of, hooks.Hooks{Before: do})
}

// losses limits how often in a row the answer of a write is lost: the store gives
// up after a few more.
const losses = 3

// LosingAnswers has an engine carry out a share of its writes but return
// table.ErrUndecided. The repeated write then finds its own result.
func LosingAnswers(of table.Engine, share float64, random *rand.Rand) table.Engine {
	var mu sync.Mutex
	lost := map[string]int{}
	return hooks.New(of, hooks.Hooks{After: func(_ context.Context, c hooks.Call, _ table.Units, err error) error {
		if err != nil || c.Op != hooks.Write && c.Op != hooks.Transact {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		name := c.Token
		if c.Op == hooks.Write {
			name = fmt.Sprint(c.Writes[0].Key)
		}
		if random.Float64() >= share || lost[name] == losses {
			delete(lost, name)
			return nil
		}
		lost[name]++
		return fmt.Errorf("%w: the answer was lost", table.ErrUndecided)
	}})
}

// Lagging makes eventually consistent queries of the table miss recent writes,
// like a replica that lags behind.
func Lagging(of table.Engine, random *rand.Rand) table.Engine {
	var mu sync.Mutex
	return hooks.New(of, hooks.Hooks{Items: func(c hooks.Call, items []table.Item) []table.Item {
		if c.Op != hooks.Query || c.Consistent || c.Query.Index != "" {
			return items
		}
		mu.Lock()
		defer mu.Unlock()
		kept := items[:0]
		for _, item := range items {
			if random.IntN(3) > 0 {
				kept = append(kept, item)
			}
		}
		return kept
	}})
}
