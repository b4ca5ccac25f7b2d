package watch

import "context"

// DefaultPostRate is how many messages a second crowds are sent if nothing else is
// configured: 30 % of the requests that an account's API Gateway takes.
const DefaultPostRate = 3000

// crowd is how many watchers of a session are sent messages at the pace of crowds.
// Fewer need a fraction of a second's posts, and do not wait for any.
const crowd = 500

// pace waits until another watcher of a log may be sent its frames. The pace thus
// determines how often a crowd is sent something: its next batch of changes waits
// meanwhile, and is larger.
func (f *Fanout) pace(ctx context.Context, watchers, frames int) error {
	if watchers < crowd {
		return nil
	}
	for ; frames > 0; frames -= f.crowds.Burst() {
		if err := f.crowds.WaitN(ctx, min(frames, f.crowds.Burst())); err != nil {
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return err
		}
	}
	return nil
}
