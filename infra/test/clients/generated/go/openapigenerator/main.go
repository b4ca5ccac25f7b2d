// Command openapigenerator tells the story with the Go client of openapi-generator.
package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/rethread/rethread/infra/test/clients/generated/go/openapigenerator/rethread"
	"github.com/rethread/rethread/infra/test/clients/generated/go/story"
)

// got returns the answer of a request that must succeed.
func got[T any](answer T, res *http.Response, err error) T {
	story.Must(err)
	story.Must(res.Body.Close())
	return answer
}

// refused ends the story unless the request was refused with a problem of that status.
func refused(res *http.Response, err error, status int) {
	if err == nil {
		panic("not refused")
	}
	story.Must(res.Body.Close())
	story.Equal("status", res.StatusCode, status)
}

func main() {
	config := rethread.NewConfiguration()
	config.Servers = rethread.ServerConfigurations{{URL: story.URL()}}
	api := rethread.NewAPIClient(config)
	ctx := context.WithValue(context.Background(), rethread.ContextAccessToken, story.Token())

	session := create(ctx, api)
	first := run(ctx, api, session, story.Question)
	second := run(ctx, api, session, story.Remark)
	story.Done("run")
	thread(ctx, api, session, first)
	pages(ctx, api, session)
	saveTask(ctx, api, session)
	artifact(ctx, api, session)
	fork(ctx, api, session, second)
	rewind(ctx, api, session, second)
	update(ctx, api, session)
	remove(ctx, api, session)
}

func create(ctx context.Context, api *rethread.APIClient) string {
	body := rethread.NewSessionRequest()
	body.SetAgent("demo")
	body.SetName("A story")
	body.SetState(map[string]any{"region": "EMEA"})
	session := got(api.SessionsAPI.CreateSession(ctx).SessionRequest(*body).Execute()).Data
	story.Equal("status", session.Status, rethread.SESSIONSTATUS_IDLE)
	story.Equal("fork", session.Fork.Get(), nil)
	story.Done("create")
	return session.Id
}

func run(ctx context.Context, api *rethread.APIClient, session, text string) string {
	part := rethread.NewPart()
	part.SetText(text)
	content := rethread.NewContent()
	content.SetRole("user")
	content.SetParts([]rethread.Part{*part})
	input := []rethread.InputEvent{*rethread.NewInputEvent(*content)}
	body := rethread.NewRunRequest(rethread.ArrayOfInputEventAsRunRequestInput(&input))
	id := got(api.RunsAPI.StartRun(ctx, session).RunRequest(*body).Execute()).Data.Run.Get().Id
	var ended rethread.Run
	story.Poll("the run's end", func() bool {
		ended = got(api.RunsAPI.GetRun(ctx, session, id).Execute()).Data
		return ended.Status != rethread.RUNSTATUS_IN_PROGRESS
	})
	story.Equal("status of the run", ended.Status, rethread.RUNSTATUS_COMPLETED)
	story.Equal("error of the run", ended.Error.Get(), nil)
	story.Equal("the run has ended", ended.EndedTime.Get() != nil, true)
	return id
}

func thread(ctx context.Context, api *rethread.APIClient, session, first string) {
	answer := got(api.RunsAPI.GetThread(ctx, session).Execute())
	story.Equal("next cursor", answer.Meta.NextCursor.Get(), nil)
	items := answer.Data.Items
	story.Equal("items", len(items), 5)
	story.Equal("content of the initial state", items[0].Content.Get(), nil)
	story.Equal("initial state", items[0].Actions.Get().StateDelta["region"], any("EMEA"))
	story.Equal("question", items[1].Content.Get().Parts[0].GetText(), story.Question)
	story.Equal("invocation", items[2].InvocationId, first)
	call := items[2].Content.Get().Parts[1].FunctionCall
	story.Equal("function", call.GetName(), "look_up")
	story.Equal("argument", call.Args["query"], any("weather"))
	story.Done("thread")
}

func pages(ctx context.Context, api *rethread.APIClient, session string) {
	var seqs []int64
	request := api.EventsAPI.ListEvents(ctx, session).Limit(3)
	for {
		page := got(request.Execute())
		for _, e := range page.Data {
			seqs = append(seqs, e.Seq)
		}
		next := page.Meta.NextCursor.Get()
		if next == nil {
			break
		}
		request = request.Cursor(*next)
	}
	story.Equal("positions", len(seqs), 5)
	story.Done("pages")
}

func saveTask(ctx context.Context, api *rethread.APIClient, session string) {
	bubble := rethread.NewBubble("b1", "agent")
	bubble.SetText(story.Remark)
	bubble.SetParts([]any{map[string]any{"kind": "text", "text": story.Remark}})
	body := rethread.NewTaskSave(story.TaskID, []rethread.Bubble{*bubble})
	body.SetUserMessage(story.Question)
	saved := got(api.TasksAPI.SaveTask(ctx, session).TaskSave(*body).Execute())
	story.Equal("session of the task", saved.SessionId, session)
	task := got(api.TasksAPI.GetTask(ctx, session, story.TaskID).Execute())
	story.Equal("text", task.MessageBubbles[0].GetText(), story.Remark)
	story.Equal("metadata", task.TaskMetadata.Get(), nil)
	story.Done("task")
}

func artifact(ctx context.Context, api *rethread.APIClient, session string) {
	file, err := os.CreateTemp("", "story")
	story.Must(err)
	defer os.Remove(file.Name())
	_, err = file.WriteString(story.Bytes)
	story.Must(err)
	_, err = file.Seek(0, io.SeekStart)
	story.Must(err)
	put := got(api.ArtifactsAPI.PutArtifact(ctx, session, story.Artifact).Body(file).Execute())
	story.Equal("size", put.Data.Size, int32(len(story.Bytes)))
	read := got(api.ArtifactsAPI.GetArtifact(ctx, session, story.Artifact).Execute())
	defer os.Remove(read.Name())
	bytes, err := io.ReadAll(read)
	story.Must(err)
	story.Equal("bytes", string(bytes), story.Bytes)
	story.Must(read.Close())
	story.Done("artifact")
}

func fork(ctx context.Context, api *rethread.APIClient, session, second string) {
	body := rethread.NewForkRequest()
	body.SetRewindBeforeInvocationId(second)
	forked := got(api.ForksAPI.ForkSession(ctx, session).ForkRequest(*body).Execute()).Data
	story.Equal("source", forked.Fork.Get().SessionId, session)
	story.Equal("boundary found", forked.Fork.Get().BoundaryFound, true)
	story.Equal("items of the fork", len(got(api.RunsAPI.GetThread(ctx, forked.Id).Execute()).Data.Items), 3)
	story.Done("fork")
}

func rewind(ctx context.Context, api *rethread.APIClient, session, second string) {
	body := rethread.NewRewindRequest()
	body.SetRewindBeforeInvocationId(second)
	rewound := got(api.RewindAPI.RewindSession(ctx, session).RewindRequest(*body).Execute()).Data
	story.Equal("epoch", rewound.Session.Epoch, 1)
	story.Equal("marker", rewound.Event.Content.Get().Parts[0].GetText(), "Session rewound")
	story.Equal("items after the rewind", len(got(api.RunsAPI.GetThread(ctx, session).Execute()).Data.Items), 3)
	story.Done("rewind")
}

func update(ctx context.Context, api *rethread.APIClient, session string) {
	_, res, err := api.SessionsAPI.GetSession(ctx, session).Execute()
	story.Must(err)
	etag := res.Header.Get("ETag")
	change := rethread.NewSessionChange()
	change.SetName("The same story")
	request := api.SessionsAPI.UpdateSession(ctx, session).SessionChange(*change).IfMatch(etag)
	story.Equal("name", got(request.Execute()).Data.Name, "The same story")
	_, res, err = request.Execute()
	refused(res, err, http.StatusPreconditionFailed)
	story.Done("update")
}

func remove(ctx context.Context, api *rethread.APIClient, session string) {
	_, res, err := api.SessionsAPI.GetSession(ctx, story.Unknown).Execute()
	refused(res, err, http.StatusNotFound)
	res, err = api.SessionsAPI.DeleteSession(ctx, session).Execute()
	if story.Must(err); res.StatusCode != http.StatusNoContent {
		panic(fmt.Sprintf("deletion: %s", res.Status))
	}
	story.Done("delete")
}
