package e2e_test

import (
	"net/http"

	"github.com/rethread/rethread/infra/test/e2e"
)

// level is who may use a route.
type level string

const (
	public level = "public" // everyone
	signed level = "signed" // everyone with a valid token: the route concerns the caller's own resources
	reads  level = "reads"
	writes level = "writes"
	owns   level = "owns"
	// ownsOrAudits is for the owner and admins, not for guests.
	ownsOrAudits level = "owns, or is an admin"
	// mine is about a resource that the caller owns: all others get 404.
	mine level = "mine"
	// For a task that is identified only by its id, users without access to its
	// session get 404; an admin must name the session.
	findsToRead  level = "reads, by the task alone"
	findsToWrite level = "writes, by the task alone"
	findsToOwn   level = "owns, by the task alone"
)

// route describes how a route of the template is tested, who may use it, and the
// statuses of its answers.
type route struct {
	who  level
	ok   []int
	body func(*scene) any
	path string // of the request, if the template has {path+} or a query is needed
	kind string // Content-Type, unless JSON
	opts []e2e.Option
	// hides is set if the resource does not exist for users who may not even read it:
	// they get 404.
	hides bool
}

func body(v any) func(*scene) any { return func(*scene) any { return v } }

var off = []e2e.Option{e2e.Off} //nolint:gochecknoglobals // a constant, had Go any of slices

// accessTable lists who may use each route of the template. Paths of sessions are
// below /api/v1, and below /api for those that have both.
func accessTable() map[string]route {
	input := body(e2e.M{"input": []e2e.M{says("hello")}, "mode": "external", "agent": "demo", "on_active": "cancel_and_merge"})
	events := body(e2e.M{"events": []e2e.M{event("again", "hello")}})
	task := func(s *scene) any {
		return e2e.M{"task_id": s.task, "message_bubbles": []e2e.M{bubble("b", "user", "changed")}}
	}
	return map[string]route{
		"POST /sessions":                {who: signed, ok: []int{201}, body: body(e2e.M{})},
		"GET /sessions":                 {who: signed, ok: []int{200}},
		"GET /sessions/{session_id}":    {who: reads, ok: []int{200}},
		"PATCH /sessions/{session_id}":  {who: owns, ok: []int{200}, body: body(e2e.M{"name": "changed"})},
		"DELETE /sessions/{session_id}": {who: owns, ok: []int{204}},

		"GET /sessions/{session_id}/state":   {who: reads, ok: []int{200}},
		"GET /sessions/{session_id}/events":  {who: reads, ok: []int{200}},
		"POST /sessions/{session_id}/events": {who: writes, ok: []int{201}, body: events},
		"GET /sessions/{session_id}/thread":  {who: reads, ok: []int{200}},
		"GET /sessions/{session_id}/watch":   {who: reads, ok: []int{200}},
		"GET /sessions/{session_id}/export":  {who: owns, ok: []int{200}},
		"POST /sessions/{session_id}/rewind": {who: writes, ok: []int{200}, body: body(e2e.M{
			"rewind_before_invocation_id": "first", "cancel_run": true,
		})},
		"POST /sessions/{session_id}/fork": {who: owns, ok: []int{201}, body: body(e2e.M{})},
		"GET /sessions/{session_id}/forks": {who: reads, ok: []int{200}},

		"POST /sessions/{session_id}/runs":                         {who: writes, ok: []int{202}, body: input},
		"GET /sessions/{session_id}/runs":                          {who: reads, ok: []int{200}},
		"GET /sessions/{session_id}/runs/{run_id}":                 {who: reads, ok: []int{200}},
		"GET /api/v1/sessions/{session_id}/runs/{run_id}/requests": {who: ownsOrAudits, ok: []int{200}},
		"PATCH /sessions/{session_id}/runs/{run_id}":               {who: writes, ok: []int{200}, body: body(e2e.M{"keep_alive": true})},
		"POST /sessions/{session_id}/runs/{run_id}/cancel":         {who: writes, ok: []int{200}},
		"POST /sessions/{session_id}/runs/{run_id}/deltas": {who: writes, ok: []int{200}, body: body(e2e.M{
			"item_id": "item", "author": "demo", "deltas": []e2e.M{{"part": 0, "text": "more"}},
		})},
		"POST /sessions/{session_id}/runs/{run_id}/events": {who: writes, ok: []int{201}, body: body(e2e.M{
			"events": []e2e.M{{"author": "demo", "content": e2e.M{"role": "model", "parts": []e2e.M{{"text": "done"}}}}},
		})},

		"GET /sessions/{session_id}/artifacts":                 {who: reads, ok: []int{200}},
		"GET /sessions/{session_id}/artifacts/{name}":          {who: reads, ok: []int{200}},
		"GET /sessions/{session_id}/artifacts/{name}/versions": {who: reads, ok: []int{200}},
		"PUT /sessions/{session_id}/artifacts/{name}":          {who: writes, ok: []int{201}, body: body("new"), kind: "text/plain"},
		"DELETE /sessions/{session_id}/artifacts/{name}":       {who: owns, ok: []int{204}},

		"GET /api/v1/sessions/{session_id}/tasks":       {who: reads, ok: []int{200}},
		"GET /api/sessions/{session_id}/tasks":          {who: reads, ok: []int{200}},
		"POST /sessions/{session_id}/tasks":             {who: writes, ok: []int{200}, body: task},
		"GET /sessions/{session_id}/tasks/{task_id}":    {who: reads, ok: []int{200}},
		"DELETE /sessions/{session_id}/tasks/{task_id}": {who: writes, ok: []int{204, 404}},
		"GET /sessions/{session_id}/messages":           {who: reads, ok: []int{200}},
		"POST /api/tasks": {who: writes, ok: []int{200, 201}, body: func(s *scene) any {
			return e2e.M{
				"id": "a2a-task", "contextId": s.session, "kind": "task", "status": e2e.M{"state": "completed"},
				"history": []e2e.M{}, "artifacts": []e2e.M{},
			}
		}},
		"GET /api/tasks/{task_id}":    {who: findsToRead, ok: []int{200}},
		"DELETE /api/tasks/{task_id}": {who: findsToWrite, ok: []int{200, 404}},
		"POST /api/v1/feedback": {who: writes, ok: []int{202}, body: func(s *scene) any {
			return e2e.M{"taskId": s.task, "feedbackType": "up", "sessionId": s.session}
		}},
		"GET /api/v1/feedback": {who: signed, ok: []int{200}},

		"POST /sessions/{session_id}/shares":              {who: owns, ok: []int{201}, body: body(e2e.M{"access": "read"})},
		"GET /sessions/{session_id}/shares":               {who: owns, ok: []int{200}},
		"DELETE /sessions/{session_id}/shares/{share_id}": {who: owns, ok: []int{204}},
		"POST /api/v1/shares/accept":                      {who: signed, ok: []int{404}, body: body(e2e.M{"token": "NOBODYKNOWSTHISTOKEN"})},
		// The owner cannot leave; a user without a share has no share to leave.
		"DELETE /sessions/{session_id}/access": {who: signed, ok: []int{204, 409}},

		"POST /sessions/import": {who: signed, ok: []int{400, 422}, body: body(e2e.M{}), opts: []e2e.Option{e2e.Bad}},
		"POST /sessions/import/{import_id}/parts/{part}": {
			who: signed, ok: []int{400, 404}, body: body(e2e.M{}), opts: []e2e.Option{e2e.Bad},
		},
		"DELETE /sessions/import/{import_id}": {who: signed, ok: []int{204, 404}},
		"GET /api/v1/me/data":                 {who: signed, ok: []int{200, 404}},
		"DELETE /api/v1/me/data":              {who: signed, ok: []int{200, 202}},

		"GET /api/v1/me/usage": {who: signed, ok: []int{200}},

		"POST /api/v1/webhooks":                                              {who: signed, ok: []int{201}, body: body(deafWebhook())},
		"GET /api/v1/webhooks":                                               {who: signed, ok: []int{200}},
		"GET /api/v1/webhooks/{webhook_id}":                                  {who: mine, ok: []int{200}},
		"PATCH /api/v1/webhooks/{webhook_id}":                                {who: mine, ok: []int{200}, body: body(e2e.M{"description": "changed"})},
		"DELETE /api/v1/webhooks/{webhook_id}":                               {who: mine, ok: []int{204}},
		"POST /api/v1/webhooks/{webhook_id}/test":                            {who: mine, ok: []int{202}},
		"GET /api/v1/webhooks/{webhook_id}/secret":                           {who: mine, ok: []int{200}},
		"POST /api/v1/webhooks/{webhook_id}/secret/rotate":                   {who: mine, ok: []int{200}},
		"GET /api/v1/webhooks/{webhook_id}/deliveries":                       {who: mine, ok: []int{200}},
		"GET /api/v1/webhooks/{webhook_id}/deliveries/{delivery_id}":         {who: mine, ok: []int{200}},
		"POST /api/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/replay": {who: mine, ok: []int{202}},

		"POST /api/v1/automations":                   {who: signed, ok: []int{201}, body: body(deafAutomation())},
		"GET /api/v1/automations":                    {who: signed, ok: []int{200}},
		"GET /api/v1/automations/{automation_id}":    {who: mine, ok: []int{200}},
		"PATCH /api/v1/automations/{automation_id}":  {who: mine, ok: []int{200}, body: body(e2e.M{"name": "changed"})},
		"DELETE /api/v1/automations/{automation_id}": {who: mine, ok: []int{204}},

		"POST /a2a/{agent}": {who: writes, ok: []int{200}, body: sendRPC, opts: off},
		// 400 means that the context is busy with another caller's message.
		"POST /a2a/{agent}/{path+}": {
			who: writes, ok: []int{200, 400}, body: sendREST, path: "/a2a/demo/message:send", opts: off,
		},
		"GET /a2a/{agent}/{path+}":                     {who: findsToRead, ok: []int{200}, path: "/a2a/demo/tasks/{a2a_task}", opts: off},
		"DELETE /a2a/{agent}/{path+}":                  {who: findsToOwn, ok: []int{200, 204}, path: "/a2a/demo/tasks/{a2a_task}/pushNotificationConfigs/none", opts: off},
		"GET /a2a/{agent}/.well-known/agent-card.json": {who: public, ok: []int{200}, opts: off},
		"GET /a2a/.well-known/jwks.json":               {who: public, ok: []int{200}, opts: off},
		"GET /.well-known/agent-card.json":             {who: public, ok: []int{200, 404}, opts: off},

		"POST /agui/{agent}":                          {who: writes, ok: []int{200}, body: runAGUI},
		"POST /agui/{agent}/connect":                  {who: reads, ok: []int{200}, body: runAGUI},
		"GET /agui/{agent}/threads/{thread_id}":       {who: reads, ok: []int{200}},
		"POST /agui/{agent}/threads/{thread_id}/stop": {who: writes, ok: []int{200}},

		"POST /ai-sdk/{agent}":                      {who: writes, ok: []int{200}, body: runAISDK},
		"GET /ai-sdk/{agent}/{session_id}/stream":   {who: reads, ok: []int{200, 204}},
		"GET /ai-sdk/{agent}/{session_id}/messages": {who: reads, ok: []int{200}},
		"POST /ai-sdk/{agent}/{session_id}/stop":    {who: writes, ok: []int{200}},

		"POST /v1/responses": {who: writes, ok: []int{200}, hides: true, body: func(s *scene) any {
			return e2e.M{"model": "demo", "input": "hello", "conversation": s.session, "rethread": e2e.M{"on_active": "cancel_and_merge"}}
		}},
		"GET /v1/responses/{response_id}":                            {who: reads, ok: []int{200}, hides: true},
		"DELETE /v1/responses/{response_id}":                         {who: reads, ok: []int{400}, hides: true, opts: []e2e.Option{e2e.Bad}},
		"POST /v1/responses/{response_id}/cancel":                    {who: writes, ok: []int{200}, hides: true},
		"GET /v1/responses/{response_id}/input_items":                {who: reads, ok: []int{200}, hides: true},
		"POST /v1/conversations":                                     {who: signed, ok: []int{200}, body: body(e2e.M{})},
		"GET /v1/conversations/{conversation_id}":                    {who: reads, ok: []int{200}, hides: true},
		"POST /v1/conversations/{conversation_id}":                   {who: owns, ok: []int{200}, hides: true, body: body(e2e.M{"metadata": e2e.M{"a": "b"}})},
		"DELETE /v1/conversations/{conversation_id}":                 {who: owns, ok: []int{200}, hides: true},
		"GET /v1/conversations/{conversation_id}/items":              {who: reads, ok: []int{200}, hides: true},
		"POST /v1/conversations/{conversation_id}/items":             {who: writes, ok: []int{200}, hides: true, body: body(e2e.M{"items": []e2e.M{{"role": "user", "content": "hello"}}})},
		"GET /v1/conversations/{conversation_id}/items/{item_id}":    {who: reads, ok: []int{200}, hides: true},
		"DELETE /v1/conversations/{conversation_id}/items/{item_id}": {who: reads, ok: []int{400}, hides: true, opts: []e2e.Option{e2e.Bad}},
		"GET /v1/models":         {who: signed, ok: []int{200}},
		"GET /v1/models/{model}": {who: signed, ok: []int{200}},

		"POST /mcp": {who: signed, ok: []int{200}, body: listOverMCP, opts: []e2e.Option{
			e2e.Header("Accept", "application/json, text/event-stream"),
		}},
		"GET /mcp":    {who: signed, ok: []int{405}},
		"DELETE /mcp": {who: signed, ok: []int{405}},
		"GET /api/v1": {who: public, ok: []int{200}},
		"GET /.well-known/oauth-protected-resource":     {who: public, ok: []int{200}},
		"GET /.well-known/oauth-protected-resource/mcp": {who: public, ok: []int{200}},

		"GET /":                {who: public, ok: []int{200, 302, 307, 308}, opts: off},
		"GET /console":         {who: public, ok: []int{200, 308}, opts: off},
		"GET /console/":        {who: public, ok: []int{200, 308}, opts: off},
		"GET /console/{path+}": {who: public, ok: []int{200, 404}, path: "/console/index.html", opts: off},

		"websocket $connect":    {who: signed, ok: []int{101}},
		"websocket $disconnect": {who: signed, ok: []int{101}},
		"websocket $default":    {who: reads, ok: []int{200}}, // subscribe; all other actions concern the connection
	}
}

// deafWebhook and deafAutomation match no existing session.
func deafWebhook() e2e.M {
	return e2e.M{"url": "http://127.0.0.1:9/", "session_ids": []string{"none"}}
}

func deafAutomation() e2e.M {
	return e2e.M{
		"on": e2e.M{"types": []string{"task.saved"}, "session_ids": []string{"none"}},
		"do": e2e.M{"agent": "demo", "input": "hello"},
	}
}

func sendREST(s *scene) any {
	return e2e.M{
		"message": e2e.M{
			"messageId": "m", "role": "ROLE_USER", "contextId": s.session, "parts": []e2e.M{{"text": "hello"}},
		},
		"configuration": e2e.M{"returnImmediately": true},
	}
}

func sendRPC(s *scene) any {
	return e2e.M{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": sendREST(s)}
}

func runAGUI(s *scene) any {
	return e2e.M{
		"threadId": s.session, "runId": "over-ag-ui", "messages": []e2e.M{{"id": "m", "role": "user", "content": "hello"}},
	}
}

func runAISDK(s *scene) any {
	return e2e.M{
		"id": s.session, "messages": []e2e.M{{"id": "m", "role": "user", "parts": []e2e.M{{"type": "text", "text": "hello"}}}},
	}
}

func (l level) takes() standing {
	switch l {
	case public, signed:
		return noToken
	case reads, findsToRead:
		return mayRead
	case writes, findsToWrite:
		return mayWrite
	case owns, ownsOrAudits, mine, findsToOwn:
	}
	return isOwner
}

func (l level) finds() bool { return l == findsToRead || l == findsToWrite || l == findsToOwn }

// expected returns the statuses that a caller must get.
func (r route) expected(c caller) []int {
	switch {
	case r.who == public:
		return r.ok
	case c.right == noToken:
		return []int{http.StatusUnauthorized}
	case c.right == impostor:
		return []int{http.StatusForbidden}
	case r.who == signed, c.admin && (r.who == reads || r.who == ownsOrAudits), c.right >= r.who.takes():
		return r.ok
	case r.who == mine, c.right == outside && (r.who.finds() || r.hides && !c.admin):
		return []int{http.StatusNotFound}
	}
	return []int{http.StatusForbidden}
}

// listOverMCP lists the caller's own sessions: what callers may do with those of others
// is a matter of the tools (testMCP).
func listOverMCP(*scene) any {
	return e2e.M{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": e2e.M{"name": "list_sessions"}}
}
