package archives

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
	"github.com/rethread/rethread/shared/transport/rest"
	"github.com/rethread/rethread/shared/transport/rest/tasks"
)

const (
	importPath = rest.Versioned + "/sessions/import"
	// tasksFormat is the format of a list of tasks as in seed 002.
	tasksFormat = "tasks/1"
)

// Import imports sessions.
func Import(c rest.Config) http.Handler {
	a := &api{rest.NewAPI(c)}
	a.Handle(http.MethodPost, importPath, rest.WithBody(archive.MaxPart, a.Once(rest.Repeatable{May: rest.AnyCaller}, a.importSession)))
	a.Handle(http.MethodPost, importPath+"/{import_id}/parts/{part}", rest.WithBody(archive.MaxPart, a.importPart))
	a.Handle(http.MethodDelete, importPath+"/{import_id}", a.abandonImport)
	return a.Mux
}

func (a *api) importSession(c *rest.Call) (*rest.Reply, error) {
	q, err := c.Query()
	if err != nil {
		return nil, err
	}
	u := archive.Upload{UserID: c.User, Number: 1, KeyedBy: c.Claim}
	if u.SessionID, err = q.ID("id"); err != nil {
		return nil, err
	}
	if u.ImportID, err = c.DerivedID("import"); err != nil {
		return nil, err
	}
	if u.Part, err = a.document(c, u.SessionID); err != nil {
		return nil, err
	}
	return a.takePart(c, u)
}

func (a *api) importPart(c *rest.Call) (*rest.Reply, error) {
	u := archive.Upload{UserID: c.User}
	var err error
	if u.ImportID, err = c.PathID("import_id"); err != nil {
		return nil, err
	}
	if u.Number, err = strconv.Atoi(chi.URLParam(c.Request, "part")); err != nil || u.Number < 1 || u.Number > archive.MaxParts {
		return nil, fault.Field(fault.Malformed, "part", "must be 1 to %d", archive.MaxParts)
	}
	if u.Part, err = parsePart(c); err != nil {
		return nil, err
	}
	return a.takePart(c, u)
}

func (a *api) takePart(c *rest.Call, u archive.Upload) (*rest.Reply, error) {
	sum := sha256.Sum256(c.JSON)
	u.Digest = hex.EncodeToString(sum[:])
	p, err := a.Imports.Import(c.Context(), u)
	if err != nil {
		return nil, err
	}
	if p.Session == nil {
		rep, err := rest.JSON(http.StatusAccepted, rest.Data{Data: p})
		if err != nil {
			return nil, err
		}
		rep.Header.Set("Location", importPath+"/"+url.PathEscape(p.ImportID))
		return rep, nil
	}
	rep, err := rest.JSON(http.StatusCreated, imported{Data: *p.Session, Meta: importMeta{Kept: rest.EmptyIfNil(p.Kept)}})
	if err != nil {
		return nil, err
	}
	rep.Header.Set("ETag", rest.ETag(p.Session.Version))
	rep.Header.Set("Location", rest.Versioned+"/sessions/"+url.PathEscape(p.Session.ID))
	return rep, nil
}

type imported struct {
	Data session.Session `json:"data"`
	Meta importMeta      `json:"meta"`
}

type importMeta struct {
	Kept []string `json:"kept"`
}

func (a *api) abandonImport(c *rest.Call) (*rest.Reply, error) {
	id, err := c.PathID("import_id")
	if err != nil {
		return nil, err
	}
	if err := a.Imports.Abandon(c.Context(), c.User, id); err != nil {
		return nil, err
	}
	return rest.NoContent(), nil
}

// document reads the body in any format of sessions.
func (a *api) document(c *rest.Call, id string) (*archive.Part, error) {
	if jsonx.IsArray(c.JSON) {
		tasks := jsonx.Object{Members: map[string]json.RawMessage{"tasks": c.JSON}, Fault: rest.FieldFault}
		return a.taskDocument(c, rest.Object{Object: tasks}, id)
	}
	body, err := c.Object()
	if err != nil {
		return nil, err
	}
	format, err := body.Text("format")
	if err != nil {
		return nil, err
	}
	switch {
	case format == archive.Format:
		return parsePart(c)
	case format == tasksFormat, format == "" && body.Has("tasks"):
		return a.taskDocument(c, body, id)
	case format == "" && body.Has("events"):
		p, err := archive.FromADK(bytes.TrimSpace(c.JSON), id, a.Now().UnixMilli())
		if err != nil {
			return nil, err
		}
		return p, checkApp(c, p, true)
	}
	return nil, rest.FieldFault(fault.Invalid, "/format",
		"must be %q or %q, or absent from a list of tasks and from a session of google-adk", archive.Format, tasksFormat)
}

// parsePart reads the body in the project's own format.
func parsePart(c *rest.Call) (*archive.Part, error) {
	p, err := archive.Parse(c.JSON)
	if err != nil {
		return nil, err
	}
	return p, checkApp(c, p, false)
}

// checkApp refuses a document with state of the app from a caller who may not change
// that. The first event of a session of google-adk may be its state, isADK.
func checkApp(c *rest.Call, p *archive.Part, isADK bool) error {
	first := 0
	for i, e := range p.Events {
		at := "/events/" + strconv.Itoa(i-first) + "/actions/state_delta"
		if isADK && e.Log.Initial {
			first, at = 1, "/state"
		}
		if err := c.Caller.CheckApp(e.StateDelta, at); err != nil {
			return err
		}
	}
	if p.State == nil || isADK {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(p.State.App)) {
		if err := c.Caller.CheckAppKey("/state/app/" + jsonx.EscapePointer(name)); err != nil {
			return err
		}
	}
	return nil
}

// taskDocument returns the document of a list of tasks. With id "" it uses the
// list's own session_id, or a new id.
func (a *api) taskDocument(c *rest.Call, body rest.Object, id string) (*archive.Part, error) {
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
		if of.ID, err = c.DerivedID("session"); err != nil {
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
		one, err := rest.ParseObject(raw, "/tasks/"+strconv.Itoa(i))
		if err != nil {
			return nil, err
		}
		if saves[i], err = tasks.Save(one, c.User, of.ID); err != nil {
			return nil, err
		}
		t := &saves[i].Task
		if t.CreatedTime, t.UpdatedTime, err = archive.TaskTimes(raw, i); err != nil {
			return nil, err
		}
	}
	return archive.FromTasks(of, saves, a.Now().UnixMilli())
}
