package check

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/infra/chaos/ledger"
	"github.com/rethread/rethread/infra/chaos/users"
	"github.com/rethread/rethread/shared/base/retry"
	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table/dynamo"
)

const (
	// afterAllDue is later than anything left to the sweeper is due.
	afterAllDue = 72 * time.Hour
	// maxSweeps is enough for logs that wait for one another.
	maxSweeps = 8
	// erasureTime limits an erasure, including the sweeper's part.
	erasureTime = 150 * time.Second
)

// Deletes deletes a part of the sessions and erases one user. Afterwards no item
// of theirs may remain, except those that forks still read.
func (c *Checker) Deletes(ctx context.Context, db *dynamodb.Client, table string, random *rand.Rand) error {
	for _, t := range c.World.Sessions() {
		if c.logs[t.ID] == nil || random.IntN(3) > 0 {
			continue
		}
		a := c.World.Do(ctx, t.Owner, users.Call{Method: http.MethodDelete, Path: users.Path(t), Repeat: true})
		gone := a.Outcome == ledger.Acked || a.Status == http.StatusNotFound
		c.expect(gone, "deleted", t.ID, "DELETE returned %d %.200s", a.Status, a.Body)
		status, _, err := c.World.Get(ctx, t.Owner, users.Path(t))
		if err != nil {
			return err
		}
		c.expect(status == http.StatusNotFound, "deleted", t.ID, "after DELETE, GET returns %d", status)
	}
	erased := c.World.Persons[len(c.World.Persons)-2]
	if err := c.erase(ctx, erased); err != nil {
		return err
	}
	later := afterAllDue
	store := stores.New(dynamo.New(db, table, store.Schema()),
		stores.WithClock(func() time.Time { return time.Now().Add(later) }), stores.WithLogger(slog.New(slog.DiscardHandler)))
	for range maxSweeps {
		later += time.Hour // what one sweep found to be due
		if _, err := store.Archives.SweepImports(ctx); err != nil {
			return err
		}
		if _, err := store.Lifecycle.SweepErasures(ctx); err != nil {
			return err
		}
		if _, err := store.Lifecycle.Sweep(ctx); err != nil {
			return err
		}
	}
	return c.orphans(ctx, db, table, erased, c.World.Leaver())
}

// erase waits until all data of a user is erased, and requests the erasure if the
// user has not.
func (c *Checker) erase(ctx context.Context, p *users.Person) error {
	const path = "/api/v1/me/data"
	var a users.Answer
	for deadline := time.Now().Add(erasureTime); ; {
		status, body, err := c.World.Get(ctx, p, path)
		if err != nil {
			return err
		}
		if status == http.StatusNotFound {
			a = c.World.Do(ctx, p, users.Call{Method: http.MethodDelete, Path: path, Repeat: true})
			continue
		}
		if status == http.StatusOK && strings.Contains(string(body), `"complete"`) {
			c.expect(true, "deleted", "", "")
			return nil
		}
		if time.Now().After(deadline) {
			c.expect(false, "deleted", "", "the erasure of %s (status %d) returns %d %.200s after %s", p.ID, a.Status, status, body, erasureTime)
			return nil
		}
		if err := retry.Sleep(ctx, time.Second); err != nil {
			return err
		}
	}
}

// orphans checks each item of the table.
func (c *Checker) orphans(ctx context.Context, db *dynamodb.Client, table string, erased ...*users.Person) error {
	items, err := scan(ctx, db, table)
	if err != nil {
		return err
	}
	needed := needed(items)
	for _, item := range items {
		pk, sk := text(item["PK"]), text(item["SK"])
		log, belongs := logOf(pk, sk)
		if belongs {
			c.expect(needed[log], "orphans", "", "%s remains of a log without readers", format(item))
		}
		_, rest, _ := strings.Cut(pk, "#")
		of := func(p *users.Person) bool { return rest == p.ID || strings.HasSuffix(rest, "/"+p.ID) }
		c.expect(!slices.ContainsFunc(erased, of) || strings.HasPrefix(pk, "ER#") || spent(item), "orphans", "", "%s remains of an erased user", format(item))
	}
	return nil
}

// spent reports whether an item is a used idempotency key without its answer: it
// remains for a day, so that no repeat recreates what was erased.
func spent(item map[string]types.AttributeValue) bool {
	gone, ok := item["gone"].(*types.AttributeValueMemberBOOL)
	return strings.HasPrefix(text(item["PK"]), "K#") && ok && gone.Value
}

// logOf returns the log that an item belongs to.
func logOf(pk, sk string) (string, bool) {
	for _, prefix := range []string{"L#", "W#", "SH#", "N#", "NS#"} {
		if log, ok := strings.CutPrefix(pk, prefix); ok {
			return log, true
		}
	}
	if strings.HasPrefix(pk, "SHU#") {
		log, _, _ := strings.Cut(sk, "/")
		return log, true
	}
	return "", false
}

// needed returns the logs of sessions, and those that their forks read.
func needed(items []map[string]types.AttributeValue) map[string]bool {
	out := map[string]bool{}
	parents := map[string][]string{}
	var todo []string
	for _, item := range items {
		pk, sk := text(item["PK"]), text(item["SK"])
		if strings.HasPrefix(pk, "S#") && sk == "HEAD" {
			todo = append(todo, text(item["l"]))
		}
		if child, ok := strings.CutPrefix(sk, "C#"); ok && strings.HasPrefix(pk, "L#") {
			parents[child] = append(parents[child], strings.TrimPrefix(pk, "L#"))
		}
	}
	for len(todo) > 0 {
		log := todo[0]
		todo = todo[1:]
		if !out[log] {
			out[log] = true
			todo = append(todo, parents[log]...)
		}
	}
	return out
}

func scan(ctx context.Context, db *dynamodb.Client, table string) ([]map[string]types.AttributeValue, error) {
	var all []map[string]types.AttributeValue
	pages := dynamodb.NewScanPaginator(db, &dynamodb.ScanInput{TableName: &table, ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("scan the table: %w", err)
		}
		all = append(all, page.Items...)
	}
	return all, nil
}

// format formats an item for people.
func format(item map[string]types.AttributeValue) string {
	var plain map[string]any
	if err := attributevalue.UnmarshalMap(item, &plain); err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%.500v", plain)
}

func text(v types.AttributeValue) string {
	if s, ok := v.(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}
