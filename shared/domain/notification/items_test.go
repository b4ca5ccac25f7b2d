package notification_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/notification"
)

func TestOfItems(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ got, want notification.Event }{
		"a session is created": {
			notification.OfSession(notification.Session{By: by(), Log: "l", Created: 5}),
			of(notification.Event{ID: "l.created", Type: notification.SessionCreated, Log: "l", Time: 5}),
		},
		"a session is imported, at the time of the import": {
			notification.OfSession(notification.Session{By: by(), Log: "l", Created: 5, Imported: 9}),
			of(notification.Event{ID: "l.created", Type: notification.SessionCreated, Log: "l", Time: 9}),
		},
		"a session is forked": {
			notification.OfSession(notification.Session{By: by(), Log: "l", Created: 5, Fork: &notification.Fork{Source: "s0", Before: "i"}}),
			of(notification.Event{ID: "l.created", Type: notification.SessionForked, Log: "l", Time: 5, Source: "s0", Before: "i"}),
		},
		"a session is deleted": {
			notification.OfDeletion(by(), "l", 5),
			of(notification.Event{ID: "l.deleted", Type: notification.SessionDeleted, Log: "l", Time: 5}),
		},
		"an artifact of the session": {
			notification.OfArtifact(notification.Artifact{By: by(), Log: "l", Name: "a.txt", Version: 2, Created: 5, Partition: "L#l", Key: "A#a.txt/2", Nonce: "n"}),
			of(notification.Event{ID: "artifact.af2ac0f799a66bd92abd895937a7c419", Type: notification.ArtifactSaved, Log: "l", Artifact: "a.txt", Version: 2, Time: 5}),
		},
		"an artifact of the user": {
			notification.OfArtifact(notification.Artifact{By: by(), Name: "a.txt", Created: 5, Partition: "U#u", Key: "A#a.txt/0", Nonce: "n"}),
			of(notification.Event{ID: "artifact.9fd2be3a3aa12b2b60424734e3a876e9", Type: notification.ArtifactSaved, Artifact: "user:a.txt", Time: 5}),
		},
		"a feedback": {
			notification.OfFeedback(notification.Feedback{By: by(), ID: "f", TaskID: "t", Type: "good", Created: 5}),
			of(notification.Event{ID: "feedback.f", Type: notification.FeedbackCreated, TaskID: "t", Feedback: "good", Time: 5}),
		},
		"a task is cancelled while it waits": {
			notification.OfCancelledTask("alice", "s", "t", 5),
			notification.Event{ID: "cancelled.s.t", Type: notification.TaskCancelled, UserID: "alice", SessionID: "s", RunID: "t", Time: 5},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, c.got); diff != "" {
				t.Errorf("event (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOfTask(t *testing.T) {
	t.Parallel()
	version := func(version, saved, created int64) notification.TaskVersion {
		return notification.TaskVersion{Version: version, Saved: saved, Created: created}
	}
	for name, c := range map[string]struct {
		was, now notification.TaskVersion
		notified bool
	}{
		"a new task":                          {version(0, 0, 0), version(1, 1, 5), true},
		"a caller saves it again":             {version(1, 1, 5), version(2, 2, 5), true},
		"it is judged":                        {version(1, 1, 5), version(2, 1, 5), false},
		"it is moved after feedback":          {version(2, 1, 5), version(3, 1, 5), false},
		"the same version is written again":   {version(1, 1, 5), version(1, 1, 5), false},
		"it was deleted and is created again": {version(1, 1, 5), version(1, 1, 6), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := notification.OfTask(notification.Task{By: by(), Log: "l", TaskID: "t", Updated: 9, Was: c.was, Now: c.now})
			if len(got) > 0 != c.notified {
				t.Fatalf("it gives %+v", got)
			}
			for _, e := range got {
				if e.ID == "" {
					t.Errorf("%+v has no id", e)
				}
				e.ID = ""
				want := of(notification.Event{Type: notification.TaskSaved, Log: "l", TaskID: "t", Time: 9})
				if diff := cmp.Diff(want, e); diff != "" {
					t.Errorf("event (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// Ids prevent double delivery: equal facts have equal ids, whatever characters
// their parts contain, and different facts have different ids.
func TestIDs(t *testing.T) {
	t.Parallel()
	task := func(log, id string, created, version int64) string {
		now := notification.TaskVersion{Version: version, Saved: version, Created: created}
		return notification.OfTask(notification.Task{Log: log, TaskID: id, Now: now})[0].ID
	}
	if a, b := task("l", "t", 1, 2), task("l", "t", 1, 2); a != b {
		t.Errorf("the same version is %s and %s", a, b)
	}
	seen := map[string]bool{}
	all := []string{task("l", "t", 1, 2), task("l", "t", 2, 1), task("l", "t", 12, 1), task("lt", "", 1, 2), task("", "lt", 1, 2)}
	for _, id := range all {
		seen[id] = true
	}
	if len(seen) != len(all) {
		t.Errorf("%v are not all different", all)
	}
}
