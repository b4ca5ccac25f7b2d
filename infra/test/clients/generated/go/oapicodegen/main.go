// Command oapicodegen tells the story with the client of oapi-codegen.
package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/rethread/rethread/infra/test/clients/generated/go/oapicodegen/rethread"
	"github.com/rethread/rethread/infra/test/clients/generated/go/story"
)

// response is what all responses of the client have in common.
type response interface {
	StatusCode() int
	GetBody() []byte
}

// got returns the body of a response that must have one of this kind.
func got[T any](body *T, res response) T {
	if body == nil {
		panic(fmt.Sprintf("%T: %d %s", res, res.StatusCode(), res.GetBody()))
	}
	return *body
}

func main() {
	ctx := context.Background()
	api, err := rethread.NewClientWithResponses(story.URL(), rethread.WithRequestEditorFn(
		func(_ context.Context, req *http.Request) error {
			req.Header.Set("Authorization", "Bearer "+story.Token())
			return nil
		}))
	story.Must(err)

	session := create(ctx, api)
	first := run(ctx, api, session.Id, story.Question)
	second := run(ctx, api, session.Id, story.Remark)
	story.Done("run")
	thread(ctx, api, session.Id, first)
	pages(ctx, api, session.Id)
	saveTask(ctx, api, session.Id)
	artifact(ctx, api, session.Id)
	fork(ctx, api, session.Id, second)
	rewind(ctx, api, session.Id, second)
	update(ctx, api, session.Id)
	remove(ctx, api, session.Id)
}

func create(ctx context.Context, api *rethread.ClientWithResponses) rethread.Session {
	res, err := api.CreateSessionWithResponse(ctx, nil, rethread.SessionRequest{
		Agent: new("demo"), Name: new("A story"), State: new(rethread.StateMap{"region": "EMEA"}),
	})
	story.Must(err)
	session := got(res.JSON201, res).Data
	story.Equal("status", session.Status, rethread.SessionStatusIdle)
	story.Equal("fork", session.Fork, nil)
	story.Done("create")
	return session
}

func run(ctx context.Context, api *rethread.ClientWithResponses, session, text string) string {
	var input rethread.RunRequest_Input
	story.Must(input.FromRunRequestInput1([]rethread.InputEvent{{Content: rethread.Content{
		Role: new("user"), Parts: &[]rethread.Part{{Text: &text}},
	}}}))
	started, err := api.StartRunWithResponse(ctx, session, nil, rethread.RunRequest{Input: input})
	story.Must(err)
	id := got(started.JSON202, started).Data.Run.Id
	var ended rethread.Run
	story.Poll("the run's end", func() bool {
		res, err := api.GetRunWithResponse(ctx, session, id)
		story.Must(err)
		ended = got(res.JSON200, res).Data
		return ended.Status != rethread.RunStatusInProgress
	})
	story.Equal("status of the run", ended.Status, rethread.RunStatusCompleted)
	story.Equal("error of the run", ended.Error, nil)
	story.Equal("the run has ended", ended.EndedTime != nil, true)
	return id
}

func thread(ctx context.Context, api *rethread.ClientWithResponses, session, first string) {
	res, err := api.GetThreadWithResponse(ctx, session, nil)
	story.Must(err)
	answer := got(res.JSON200, res)
	story.Equal("next cursor", answer.Meta.NextCursor, nil)
	items := answer.Data.Items
	story.Equal("items", len(items), 5)
	story.Equal("content of the initial state", items[0].Content, nil)
	story.Equal("initial state", (*items[0].Actions.StateDelta)["region"], any("EMEA"))
	story.Equal("question", *(*items[1].Content.Parts)[0].Text, story.Question)
	story.Equal("invocation", items[2].InvocationId, first)
	call := (*items[2].Content.Parts)[1].FunctionCall
	story.Equal("function", *call.Name, "look_up")
	story.Equal("argument", (*call.Args)["query"], any("weather"))
	story.Done("thread")
}

func pages(ctx context.Context, api *rethread.ClientWithResponses, session string) {
	var seqs []int64
	params := rethread.ListEventsParams{Limit: new(3)}
	for {
		res, err := api.ListEventsWithResponse(ctx, session, &params)
		story.Must(err)
		page := got(res.JSON200, res)
		for _, e := range page.Data {
			seqs = append(seqs, e.Seq)
		}
		if page.Meta.NextCursor == nil {
			break
		}
		params.Cursor = page.Meta.NextCursor
	}
	story.Equal("positions", len(seqs), 5)
	story.Done("pages")
}

func saveTask(ctx context.Context, api *rethread.ClientWithResponses, session string) {
	saved, err := api.SaveTaskWithResponse(ctx, session, nil, rethread.TaskSave{
		TaskId:      story.TaskID,
		UserMessage: new(story.Question),
		MessageBubbles: []rethread.Bubble{{
			Id: "b1", Type: rethread.BubbleTypeAgent, Text: new(story.Remark),
			Parts: &[]any{map[string]any{"kind": "text", "text": story.Remark}},
		}},
	})
	story.Must(err)
	story.Equal("session of the task", got(saved.JSON201, saved).SessionId, session)
	res, err := api.GetTaskWithResponse(ctx, session, story.TaskID)
	story.Must(err)
	task := got(res.JSON200, res)
	story.Equal("text", *task.MessageBubbles[0].Text, story.Remark)
	story.Equal("metadata", task.TaskMetadata, nil)
	story.Done("task")
}

func artifact(ctx context.Context, api *rethread.ClientWithResponses, session string) {
	put, err := api.PutArtifactWithBodyWithResponse(
		ctx, session, story.Artifact, nil, "application/octet-stream", strings.NewReader(story.Bytes))
	story.Must(err)
	story.Equal("size", got(put.JSON201, put).Data.Size, len(story.Bytes))
	res, err := api.GetArtifactWithResponse(ctx, session, story.Artifact, nil)
	story.Must(err)
	story.Equal("status", res.StatusCode(), http.StatusOK)
	story.Equal("bytes", string(res.Body), story.Bytes)
	story.Done("artifact")
}

func fork(ctx context.Context, api *rethread.ClientWithResponses, session, second string) {
	res, err := api.ForkSessionWithResponse(ctx, session, nil, rethread.ForkRequest{
		RewindBeforeInvocationId: &second,
	})
	story.Must(err)
	forked := got(res.JSON201, res).Data
	story.Equal("source", forked.Fork.SessionId, session)
	story.Equal("boundary found", forked.Fork.BoundaryFound, true)
	read, err := api.GetThreadWithResponse(ctx, forked.Id, nil)
	story.Must(err)
	story.Equal("items of the fork", len(got(read.JSON200, read).Data.Items), 3)
	story.Done("fork")
}

func rewind(ctx context.Context, api *rethread.ClientWithResponses, session, second string) {
	res, err := api.RewindSessionWithResponse(ctx, session, nil, rethread.RewindRequest{
		RewindBeforeInvocationId: &second,
	})
	story.Must(err)
	rewound := got(res.JSON200, res).Data
	story.Equal("epoch", rewound.Session.Epoch, 1)
	story.Equal("marker", *(*rewound.Event.Content.Parts)[0].Text, "Session rewound")
	read, err := api.GetThreadWithResponse(ctx, session, nil)
	story.Must(err)
	story.Equal("items after the rewind", len(got(read.JSON200, read).Data.Items), 3)
	story.Done("rewind")
}

func update(ctx context.Context, api *rethread.ClientWithResponses, session string) {
	read, err := api.GetSessionWithResponse(ctx, session)
	story.Must(err)
	etag := read.HTTPResponse.Header.Get("ETag")
	change := rethread.SessionChange{Name: new("The same story")}
	res, err := api.UpdateSessionWithResponse(ctx, session, &rethread.UpdateSessionParams{IfMatch: &etag}, change)
	story.Must(err)
	story.Equal("name", got(res.JSON200, res).Data.Name, "The same story")
	again, err := api.UpdateSessionWithResponse(ctx, session, &rethread.UpdateSessionParams{IfMatch: &etag}, change)
	story.Must(err)
	story.Equal("problem", got(again.ApplicationproblemJSON412, again).Status, http.StatusPreconditionFailed)
	story.Done("update")
}

func remove(ctx context.Context, api *rethread.ClientWithResponses, session string) {
	unknown, err := api.GetSessionWithResponse(ctx, story.Unknown)
	story.Must(err)
	story.Equal("problem", got(unknown.ApplicationproblemJSON404, unknown).Status, http.StatusNotFound)
	res, err := api.DeleteSessionWithResponse(ctx, session)
	story.Must(err)
	story.Equal("deleted", res.StatusCode(), http.StatusNoContent)
	story.Done("delete")
}
