package run_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
)

func TestCancelStopsTheAgent(t *testing.T) {
	t.Run("within three seconds if it is silent", func(t *testing.T) {
		for _, silent := range []time.Duration{0, time.Second, 10*time.Second + 1, 19999 * time.Millisecond, time.Hour} {
			synctest.Test(t, func(t *testing.T) {
				r := newRecorder()
				mustExecute(t, newWorker(r, func(ctx context.Context, _ run.Request, _ func(run.Output) error) error {
					if err := wait(ctx, silent); err != nil {
						return err
					}
					r.cancel()
					cancelled := time.Now()
					err := wait(ctx, time.Minute)
					if took := time.Since(cancelled); took > 3*time.Second {
						t.Errorf("after %s: stopped after %s", silent, took)
					}
					return err
				}))
				wantEnd(t, r, "0 ends")
			})
		}
	})
	t.Run("at the next write if it emits output", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRecorder()
			mustExecute(t, newWorker(r, func(ctx context.Context, _ run.Request, emit func(run.Output) error) error {
				if err := says(ctx, emit, 0, "a"); err != nil {
					return err
				}
				r.cancel()
				cancelled := time.Now()
				for {
					if err := errors.Join(emit(run.Output{Delta: &content.Delta{Text: "b"}}), wait(ctx, 10*time.Millisecond)); err != nil {
						if took := time.Since(cancelled); took > 200*time.Millisecond {
							t.Errorf("stopped after %s", took)
						}
						return err
					}
				}
			}))
			wantEnd(t, r, "0 ends")
		})
	})
	t.Run("when the rest of an item is stored", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRecorder()
			mustExecute(t, newWorker(r, func(ctx context.Context, _ run.Request, emit func(run.Output) error) error {
				err := says(ctx, emit, 0, "a", "b")
				r.cancel()
				return errors.Join(err, toldError{})
			}))
			wantEnd(t, r, "0 ends")
		})
	})
	t.Run("if the session is deleted", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRecorder()
			r.refuse = refusing("Run", fault.Missing("Session"))
			mustExecute(t, newWorker(r, func(ctx context.Context, _ run.Request, _ func(run.Output) error) error {
				return wait(ctx, time.Hour)
			}))
			wantEnd(t, r, "0 ends")
		})
	})
}

func TestHeartbeatCost(t *testing.T) {
	t.Run("a silent minute takes a read every two seconds and two renewals", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRecorder()
			mustExecute(t, newWorker(r, func(ctx context.Context, _ run.Request, _ func(run.Output) error) error {
				return wait(ctx, time.Minute+time.Second)
			}))
			if reads, renewals := len(r.all("Run")), len(r.all("Renew")); reads != 28 || renewals != 2 {
				t.Errorf("%d reads and %d renewals, want 28 and 2", reads, renewals)
			}
			wantEnd(t, r, "completed")
		})
	})
	t.Run("writes replace reads, and the lease is renewed all the same", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRecorder()
			mustExecute(t, newWorker(r, func(ctx context.Context, _ run.Request, emit func(run.Output) error) error {
				return says(ctx, emit, time.Second, make([]string, 61)...)
			}))
			if reads, renewals := len(r.all("Run")), len(r.all("Renew")); reads != 0 || renewals != 2 {
				t.Errorf("%d reads and %d renewals, want none and 2", reads, renewals)
			}
		})
	})
	t.Run("a failed check is repeated well within the lease", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRecorder()
			r.refuse = func(name string) error {
				if name == "Renew" && time.Since(r.start) < 40*time.Second || name == "Run" {
					return errors.New("throttled")
				}
				return nil
			}
			mustExecute(t, newWorker(r, func(ctx context.Context, _ run.Request, _ func(run.Output) error) error {
				return wait(ctx, 50*time.Second)
			}))
			renewals := r.all("Renew")
			if n := len(renewals); n != 6 || renewals[n-1].at != 40*time.Second {
				t.Errorf("renewals: %+v", renewals)
			}
			wantEnd(t, r, "completed")
		})
	})
}

func TestTimeRunsOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecorder()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		w := newWorker(r, func(ctx context.Context, _ run.Request, emit func(run.Output) error) error {
			if err := says(ctx, emit, 279*time.Second, "a"); err != nil {
				return err
			}
			return errors.Join(wait(ctx, 950*time.Millisecond), emit(run.Output{Delta: &content.Delta{Text: "b"}}),
				emit(run.Output{Delta: &content.Delta{Text: "c"}}), wait(ctx, time.Hour))
		})
		if err := w.Execute(ctx, theRun); err != nil {
			t.Fatal(err)
		}
		wantEnd(t, r, "failed out_of_time")
		if end := r.all("End")[0]; end.at != 280*time.Second {
			t.Errorf("ended after %s, want 20 s before the deadline", end.at)
		}
		if got := content.Coalesce(r.flushed()); len(got) != 1 || got[0].Text != "abc" {
			t.Errorf("kept %+v", got)
		}
	})
}
