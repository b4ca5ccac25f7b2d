package stores_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/task"
)

func TestLinks(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	id, user := mustID(t), mustID(t)
	mustCreate(t, s, user, id, nil)
	first := task.Link{
		TaskID: "t1", UserID: user, SessionID: id, Agent: "helper", Runs: []string{"t1"}, After: 3, CreatedTime: 1,
	}
	second := task.Link{TaskID: "t2", UserID: user, SessionID: id, Agent: "helper", CreatedTime: 2}
	for _, l := range []task.Link{first, second} {
		if err := s.Tasks.AddLink(t.Context(), l, user); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // the second changes nothing
		if err := s.Tasks.ExtendLink(t.Context(), user, "t1", "r2"); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Tasks.CancelLink(t.Context(), user, "t1", 9); err != nil {
		t.Fatal(err)
	}
	first.Runs, first.CancelledTime = []string{"t1", "r2"}, 9

	got, err := s.Tasks.Link(t.Context(), user, "t1")
	if diff := cmp.Diff(first, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	all, err := s.Tasks.UserLinks(t.Context(), user)
	if diff := cmp.Diff([]task.Link{second, first}, all); err != nil || diff != "" {
		t.Errorf("newest first: %v (-want +got):\n%s", err, diff)
	}
	if _, err := s.Tasks.Link(t.Context(), alice, "t1"); !errors.Is(err, fault.Of(fault.NotFound)) {
		t.Errorf("another user finds it: %v", err)
	}
	for name, err := range map[string]error{
		"extended":  s.Tasks.ExtendLink(t.Context(), user, "none", "r"),
		"cancelled": s.Tasks.CancelLink(t.Context(), user, "none", 1),
		"added":     s.Tasks.AddLink(t.Context(), task.Link{TaskID: "t", UserID: user, SessionID: "none"}, user),
	} {
		if !errors.Is(err, fault.Of(fault.NotFound)) {
			t.Errorf("%s a missing link: %v", name, err)
		}
	}
	if err := s.Sessions.Delete(t.Context(), user, id); err != nil {
		t.Fatal(err)
	}
	if all, err := s.Tasks.UserLinks(t.Context(), user); err != nil || len(all) != 0 {
		t.Errorf("the deleted session left %v, %v", all, err)
	}
}

// A task that a guest began belongs to the session's owner, and the guest finds it.
func TestLinksOfGuests(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	id, user, guest := mustID(t), mustID(t), mustID(t)
	mustCreate(t, s, user, id, nil)
	mustCreate(t, s, guest, mustID(t), nil)
	begun := task.Link{TaskID: "begun", UserID: user, SessionID: id, Agent: "helper", Runs: []string{"begun"}, CreatedTime: 2}
	if err := s.Tasks.AddLink(t.Context(), begun, guest); err != nil {
		t.Fatal(err)
	}
	other := task.Link{TaskID: "other", UserID: user, SessionID: id, Agent: "helper", CreatedTime: 1}
	if err := s.Tasks.AddLink(t.Context(), other, user); err != nil {
		t.Fatal(err)
	}
	for of, want := range map[string][]task.Link{user: {begun, other}, guest: {begun}} {
		got, err := s.Tasks.Link(t.Context(), of, "begun")
		if diff := cmp.Diff(begun, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
		all, err := s.Tasks.UserLinks(t.Context(), of)
		if diff := cmp.Diff(want, all); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	if err := s.Sessions.Delete(t.Context(), user, id); err != nil {
		t.Fatal(err)
	}
	for _, of := range []string{user, guest} {
		if _, err := s.Tasks.Link(t.Context(), of, "begun"); !errors.Is(err, fault.Of(fault.NotFound)) {
			t.Errorf("the session is deleted: %v", err)
		}
		if all, err := s.Tasks.UserLinks(t.Context(), of); err != nil || len(all) != 0 {
			t.Errorf("the deleted session left %v, %v", all, err)
		}
	}
}
