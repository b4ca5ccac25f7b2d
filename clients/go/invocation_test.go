package rethread_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	rethread "github.com/rethread/rethread/clients/go"
)

// log is an API that accepts events, and notes the ids of each request.
type log struct {
	mu    sync.Mutex
	lose  int // answers that get lost
	asked [][]string
	held  chan struct{} // if not nil, each request takes a value when it comes, and one before its answer
}

// RoundTrip implements http.RoundTripper.
func (l *log) RoundTrip(r *http.Request) (*http.Response, error) {
	var request rethread.AppendRequest
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		return nil, err
	}
	var ids []string
	for _, e := range request.Events {
		ids = append(ids, e.ID)
	}
	if l.held != nil {
		<-l.held
		<-l.held
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = append(l.asked, ids)
	if l.lose > 0 {
		l.lose--
		return nil, errCut
	}
	return &http.Response{StatusCode: http.StatusCreated, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{"data": []}`))}, nil
}

func (l *log) open(t *testing.T, id string) *rethread.Invocation {
	t.Helper()
	client, err := rethread.New(rethread.Config{
		URL: "https://api.example/api/v1", Token: rethread.StaticToken("token"), HTTP: &http.Client{Transport: l},
		Random: func() float64 { return 0 },
	})
	if err != nil {
		t.Fatal(err)
	}
	return client.Events.Invocation("s", id)
}

func TestInvocation(t *testing.T) {
	t.Parallel()
	one := []rethread.EventRequest{{Author: "user"}}
	t.Run("appends at the same time get different numbers", func(t *testing.T) {
		t.Parallel()
		l := &log{}
		writer := l.open(t, "i")
		const writers = 20
		var all sync.WaitGroup
		for range writers {
			all.Go(func() {
				if _, err := writer.Append(t.Context(), one); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		got := slices.Concat(l.asked...)
		for n := range writers {
			if want := "i." + strconv.Itoa(n+1); !slices.Contains(got, want) {
				t.Errorf("%s is missing in %v", want, got)
			}
		}
	})
	t.Run("a batch that may have been stored is appended again with the same ids", func(t *testing.T) {
		t.Parallel()
		l := &log{lose: 5}
		writer := l.open(t, "")
		if _, err := writer.Append(t.Context(), one); !errors.Is(err, rethread.ErrConnection) {
			t.Errorf("got %v", err)
		}
		if _, err := writer.Append(t.Context(), one); err != nil {
			t.Error(err)
		}
		if want := slices.Repeat([][]string{{writer.ID() + ".1"}}, 6); !reflect.DeepEqual(l.asked, want) {
			t.Errorf("got %v, want %v", l.asked, want)
		}
	})
	t.Run("an id of its own is refused", func(t *testing.T) {
		t.Parallel()
		l := &log{}
		writer := l.open(t, "i")
		for _, e := range []rethread.EventRequest{{ID: "own"}, {InvocationID: "i"}} {
			if _, err := writer.Append(t.Context(), []rethread.EventRequest{e}); !errors.Is(err, rethread.ErrInvalid) || len(l.asked) > 0 {
				t.Errorf("%+v: %v", e, err)
			}
		}
	})
	t.Run("waiting for the append before ends with the context", func(t *testing.T) {
		t.Parallel()
		l := &log{held: make(chan struct{})}
		writer := l.open(t, "i")
		first := make(chan error)
		go func() {
			_, err := writer.Append(t.Context(), one)
			first <- err
		}()
		l.held <- struct{}{} // the first append is under way
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := writer.Append(ended, one); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		l.held <- struct{}{}
		if err := <-first; err != nil {
			t.Error(err)
		}
	})
}
