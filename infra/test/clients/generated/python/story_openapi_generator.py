"""Tells the story with the Python client of openapi-generator."""

from rethread_openapi_generator import (
    ApiClient,
    ApiException,
    ArtifactsApi,
    Bubble,
    Configuration,
    Content,
    EventsApi,
    ForkRequest,
    ForksApi,
    InputEvent,
    Part,
    RewindApi,
    RewindRequest,
    RunRequest,
    RunRequestInput,
    RunsApi,
    RunStatus,
    SessionChange,
    SessionRequest,
    SessionsApi,
    SessionStatus,
    TasksApi,
    TaskSave,
)

import story


def create(api: ApiClient) -> str:
    body = SessionRequest(agent="demo", name="A story", state={"region": "EMEA"})
    session = SessionsApi(api).create_session(body).data
    story.equal("status", session.status, SessionStatus.IDLE)
    story.equal("fork", session.fork, None)
    story.done("create")
    return session.id


def run(api: ApiClient, session: str, text: str) -> str:
    content = Content(role="user", parts=[Part(text=text)])
    body = RunRequest(input=RunRequestInput([InputEvent(content=content)]))
    started = RunsApi(api).start_run(session, body).data.run
    assert started is not None
    ended = story.poll(
        lambda: RunsApi(api).get_run(session, started.id).data,
        lambda run: run.status != RunStatus.IN_PROGRESS,
    )
    story.equal("status of the run", ended.status, RunStatus.COMPLETED)
    story.equal("error of the run", ended.error, None)
    story.equal("the run has ended", ended.ended_time is not None, True)
    return ended.id


def thread(api: ApiClient, session: str, first: str) -> None:
    answer = RunsApi(api).get_thread(session)
    story.equal("next cursor", answer.meta.next_cursor, None)
    state, question, reply, *rest = answer.data.items
    story.equal("items after the first run", len(rest), 2)
    story.equal("content of the initial state", state.content, None)
    assert state.actions and state.actions.state_delta
    story.equal("initial state", state.actions.state_delta["region"], "EMEA")
    assert question.content and question.content.parts
    story.equal("question", question.content.parts[0].text, story.QUESTION)
    story.equal("invocation", reply.invocation_id, first)
    assert reply.content and reply.content.parts
    call = reply.content.parts[1].function_call
    assert call and call.args
    story.equal("function", call.name, "look_up")
    story.equal("argument", call.args["query"], "weather")
    story.done("thread")


def pages(api: ApiClient, session: str) -> None:
    page = EventsApi(api).list_events(session, limit=3)
    seqs = [event.seq for event in page.data]
    while page.meta.next_cursor:
        page = EventsApi(api).list_events(session, limit=3, cursor=page.meta.next_cursor)
        seqs += [event.seq for event in page.data]
    story.equal("positions", len(seqs), 5)
    story.done("pages")


def task(api: ApiClient, session: str) -> None:
    bubble = Bubble(id="b1", type="agent", text=story.REMARK, parts=[{"kind": "text", "text": story.REMARK}])
    body = TaskSave(task_id=story.TASK_ID, user_message=story.QUESTION, message_bubbles=[bubble])
    story.equal("session of the task", TasksApi(api).save_task(session, body).session_id, session)
    saved = TasksApi(api).get_task(session, story.TASK_ID)
    story.equal("text", saved.message_bubbles[0].text, story.REMARK)
    story.equal("metadata", saved.task_metadata, None)
    story.done("task")


def artifact(api: ApiClient, session: str) -> None:
    stored = ArtifactsApi(api).put_artifact(session, story.ARTIFACT, body=story.BYTES)
    story.equal("size", stored.data.size, len(story.BYTES))
    story.equal("bytes", bytes(ArtifactsApi(api).get_artifact(session, story.ARTIFACT)), story.BYTES)
    story.done("artifact")


def fork(api: ApiClient, session: str, second: str) -> None:
    forked = (
        ForksApi(api).fork_session(session, fork_request=ForkRequest(rewind_before_invocation_id=second)).data
    )
    assert forked.fork is not None
    story.equal("source", forked.fork.session_id, session)
    story.equal("boundary found", forked.fork.boundary_found, True)
    story.equal("items of the fork", len(RunsApi(api).get_thread(forked.id).data.items), 3)
    story.done("fork")


def rewind(api: ApiClient, session: str, second: str) -> None:
    rewound = RewindApi(api).rewind_session(session, RewindRequest(rewind_before_invocation_id=second)).data
    story.equal("epoch", rewound.session.epoch, 1)
    assert rewound.event.content and rewound.event.content.parts
    story.equal("marker", rewound.event.content.parts[0].text, "Session rewound")
    story.equal("items after the rewind", len(RunsApi(api).get_thread(session).data.items), 3)
    story.done("rewind")


def update(api: ApiClient, session: str) -> None:
    headers = SessionsApi(api).get_session_with_http_info(session).headers or {}
    etag = next(value for name, value in headers.items() if name.lower() == "etag")
    change = SessionChange(name="The same story")
    updated = SessionsApi(api).update_session(session, change, if_match=etag)
    story.equal("name", updated.data.name, "The same story")
    try:
        SessionsApi(api).update_session(session, change, if_match=etag)
        raise AssertionError("the second change was not refused")
    except ApiException as refused:
        story.equal("status", refused.status, 412)
    story.done("update")


def delete(api: ApiClient, session: str) -> None:
    try:
        SessionsApi(api).get_session(story.UNKNOWN)
        raise AssertionError("an unknown session was found")
    except ApiException as refused:
        story.equal("status", refused.status, 404)
    story.equal("deleted", SessionsApi(api).delete_session_with_http_info(session).status_code, 204)
    story.done("delete")


def main() -> None:
    with ApiClient(Configuration(host=story.URL, access_token=story.TOKEN)) as api:
        session = create(api)
        first = run(api, session, story.QUESTION)
        second = run(api, session, story.REMARK)
        story.done("run")
        thread(api, session, first)
        pages(api, session)
        task(api, session)
        artifact(api, session)
        fork(api, session, second)
        rewind(api, session, second)
        update(api, session)
        delete(api, session)


if __name__ == "__main__":
    main()
