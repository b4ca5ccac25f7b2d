"""Tells the story with the client of openapi-python-client."""

from io import BytesIO
from typing import TypeVar

from rethread_openapi_python_client import AuthenticatedClient
from rethread_openapi_python_client.api.artifacts import get_artifact, put_artifact
from rethread_openapi_python_client.api.events import list_events
from rethread_openapi_python_client.api.forks import fork_session
from rethread_openapi_python_client.api.rewind import rewind_session
from rethread_openapi_python_client.api.runs import get_run, get_thread, start_run
from rethread_openapi_python_client.api.sessions import (
    create_session,
    delete_session,
    get_session,
    update_session,
)
from rethread_openapi_python_client.api.tasks import get_task, save_task
from rethread_openapi_python_client.models import (
    ArtifactAnswer,
    Bubble,
    BubbleType,
    Content,
    EventList,
    Fork,
    ForkRequest,
    InputEvent,
    Part,
    Problem,
    RewindAnswer,
    RewindRequest,
    Run,
    RunAnswer,
    RunRequest,
    RunStatus,
    SessionAnswer,
    SessionChange,
    SessionRequest,
    SessionStatus,
    SingleTask,
    StartedAnswer,
    StateMap,
    TaskSave,
    TaskSaved,
    ThreadAnswer,
)
from rethread_openapi_python_client.models.actions import Actions
from rethread_openapi_python_client.models.event import Event
from rethread_openapi_python_client.models.function_call import FunctionCall
from rethread_openapi_python_client.types import UNSET, File

import story

T = TypeVar("T")


def got(kind: type[T], answer: object) -> T:
    """Returns an answer that must be of this kind."""
    assert isinstance(answer, kind), answer
    return answer


def parts_of(event: Event) -> list[Part]:
    """Returns the parts of an event that must have some."""
    parts = got(Content, event.content).parts
    assert parts
    return parts


def create(api: AuthenticatedClient) -> str:
    state = StateMap()
    state["region"] = "EMEA"
    body = SessionRequest(agent="demo", name="A story", state=state)
    session = got(SessionAnswer, create_session.sync(client=api, body=body)).data
    story.equal("status", session.status, SessionStatus.IDLE)
    story.equal("fork", session.fork, None)
    story.done("create")
    return session.id


def run(api: AuthenticatedClient, session: str, text: str) -> str:
    content = Content(role="user", parts=[Part(text=text)])
    body = RunRequest(input_=[InputEvent(content=content)])
    started = got(Run, got(StartedAnswer, start_run.sync(session, client=api, body=body)).data.run)
    ended = story.poll(
        lambda: got(RunAnswer, get_run.sync(session, started.id, client=api)).data,
        lambda run: run.status != RunStatus.IN_PROGRESS,
    )
    story.equal("status of the run", ended.status, RunStatus.COMPLETED)
    story.equal("error of the run", ended.error, None)
    story.equal("the run has ended", ended.ended_time is not None, True)
    return ended.id


def thread(api: AuthenticatedClient, session: str, first: str) -> None:
    answer = got(ThreadAnswer, get_thread.sync(session, client=api))
    story.equal("next cursor", answer.meta.next_cursor, None)
    state, question, reply, *rest = answer.data.items
    story.equal("items after the first run", len(rest), 2)
    story.equal("content of the initial state", state.content, None)
    delta = got(StateMap, got(Actions, state.actions).state_delta)
    story.equal("initial state", delta["region"], "EMEA")
    story.equal("question", parts_of(question)[0].text, story.QUESTION)
    story.equal("invocation", reply.invocation_id, first)
    call = got(FunctionCall, parts_of(reply)[1].function_call)
    story.equal("function", call.name, "look_up")
    assert call.args
    story.equal("argument", call.args["query"], "weather")
    story.done("thread")


def pages(api: AuthenticatedClient, session: str) -> None:
    page = got(EventList, list_events.sync(session, client=api, limit=3))
    seqs = [event.seq for event in page.data]
    while page.meta.next_cursor:
        page = got(EventList, list_events.sync(session, client=api, limit=3, cursor=page.meta.next_cursor))
        seqs += [event.seq for event in page.data]
    story.equal("positions", len(seqs), 5)
    story.done("pages")


def task(api: AuthenticatedClient, session: str) -> None:
    bubble = Bubble(
        id="b1", type_=BubbleType.AGENT, text=story.REMARK, parts=[{"kind": "text", "text": story.REMARK}]
    )
    body = TaskSave(task_id=story.TASK_ID, user_message=story.QUESTION, message_bubbles=[bubble])
    saved = got(TaskSaved, save_task.sync(session, client=api, body=body))
    story.equal("session of the task", saved.session_id, session)
    read = got(SingleTask, get_task.sync(session, story.TASK_ID, client=api))
    story.equal("text", read.message_bubbles[0].text, story.REMARK)
    story.equal("metadata", read.task_metadata, None)
    story.done("task")


def artifact(api: AuthenticatedClient, session: str) -> None:
    body = File(payload=BytesIO(story.BYTES))
    stored = got(ArtifactAnswer, put_artifact.sync(session, story.ARTIFACT, client=api, body=body))
    story.equal("size", stored.data.size, len(story.BYTES))
    read = got(File, get_artifact.sync(session, story.ARTIFACT, client=api))
    story.equal("bytes", read.payload.read(), story.BYTES)
    story.done("artifact")


def fork(api: AuthenticatedClient, session: str, second: str) -> None:
    body = ForkRequest(rewind_before_invocation_id=second)
    forked = got(SessionAnswer, fork_session.sync(session, client=api, body=body)).data
    origin = got(Fork, forked.fork)
    story.equal("source", origin.session_id, session)
    story.equal("boundary found", origin.boundary_found, True)
    items = got(ThreadAnswer, get_thread.sync(forked.id, client=api)).data.items
    story.equal("items of the fork", len(items), 3)
    story.done("fork")


def rewind(api: AuthenticatedClient, session: str, second: str) -> None:
    body = RewindRequest(rewind_before_invocation_id=second)
    rewound = got(RewindAnswer, rewind_session.sync(session, client=api, body=body)).data
    story.equal("epoch", rewound.session.epoch, 1)
    story.equal("marker", parts_of(rewound.event)[0].text, "Session rewound")
    items = got(ThreadAnswer, get_thread.sync(session, client=api)).data.items
    story.equal("items after the rewind", len(items), 3)
    story.done("rewind")


def update(api: AuthenticatedClient, session: str) -> None:
    etag = get_session.sync_detailed(session, client=api).headers["ETag"]
    change = SessionChange(name="The same story")
    updated = got(SessionAnswer, update_session.sync(session, client=api, body=change, if_match=etag))
    story.equal("name", updated.data.name, "The same story")
    refused = got(Problem, update_session.sync(session, client=api, body=change, if_match=etag))
    story.equal("status", refused.status, 412)
    story.equal("instance", refused.instance, UNSET)
    story.done("update")


def delete(api: AuthenticatedClient, session: str) -> None:
    story.equal("status", got(Problem, get_session.sync(story.UNKNOWN, client=api)).status, 404)
    story.equal("deleted", delete_session.sync_detailed(session, client=api).status_code, 204)
    story.done("delete")


def main() -> None:
    with AuthenticatedClient(base_url=story.URL, token=story.TOKEN) as api:
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
