package a2a_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/rethread/rethread/infra/test/dynamotest"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/transport/a2a"
	"github.com/rethread/rethread/shared/transport/ws/subscription"
)

// pollEvery is how often the table's stream is read.
const pollEvery = 5 * time.Millisecond

var errCut = errors.New("the connection was cut")

// newsroom tells of the one session of a table what the table's own stream
// tells, as the fan-out does, except that a script may stand in the way.
type newsroom struct {
	store *stores.Store

	mu      sync.Mutex
	lines   map[*line]bool
	opened  int
	first   chan struct{} // closed once there was a connection
	refuses int           // connections that are still to be refused
	closed  error         // why there are no connections any more
	// carry says what becomes of a message: it tells it, or does not.
	carry func(n *newsroom, m watch.Message)
}

// line is one connection.
type line struct {
	room *newsroom
	in   chan subscription.Message
	cut  chan struct{}
}

// open is an a2a.NewsFunc. A connection begins with what was missed.
func (n *newsroom) open(ctx context.Context, _, sessionID string, from watch.Cursor) (a2a.News, error) {
	l, err := n.connect()
	if err != nil {
		return nil, err
	}
	missed, err := n.store.CatchUp(ctx, alice, sessionID, watch.From{Cursor: &from})
	if err != nil {
		return nil, err
	}
	for _, m := range missed {
		m.Subscription = "stream"
		l.in <- frameOf(of(sessionID, m))
	}
	return l, nil
}

func (n *newsroom) connect() (*line, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.opened++
	if n.closed != nil {
		return nil, n.closed
	}
	if n.refuses > 0 {
		n.refuses--
		return nil, errCut
	}
	l := &line{room: n, in: make(chan subscription.Message, 1000), cut: make(chan struct{})}
	n.lines[l] = true
	select {
	case <-n.first:
	default:
		close(n.first)
	}
	return l, nil
}

// mustBeHeard waits for the first connection.
func (n *newsroom) mustBeHeard(t *testing.T) {
	t.Helper()
	select {
	case <-n.first:
	case <-time.After(patience):
		t.Fatal("nobody listens")
	}
}

// connections is how many there were.
func (n *newsroom) connections() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.opened
}

// Next implements a2a.News.
func (l *line) Next(ctx context.Context) (subscription.Message, error) {
	select {
	case m := <-l.in:
		return m, nil
	case <-l.cut:
		l.room.mu.Lock()
		defer l.room.mu.Unlock()
		return subscription.Message{}, cmp.Or(l.room.closed, errCut)
	case <-ctx.Done():
		return subscription.Message{}, context.Cause(ctx)
	}
}

// Close implements a2a.News.
func (l *line) Close() {
	l.room.mu.Lock()
	defer l.room.mu.Unlock()
	delete(l.room.lines, l)
}

// tell gives a message to everybody who listens. It is for scripts.
func (n *newsroom) tell(m watch.Message) {
	for l := range n.lines {
		l.in <- frameOf(m)
	}
}

// cutAll breaks every connection. It is for scripts.
func (n *newsroom) cutAll() {
	for l := range n.lines {
		close(l.cut)
		delete(n.lines, l)
	}
}

// close breaks every connection and refuses others, for a reason.
func (n *newsroom) close(reason error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closed = reason
	n.cutAll()
}

// publish reads the table's stream until the test ends.
func (n *newsroom) publish(t *testing.T, table, sessionID string) {
	t.Helper()
	endpoint := dynamotest.Endpoint(t)
	client := dynamodbstreams.New(dynamodbstreams.Options{
		BaseEndpoint: &endpoint, Region: dynamotest.Region,
		Credentials: dynamotest.Credentials(t),
	})
	iterator, err := beginning(t.Context(), client, table)
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(func() {
		stop()
		running.Wait()
	})
	running.Go(func() {
		tick := time.NewTicker(pollEvery)
		defer tick.Stop()
		for begun := false; iterator != nil; {
			out, err := client.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: iterator})
			var trimmed *streamtypes.TrimmedDataAccessException
			switch {
			case errors.As(err, &trimmed) && !begun: // other tables have moved the beginning
				iterator, err = beginning(ctx, client, table)
			case err == nil:
				begun = begun || len(out.Records) > 0
				iterator = out.NextShardIterator
				err = n.deliver(ctx, sessionID, out.Records)
			}
			if err != nil {
				if ctx.Err() == nil {
					t.Error(err)
				}
				return
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	})
}

// beginning is where the stream of a table begins. DynamoDB Local has one shard.
func beginning(ctx context.Context, client *dynamodbstreams.Client, table string) (*string, error) {
	streams, err := client.ListStreams(ctx, &dynamodbstreams.ListStreamsInput{TableName: &table})
	if err != nil || len(streams.Streams) != 1 {
		return nil, fmt.Errorf("the streams of table %s: %v, %w", table, streams, err)
	}
	arn := streams.Streams[0].StreamArn
	described, err := client.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: arn})
	if err != nil || len(described.StreamDescription.Shards) != 1 {
		return nil, fmt.Errorf("the shards of table %s: %v, %w", table, described, err)
	}
	out, err := client.GetShardIterator(ctx, &dynamodbstreams.GetShardIteratorInput{
		StreamArn: arn, ShardId: described.StreamDescription.Shards[0].ShardId,
		ShardIteratorType: streamtypes.ShardIteratorTypeTrimHorizon,
	})
	if err != nil {
		return nil, fmt.Errorf("the stream of table %s: %w", table, err)
	}
	return out.ShardIterator, nil
}

func (n *newsroom) deliver(ctx context.Context, sessionID string, records []streamtypes.Record) error {
	for _, record := range records {
		old, err := image(record.Dynamodb.OldImage)
		if err != nil {
			return err
		}
		now, err := image(record.Dynamodb.NewImage)
		if err != nil {
			return err
		}
		news, err := n.store.WatchMessages(ctx, sessions.Change{Old: old, New: now})
		if err != nil {
			return err
		}
		n.mu.Lock()
		for _, m := range news.Messages {
			n.carry(n, of(sessionID, m))
		}
		n.mu.Unlock()
	}
	return nil
}

// of is a message with the session's name, which the fan-out adds.
func of(sessionID string, m watch.Message) watch.Message {
	m.SessionID = sessionID
	if m.Item != nil {
		e := *m.Item
		e.SessionID = sessionID
		m.Item = &e
	}
	return m
}

// frameOf is a message as the WebSocket API sends it.
func frameOf(m watch.Message) subscription.Message {
	text, err := watch.Frame(m, m.SessionID)
	if err != nil {
		panic(err)
	}
	var out subscription.Message
	if err := json.Unmarshal(text, &out); err != nil {
		panic(err)
	}
	out.Text = text
	return out
}

func image(in map[string]streamtypes.AttributeValue) (map[string]types.AttributeValue, error) {
	if in == nil {
		return nil, nil
	}
	return attributevalue.FromDynamoDBStreamsMap(in)
}
