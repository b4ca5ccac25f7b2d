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
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/transport/follow"
	"github.com/rethread/rethread/shared/transport/ws/subscription"
)

// pollEvery is how often the table's stream is read.
const pollEvery = 5 * time.Millisecond

var errDisconnected = errors.New("the connection was cut")

// fakeFanOut sends the messages about the one session of a table, read from the
// table's stream like the real fan-out; a script may interfere.
type fakeFanOut struct {
	store *stores.Store

	mu          sync.Mutex
	connections map[*fakeConnection]bool
	opened      int
	first       chan struct{} // closed at the first connection
	refusals    int           // connections still to refuse
	closed      error         // set once connections are refused for good
	// onMessage sends a message, or does not.
	onMessage func(n *fakeFanOut, m watch.Message)
}

// fakeConnection is one connection.
type fakeConnection struct {
	fanOut       *fakeFanOut
	in           chan subscription.Message
	disconnected chan struct{}
}

// open is an follow.WatchFunc. A connection begins with the catch-up.
func (n *fakeFanOut) open(ctx context.Context, _ access.Caller, sessionID string, from watch.Cursor) (follow.Watcher, error) {
	l, err := n.connect()
	if err != nil {
		return nil, err
	}
	missed, err := n.store.Watching.CatchUp(ctx, alice, sessionID, watch.From{Cursor: &from})
	if err != nil {
		return nil, err
	}
	for _, m := range missed {
		m.Subscription = "stream"
		l.in <- frameOf(withSession(sessionID, m))
	}
	return l, nil
}

func (n *fakeFanOut) connect() (*fakeConnection, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.opened++
	if n.closed != nil {
		return nil, n.closed
	}
	if n.refusals > 0 {
		n.refusals--
		return nil, errDisconnected
	}
	l := &fakeConnection{fanOut: n, in: make(chan subscription.Message, 1000), disconnected: make(chan struct{})}
	n.connections[l] = true
	select {
	case <-n.first:
	default:
		close(n.first)
	}
	return l, nil
}

// mustHaveConnection waits for the first connection.
func (n *fakeFanOut) mustHaveConnection(t *testing.T) {
	t.Helper()
	select {
	case <-n.first:
	case <-time.After(maxWait):
		t.Fatal("no connection was opened")
	}
}

// count returns how many connections were tried.
func (n *fakeFanOut) count() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.opened
}

// Next implements follow.Watcher.
func (l *fakeConnection) Next(ctx context.Context) (subscription.Message, error) {
	select {
	case m := <-l.in:
		return m, nil
	case <-l.disconnected:
		l.fanOut.mu.Lock()
		defer l.fanOut.mu.Unlock()
		return subscription.Message{}, cmp.Or(l.fanOut.closed, errDisconnected)
	case <-ctx.Done():
		return subscription.Message{}, context.Cause(ctx)
	}
}

// Close implements follow.Watcher.
func (l *fakeConnection) Close() {
	l.fanOut.mu.Lock()
	defer l.fanOut.mu.Unlock()
	delete(l.fanOut.connections, l)
}

// send sends a message over every connection, for scripts, which hold the lock.
func (n *fakeFanOut) send(m watch.Message) {
	for l := range n.connections {
		l.in <- frameOf(m)
	}
}

// disconnectAll breaks every connection, for scripts, which hold the lock.
func (n *fakeFanOut) disconnectAll() {
	for l := range n.connections {
		close(l.disconnected)
		delete(n.connections, l)
	}
}

// close breaks every connection and refuses others with a reason.
func (n *fakeFanOut) close(reason error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closed = reason
	n.disconnectAll()
}

// publish reads the table's stream until the test ends.
func (n *fakeFanOut) publish(t *testing.T, table, sessionID string) {
	t.Helper()
	endpoint := dynamotest.Endpoint(t)
	client := dynamodbstreams.New(dynamodbstreams.Options{
		BaseEndpoint: &endpoint, Region: dynamotest.Region,
		Credentials: dynamotest.Credentials(t),
	})
	iterator, err := streamStart(t.Context(), client, table)
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
			case errors.As(err, &trimmed) && !begun: // the start has moved because of other tables
				iterator, err = streamStart(ctx, client, table)
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

// streamStart returns an iterator at the start of a table's stream. DynamoDB
// Local has one shard.
func streamStart(ctx context.Context, client *dynamodbstreams.Client, table string) (*string, error) {
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

func (n *fakeFanOut) deliver(ctx context.Context, sessionID string, changes []streamtypes.Record) error {
	for _, record := range changes {
		old, err := image(record.Dynamodb.OldImage)
		if err != nil {
			return err
		}
		now, err := image(record.Dynamodb.NewImage)
		if err != nil {
			return err
		}
		news, err := n.store.WatchMessages(ctx, records.Change{Old: old, New: now})
		if err != nil {
			return err
		}
		n.mu.Lock()
		for _, m := range news.Messages {
			n.onMessage(n, withSession(sessionID, m))
		}
		n.mu.Unlock()
	}
	return nil
}

// withSession adds the session's id to a message, as the fan-out does.
func withSession(sessionID string, m watch.Message) watch.Message {
	m.SessionID = sessionID
	if m.Item != nil {
		e := *m.Item
		e.SessionID = sessionID
		m.Item = &e
	}
	return m
}

// frameOf encodes a message as the WebSocket API does.
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
