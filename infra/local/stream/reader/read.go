package reader

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

const (
	shortestPause = 5 * time.Millisecond
	longestPause  = 25 * time.Millisecond
	// mostIterators bounds what is kept for readers that never come back.
	mostIterators = 64
)

// flight is a polling loop and those who wait for what it finds.
type flight struct {
	waiting int
	cancel  context.CancelFunc
	done    chan struct{}
	page    Page
	err     error
}

// Read returns the records of a shard after the one with that sequence number,
// or from the start when it is empty. It waits until there are some, the shard is
// at its end or ctx is.
func (r *Reader) Read(ctx context.Context, shard, after string) (Page, error) {
	at := place{shard, after}
	f := r.join(ctx, at)
	select {
	case <-f.done:
		return f.page, f.err
	case <-ctx.Done():
		r.leave(at, f)
		return Page{}, ctx.Err()
	}
}

// join finds the loop that polls at that place, or starts it.
func (r *Reader) join(ctx context.Context, at place) *flight {
	r.mu.Lock()
	defer r.mu.Unlock()
	f, ok := r.flights[at]
	if !ok {
		polling, cancel := context.WithCancel(context.WithoutCancel(ctx))
		f = &flight{cancel: cancel, done: make(chan struct{})}
		r.flights[at] = f
		iterator := r.iterators[at]
		delete(r.iterators, at)
		go r.poll(polling, at, iterator, f)
	}
	f.waiting++
	return f
}

// leave ends a loop that nobody waits for any more.
func (r *Reader) leave(at place, f *flight) {
	r.mu.Lock()
	f.waiting--
	last := f.waiting == 0
	if last && r.flights[at] == f {
		delete(r.flights, at)
	}
	r.mu.Unlock()
	if last {
		f.cancel()
		<-f.done
	}
}

// poll asks until there is something to tell.
func (r *Reader) poll(ctx context.Context, at place, iterator string, f *flight) {
	defer f.cancel()
	page, next, err := r.await(ctx, at, iterator)
	if len(page.Records) > 0 && next != "" {
		r.remember(place{at.shard, page.Records[len(page.Records)-1].Sequence}, next)
	}
	r.mu.Lock()
	if r.flights[at] == f {
		delete(r.flights, at)
	}
	r.mu.Unlock()
	f.page, f.err = page, err
	close(f.done)
}

func (r *Reader) await(ctx context.Context, at place, iterator string) (page Page, next string, err error) {
	next = iterator
	for pause := shortestPause; ; pause = min(2*pause, longestPause) {
		page, next, err = r.get(ctx, at, next)
		if err != nil || len(page.Records) > 0 || page.Closed {
			return page, next, err
		}
		select {
		case <-ctx.Done():
			return Page{}, "", ctx.Err()
		case <-time.After(pause):
		}
	}
}

// get reads one page, with the iterator if there is one. An iterator that is too
// old is replaced by one of the same place; a place that the stream no longer
// keeps, by its oldest.
func (r *Reader) get(ctx context.Context, at place, iterator string) (page Page, next string, err error) {
	if iterator != "" {
		page, next, err = r.getWith(ctx, iterator)
		var expired *types.ExpiredIteratorException
		if !errors.As(err, &expired) && !isTrimmed(err) {
			return page, next, err
		}
	}
	if iterator, err = r.iterator(ctx, at); err != nil {
		return Page{}, "", err
	}
	return r.getWith(ctx, iterator)
}

func (r *Reader) getWith(ctx context.Context, iterator string) (page Page, next string, err error) {
	out, err := r.client.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: &iterator})
	if err != nil {
		return Page{}, "", fmt.Errorf("read stream of table %s: %w", r.opts.Table, err)
	}
	for _, in := range out.Records {
		record, err := r.convert(in)
		if err != nil {
			return Page{}, "", err
		}
		page.Records = append(page.Records, record)
	}
	page.Closed = out.NextShardIterator == nil
	return page, aws.ToString(out.NextShardIterator), nil
}

// iterator asks for one at that place.
func (r *Reader) iterator(ctx context.Context, at place) (string, error) {
	in := &dynamodbstreams.GetShardIteratorInput{
		StreamArn: &r.arn, ShardId: &at.shard, ShardIteratorType: types.ShardIteratorTypeTrimHorizon,
	}
	if at.after != "" {
		in.ShardIteratorType, in.SequenceNumber = types.ShardIteratorTypeAfterSequenceNumber, &at.after
	}
	out, err := r.client.GetShardIterator(ctx, in)
	if at.after != "" && isTrimmed(err) {
		return r.iterator(ctx, place{shard: at.shard})
	}
	if err != nil {
		return "", fmt.Errorf("find place in stream of table %s: %w", r.opts.Table, err)
	}
	return aws.ToString(out.ShardIterator), nil
}

func isTrimmed(err error) bool {
	var trimmed *types.TrimmedDataAccessException
	return errors.As(err, &trimmed)
}

// remember keeps the iterator by which whoever comes to that place goes on.
func (r *Reader) remember(at place, iterator string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.iterators) >= mostIterators {
		clear(r.iterators)
	}
	r.iterators[at] = iterator
}

// recall takes the iterator of that place, if one is kept.
func (r *Reader) recall(at place) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	iterator := r.iterators[at]
	delete(r.iterators, at)
	return iterator
}
