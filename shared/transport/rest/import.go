package rest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/go-chi/chi/v5"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/archive"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
)

const (
	importPath = versioned + "/sessions/import"
	// tasksFormat is the format of a list of tasks as in seed 002.
	tasksFormat = "tasks/1"
)

// Import imports sessions.
func Import(c Config) http.Handler {
	a := newAPI(c)
	a.handle(http.MethodPost, importPath, withBody(archive.MaxPart, a.once(repeatable{may: anyCaller}, a.importSession)))
	a.handle(http.MethodPost, importPath+"/{import_id}/parts/{part}", withBody(archive.MaxPart, a.importPart))
	a.handle(http.MethodDelete, importPath+"/{import_id}", a.abandonImport)
	return a.mux
}

func (a *api) importSession(c *call) (*reply, error) {
	q, err := c.query()
	if err != nil {
		return nil, err
	}
	u := archive.Upload{UserID: c.user, Number: 1, KeyedBy: c.claim}
	if u.SessionID, err = q.id("id"); err != nil {
		return nil, err
	}
	if u.ImportID, err = c.derivedID("import"); err != nil {
		return nil, err
	}
	if u.Part, err = a.document(c, u.SessionID); err != nil {
		return nil, err
	}
	return a.takePart(c, u)
}

func (a *api) importPart(c *call) (*reply, error) {
	u := archive.Upload{UserID: c.user}
	var err error
	if u.ImportID, err = c.pathID("import_id"); err != nil {
		return nil, err
	}
	if u.Number, err = strconv.Atoi(chi.URLParam(c.Request, "part")); err != nil || u.Number < 1 || u.Number > archive.MaxParts {
		return nil, fault.Field(fault.Malformed, "part", "must be 1 to %d", archive.MaxParts)
	}
	if u.Part, err = c.parsePart(); err != nil {
		return nil, err
	}
	return a.takePart(c, u)
}

func (a *api) takePart(c *call, u archive.Upload) (*reply, error) {
	sum := sha256.Sum256(c.body)
	u.Digest = hex.EncodeToString(sum[:])
	p, err := a.Imports.Import(c.Context(), u)
	if err != nil {
		return nil, err
	}
	if p.Session == nil {
		rep, err := jsonReply(http.StatusAccepted, data{p})
		if err != nil {
			return nil, err
		}
		rep.header.Set("Location", importPath+"/"+url.PathEscape(p.ImportID))
		return rep, nil
	}
	rep, err := jsonReply(http.StatusCreated, imported{Data: *p.Session, Meta: importMeta{Kept: emptyIfNil(p.Kept)}})
	if err != nil {
		return nil, err
	}
	rep.header.Set("ETag", etag(p.Session.Version))
	rep.header.Set("Location", versioned+"/sessions/"+url.PathEscape(p.Session.ID))
	return rep, nil
}

type imported struct {
	Data session.Session `json:"data"`
	Meta importMeta      `json:"meta"`
}

type importMeta struct {
	Kept []string `json:"kept"`
}

func (a *api) abandonImport(c *call) (*reply, error) {
	id, err := c.pathID("import_id")
	if err != nil {
		return nil, err
	}
	if err := a.Imports.Abandon(c.Context(), c.user, id); err != nil {
		return nil, err
	}
	return noContent(), nil
}

// document reads the body in any format of sessions.
func (a *api) document(c *call, id string) (*archive.Part, error) {
	if jsonx.IsArray(c.body) {
		tasks := jsonx.Object{Members: map[string]json.RawMessage{"tasks": c.body}, Fault: fieldFault}
		return a.taskDocument(c, object{tasks}, id)
	}
	body, err := c.object()
	if err != nil {
		return nil, err
	}
	format, err := body.Text("format")
	if err != nil {
		return nil, err
	}
	switch {
	case format == archive.Format:
		return c.parsePart()
	case format == tasksFormat, format == "" && body.Has("tasks"):
		return a.taskDocument(c, body, id)
	case format == "" && body.Has("events"):
		p, err := archive.FromADK(bytes.TrimSpace(c.body), id, a.Now().UnixMilli())
		if err != nil {
			return nil, err
		}
		return p, c.checkApp(p, true)
	}
	return nil, fieldFault(fault.Invalid, "/format",
		"must be %q or %q, or absent from a list of tasks and from a session of google-adk", archive.Format, tasksFormat)
}

// parsePart reads the body in the project's own format.
func (c *call) parsePart() (*archive.Part, error) {
	p, err := archive.Parse(c.body)
	if err != nil {
		return nil, err
	}
	return p, c.checkApp(p, false)
}

// checkApp refuses a document with state of the app from a caller who may not change
// that. The first event of a session of google-adk may be its state, isADK.
func (c *call) checkApp(p *archive.Part, isADK bool) error {
	first := 0
	for i, e := range p.Events {
		at := "/events/" + strconv.Itoa(i-first) + "/actions/state_delta"
		if isADK && e.Log.Initial {
			first, at = 1, "/state"
		}
		if err := c.caller.CheckApp(e.StateDelta, at); err != nil {
			return err
		}
	}
	if p.State == nil || isADK {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(p.State.App)) {
		if err := c.caller.CheckAppKey("/state/app/" + jsonx.EscapePointer(name)); err != nil {
			return err
		}
	}
	return nil
}

// taskDocument returns the document of a list of tasks. With id "" it uses the
// list's own session_id, or a new id.
func (a *api) taskDocument(c *call, body object, id string) (*archive.Part, error) {
	of := session.Session{ID: id, AppName: session.DefaultApp, Metadata: json.RawMessage("{}")}
	var err error
	if of.Name, err = body.Text("name"); err != nil {
		return nil, err
	}
	if of.Agent, err = body.Text("agent"); err != nil {
		return nil, err
	}
	if of.ID == "" {
		if of.ID, err = body.Text("session_id"); err != nil {
			return nil, err
		}
	}
	if of.ID == "" {
		if of.ID, err = c.derivedID("session"); err != nil {
			return nil, err
		}
	}
	n := session.New{ID: of.ID, Name: of.Name, Agent: of.Agent, Metadata: of.Metadata}
	if err := n.Validate(); err != nil {
		return nil, err
	}
	of.AppName = n.AppName
	items, err := body.Array("tasks")
	if err != nil {
		return nil, err
	}
	saves := make([]task.Save, len(items))
	for i, raw := range items {
		one, err := parseObject(raw, "/tasks/"+strconv.Itoa(i))
		if err != nil {
			return nil, err
		}
		if saves[i], err = one.taskSave(c.user, of.ID); err != nil {
			return nil, err
		}
		t := &saves[i].Task
		if t.CreatedTime, t.UpdatedTime, err = archive.TaskTimes(raw, i); err != nil {
			return nil, err
		}
	}
	return archive.FromTasks(of, saves, a.Now().UnixMilli())
}
