package reader

import "context"

// Poll calls poll with the pauses of a reader, until poll or ctx ends that.
func Poll(ctx context.Context, writes *Writes, poll func() (found bool)) error {
	for p := newPace(writes); ; {
		written := writes.coming()
		if poll() {
			return nil
		}
		if err := p.wait(ctx, written); err != nil {
			return err
		}
	}
}
