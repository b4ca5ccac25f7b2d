package mcp

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/google/uuid"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/ids"
	"github.com/rethread/rethread/shared/domain/session"
)

type forkArgs struct {
	SessionID string `json:"session_id" jsonschema:"id of the session to fork"`
	Before    string `json:"rewind_before_invocation_id,omitempty" jsonschema:"the fork has what came before this invocation; everything if it is left out"`
	Name      string `json:"name,omitempty" jsonschema:"name of the new session"`
	DryRun    bool   `json:"dry_run,omitempty" jsonschema:"only return the session that would be created"`
	RequestID string `json:"request_id,omitempty" jsonschema:"any id of this request: a repeat with the same id and arguments returns the same fork"`
}

func forkTool() *sdk.Tool {
	return &sdk.Tool{
		Name: "fork_session", Title: "Fork a session",
		Description: "Creates a new session that begins with what another one shows, up to but not including an invocation; " +
			"the other session stays as it is. Only its owner may fork it. An invocation that is not in the session is refused.",
		Annotations: &sdk.ToolAnnotations{DestructiveHint: new(bool), OpenWorldHint: new(bool)},
	}
}

func forkRules() rules {
	return sessionRules().with("rewind_before_invocation_id", length(0, ids.MaxLength)).
		with("name", length(0, session.MaxName)).with("request_id", length(0, ids.MaxLength))
}

func (s *server) forkSession(ctx context.Context, in forkArgs) (any, error) {
	of := session.ForkOf{SessionID: in.SessionID, DryRun: in.DryRun, Strict: true}
	if in.Before != "" {
		if err := ids.Check("rewind_before_invocation_id", in.Before); err != nil {
			return nil, err
		}
		of.Before = &in.Before
	}
	if in.Name != "" {
		of.Name = &in.Name
	}
	var err error
	if of.ID, of.Nonce, err = s.ids(ctx, in.RequestID, "fork", in); err != nil {
		return nil, err
	}
	var forked session.Session
	err = s.do(ctx, in.SessionID, access.Fork, func(p access.Permission) error {
		of.UserID = p.Owner
		var err error
		forked, err = s.Rewinds.Fork(ctx, of)
		return err
	})
	return map[string]any{"session": forked, "dry_run": in.DryRun}, err
}

type rewindArgs struct {
	SessionID  string   `json:"session_id" jsonschema:"id of the session"`
	Before     string   `json:"rewind_before_invocation_id" jsonschema:"the session becomes what it was before the first event of this invocation"`
	DryRun     bool     `json:"dry_run,omitempty" jsonschema:"only return what would be restored"`
	Scopes     []string `json:"scopes,omitempty" jsonschema:"whose state is restored; all three if it is left out"`
	OnConflict string   `json:"on_conflict,omitempty" jsonschema:"what happens to shared values that other sessions have changed since; keep is the default"`
	CancelRun  bool     `json:"cancel_run,omitempty" jsonschema:"end a run in progress, which refuses the rewind otherwise"`
	RequestID  string   `json:"request_id,omitempty" jsonschema:"any id of this request: a repeat with the same id and arguments changes nothing"`
}

func rewindTool() *sdk.Tool {
	destructive := true
	return &sdk.Tool{
		Name: "rewind_session", Title: "Rewind a session",
		Description: "Restores a session as it was before an invocation, for everybody who uses it: later events are hidden, " +
			"state and artifacts get their earlier values. Ask the user first, and preview with dry_run, which changes nothing. " +
			"Nothing is deleted: to undo the rewind, rewind again with rewind_before_invocation_id set to the " +
			"undo_before_invocation_id of the result. State and artifacts that the user's sessions share are restored, too, unless " +
			"scopes is [\"session\"]; conflicts lists the shared keys that were kept, and why.",
		Annotations: &sdk.ToolAnnotations{DestructiveHint: &destructive, OpenWorldHint: new(bool)},
	}
}

func rewindRules() rules {
	return sessionRules().with("rewind_before_invocation_id", length(1, ids.MaxLength)).
		with("scopes", func(s *jsonschema.Schema) {
			least := 1
			s.MinItems, s.Type, s.Types = &least, "array", nil
			s.Items.Enum = []any{"session", "user", "app"}
		}).
		with("on_conflict", oneOf("keep", "restore")).with("request_id", length(0, ids.MaxLength))
}

// rewound is the result of a rewind, or of its dry run.
type rewound struct {
	DryRun    bool               `json:"dry_run"`
	Undo      string             `json:"undo_before_invocation_id,omitempty"`
	Session   session.Session    `json:"session"`
	State     session.Delta      `json:"restored_state"`
	Artifacts map[string]int64   `json:"restored_artifacts"`
	Conflicts []session.Conflict `json:"conflicts"`
}

func (s *server) rewindSession(ctx context.Context, in rewindArgs) (any, error) {
	of := session.Rewind{
		SessionID: in.SessionID, Before: in.Before, Restore: in.OnConflict == "restore", DryRun: in.DryRun, CancelRun: in.CancelRun,
	}
	if err := ids.Check("rewind_before_invocation_id", in.Before); err != nil {
		return nil, err
	}
	for i, name := range in.Scopes {
		scope, err := session.ParseScope(name)
		if err != nil {
			return nil, fault.Field(fault.Invalid, fmt.Sprintf("scopes/%d", i), "must be session, user or app")
		}
		of.Scopes = append(of.Scopes, scope)
	}
	var err error
	if of.Nonce, _, err = s.ids(ctx, in.RequestID, "rewind", in); err != nil {
		return nil, err
	}
	var out rewound
	err = s.do(ctx, in.SessionID, access.Rewind, func(p access.Permission) error {
		of := of
		of.UserID = p.Owner
		allowed, err := p.Rewind(of)
		if err != nil {
			return err
		}
		done, err := s.Rewinds.Rewind(ctx, allowed)
		out = rewoundOf(done, in.DryRun)
		out.Session.Access = p.Label()
		return err
	})
	return out, err
}

func rewoundOf(done session.Rewound, dryRun bool) rewound {
	out := rewound{DryRun: dryRun, Session: done.Session, State: done.State, Artifacts: done.Artifacts, Conflicts: done.Conflicts}
	if !dryRun {
		out.Undo = done.Event.InvocationID
	}
	if out.State == nil {
		out.State = session.Delta{}
	}
	if out.Artifacts == nil {
		out.Artifacts = map[string]int64{}
	}
	if out.Conflicts == nil {
		out.Conflicts = []session.Conflict{}
	}
	return out
}

// ids returns two ids for what a call creates: new ones or, with a request id, ones of
// the caller's request and its arguments, so that a repeat finds the same.
func (s *server) ids(ctx context.Context, requestID, tool string, args any) (first, second string, err error) {
	if requestID == "" {
		return s.NewID(), s.NewID(), nil
	}
	name, err := json.Marshal([]any{"rethread mcp", access.CallerOf(ctx).UserID, tool, args})
	if err != nil {
		return "", "", fmt.Errorf("derive an id: %w", err)
	}
	one := uuid.NewSHA1(uuid.NameSpaceURL, name)
	return one.String(), uuid.NewSHA1(one, []byte("nonce")).String(), nil
}
