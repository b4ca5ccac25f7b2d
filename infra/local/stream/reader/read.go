package reader

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// maxIterators limits the iterators kept for readers that do not return.
const maxIterators = 64

// pollLoop is a polling loop with the readers that wait for its result.
type pollLoop struct {
	waiting int
	cancel  context.CancelFunc
	done    chan struct{}
	page    Page
	err     error
}

// Read returns the records of a shard after the given sequence number, or from the
// start if it is empty. It waits until there are records, the shard has ended or
// ctx ends.
func (r *Reader) Read(ctx context.Context, shard, after string) (Page, error) {
	at := position{shard, after}
	f := r.join(ctx, at)
	select {
	case <-f.done:
		return f.page, f.err
	case <-ctx.Done():
		r.leave(at, f)
		return Page{}, ctx.Err()
	}
}

// join returns the loop that polls at that place, started if necessary.
func (r *Reader) join(ctx context.Context, at position) *pollLoop {
	r.mu.Lock()
	defer r.mu.Unlock()
	f, ok := r.flights[at]
	if !ok {
		polling, cancel := context.WithCancel(context.WithoutCancel(ctx))
		f = &pollLoop{cancel: cancel, done: make(chan struct{})}
		r.flights[at] = f
		iterator := r.iterators[at]
		delete(r.iterators, at)
		go r.poll(polling, at, iterator, f)
	}
	f.waiting++
	return f
}

// leave stops a loop when its last reader leaves.
func (r *Reader) leave(at position, f *pollLoop) {
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

// poll polls until there is a result.
func (r *Reader) poll(ctx context.Context, at position, iterator string, f *pollLoop) {
	defer f.cancel()
	page, next, err := r.await(ctx, at, iterator)
	if len(page.Records) > 0 && next != "" {
		r.remember(position{at.shard, page.Records[len(page.Records)-1].Sequence}, next)
	}
	r.mu.Lock()
	if r.flights[at] == f {
		delete(r.flights, at)
	}
	r.mu.Unlock()
	f.page, f.err = page, err
	close(f.done)
}

func (r *Reader) await(ctx context.Context, at position, iterator string) (page Page, next string, err error) {
	next = iterator
	for p := newPace(r.opts.Writes); ; {
		written := r.opts.Writes.coming()
		page, next, err = r.get(ctx, at, next)
		if err != nil || len(page.Records) > 0 || page.Closed {
			return page, next, err
		}
		if err := p.wait(ctx, written); err != nil {
			return Page{}, "", err
		}
	}
}

// get reads one page, with the iterator if there is one. An expired iterator is
// replaced by a new one for the same place; a trimmed place, by the oldest one.
func (r *Reader) get(ctx context.Context, at position, iterator string) (page Page, next string, err error) {
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

// iterator requests an iterator for the place.
func (r *Reader) iterator(ctx context.Context, at position) (string, error) {
	in := &dynamodbstreams.GetShardIteratorInput{
		StreamArn: &r.arn, ShardId: &at.shard, ShardIteratorType: types.ShardIteratorTypeTrimHorizon,
	}
	if at.after != "" {
		in.ShardIteratorType, in.SequenceNumber = types.ShardIteratorTypeAfterSequenceNumber, &at.after
	}
	out, err := r.client.GetShardIterator(ctx, in)
	if at.after != "" && isTrimmed(err) {
		return r.iterator(ctx, position{shard: at.shard})
	}
	if err != nil {
		return "", fmt.Errorf("get an iterator for the stream of table %s: %w", r.opts.Table, err)
	}
	return aws.ToString(out.ShardIterator), nil
}

func isTrimmed(err error) bool {
	var trimmed *types.TrimmedDataAccessException
	return errors.As(err, &trimmed)
}

// remember keeps the iterator for the next read at the place.
func (r *Reader) remember(at position, iterator string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.iterators) >= maxIterators {
		clear(r.iterators)
	}
	r.iterators[at] = iterator
}

// recall takes the iterator kept for the place, if there is one.
func (r *Reader) recall(at position) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	iterator := r.iterators[at]
	delete(r.iterators, at)
	return iterator
}
