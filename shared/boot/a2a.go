package boot

import (
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/client/signing"
	"github.com/rethread/rethread/shared/transport/a2a"
	"github.com/rethread/rethread/shared/transport/frontend"
)

// StartA2A runs the A2A server of all agents until Lambda stops it, with the same
// environment as StartAGUI.
func StartA2A() {
	startFrontEnd(func(c frontend.Config, d Deps) http.Handler {
		return a2a.New(c, a2a.Config{
			Tasks: d.Store.Tasks, Links: d.Store.Tasks, Push: d.Store.Pushes, CheckURL: guard().Check,
			PublicKeys: signing.New(d.Store.Keys, time.Now).Public, Modified: deployed(d.Log),
		})
	})
}

// newOrderedID returns an id that sorts after all ids made before it.
func newOrderedID() string { return uuid.Must(uuid.NewV7()).String() }

// deployed returns when this program was built, which is the same for all its
// instances.
func deployed(log *slog.Logger) time.Time {
	path, err := os.Executable()
	if err == nil {
		var info os.FileInfo
		if info, err = os.Stat(path); err == nil {
			return info.ModTime()
		}
	}
	log.Warn("the age of the program is unknown", "error", err)
	return time.Now()
}
