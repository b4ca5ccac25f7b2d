"""Tests of the session service against the local system."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.errors.session_not_found_error import SessionNotFoundError
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.sessions import Session
from google.adk.sessions.base_session_service import GetSessionConfig

from guide import APP, message, texts
from local import LocalSystem
from rethread_client.adk import AdkClient, DeniedError, InvalidError, RethreadSessionService
from rethread_client.adk.adk_errors import InvocationNotFoundError, StaleSessionError
from rethread_client.adk.client import path


def said(text: str, invocation: str = "one", **actions: Any) -> Event:
    return Event(
        author="user", invocation_id=invocation, content=message(text), actions=EventActions(**actions)
    )


async def again(sessions: RethreadSessionService, session: Session, **config: Any) -> Session:
    """The session as it is stored."""
    got = await sessions.get_session(
        app_name=session.app_name,
        user_id=session.user_id,
        session_id=session.id,
        config=GetSessionConfig(**config) if config else None,
    )
    assert got is not None
    return got


async def test_a_session_survives_a_round_trip(sessions: RethreadSessionService, user: str) -> None:
    state = {"a": 1, "user:b": [None, "ü"], "app:c": {"d": True}, "temp:d": 4}
    app = f"app-of-{user}"  # app: keys are shared by all users
    session = await sessions.create_session(app_name=app, user_id=user, session_id=f" {user} ", state=state)

    del state["temp:d"]
    assert (session.id, session.state, session.events) == (user, state, [])
    assert await again(sessions, session) == session

    with pytest.raises(AlreadyExistsError):
        await sessions.create_session(app_name=app, user_id=user, session_id=session.id)


async def test_a_missing_session_is_none(sessions: RethreadSessionService, user: str) -> None:
    session = await sessions.create_session(app_name=APP, user_id=user)
    for app, name in ((APP, "nothing"), ("another-app", session.id)):
        assert await sessions.get_session(app_name=app, user_id=user, session_id=name) is None


async def test_sessions_are_listed_by_app_latest_activity_last(
    sessions: RethreadSessionService, user: str
) -> None:
    first = await sessions.create_session(app_name=APP, user_id=user, state={"a": 1})
    second = await sessions.create_session(app_name=APP, user_id=user)
    await sessions.create_session(app_name="another-app", user_id=user)
    await sessions.append_event(first, said("hello"))

    listed = (await sessions.list_sessions(app_name=APP, user_id=user)).sessions
    assert [s.id for s in listed] == [second.id, first.id]
    assert all(not s.events and not s.state for s in listed)


async def test_a_list_without_a_user_is_the_tokens_users(
    system: LocalSystem, sessions: RethreadSessionService, user: str
) -> None:
    session = await sessions.create_session(app_name=APP, user_id=user)
    await sessions.create_session(app_name="another-app", user_id=user)
    await sessions.create_session(app_name=APP, user_id=f"another-{user}")

    asked: list[str] = []

    def token(user_id: str) -> str:
        asked.append(user_id)
        return system.token(user)

    async with AdkClient(system.url, token) as client:
        listed = (await RethreadSessionService(client).list_sessions(app_name=APP)).sessions
    assert [(s.id, s.user_id) for s in listed] == [(session.id, user)]
    assert asked == [""]


async def test_a_deleted_session_is_missing(sessions: RethreadSessionService, user: str) -> None:
    session = await sessions.create_session(app_name=APP, user_id=user)
    await sessions.delete_session(app_name="another-app", user_id=user, session_id=session.id)
    assert await again(sessions, session) == session
    for _ in range(2):
        await sessions.delete_session(app_name=APP, user_id=user, session_id=session.id)

    assert await sessions.get_session(app_name=APP, user_id=user, session_id=session.id) is None
    with pytest.raises(SessionNotFoundError):
        await sessions.append_event(session, said("hello"))
    with pytest.raises(SessionNotFoundError):
        await sessions.rewind(session, "one")
    with pytest.raises(SessionNotFoundError):
        await sessions.fork(session)


async def test_events_survive_a_round_trip(sessions: RethreadSessionService, user: str) -> None:
    session = await sessions.create_session(app_name=APP, user_id=user)
    event = said("hello", state_delta={"a": [1.5, None]}, artifact_delta={"user:x": 2}, escalate=True)
    event.long_running_tool_ids = {"call-1"}
    event.custom_metadata = {"k": {"v": None}}
    await sessions.append_event(session, event)
    await sessions.append_event(session, Event(author="guide", timestamp=1.25))

    stored = (await again(sessions, session)).events
    assert stored == session.events
    assert stored[0] == event
    assert (stored[1].timestamp, stored[1].invocation_id) == (1.25, stored[1].id)


async def test_state_deltas_are_applied(sessions: RethreadSessionService, user: str) -> None:
    session = await sessions.create_session(app_name=APP, user_id=user, state={"a": 1, "b": 2})
    await sessions.append_event(
        session, said("x", state_delta={"a": None, "c": 3, "temp:t": 4, "user:" + user: "me"})
    )

    stored = {"b": 2, "c": 3, "user:" + user: "me"}
    assert session.state == {**stored, "temp:t": 4}
    assert (await again(sessions, session)).state == stored
    assert await sessions.get_user_state(app_name=APP, user_id=user) == {user: "me"}
    assert await sessions.get_user_state(app_name="another-app", user_id=user) == {}


async def test_recent_events_can_be_selected(sessions: RethreadSessionService, user: str) -> None:
    session = await sessions.create_session(app_name=APP, user_id=user, state={"a": 1})
    for n in range(5):
        event = said(str(n))
        event.timestamp = 100.0 + n
        await sessions.append_event(session, event)

    for config, want in (
        ({"num_recent_events": 2}, "34"),
        ({"num_recent_events": 0}, ""),
        ({"num_recent_events": 9}, "01234"),
        ({"after_timestamp": 102.0}, "234"),
        ({"after_timestamp": 101.0, "num_recent_events": 3}, "234"),
        ({"after_timestamp": 200.0}, ""),
    ):
        got = await again(sessions, session, **config)
        assert "".join(texts(got.events)) == want, config
        assert got.state == {"a": 1}
    part = await again(sessions, session, num_recent_events=1)
    await sessions.append_event(part, said("5"))
    assert texts((await again(sessions, session)).events) == list("012345")


async def test_history_longer_than_a_page_is_loaded(
    sessions: RethreadSessionService, client: AdkClient, user: str
) -> None:
    session = await sessions.create_session(app_name=APP, user_id=user)
    for hundred in range(11):
        batch = [
            {
                "invocation_id": "one",
                "author": "user",
                "content": {"parts": [{"text": str(hundred * 100 + n)}]},
            }
            for n in range(100)
        ]
        await client.request("POST", path("sessions", session.id, "events"), user, body={"events": batch})

    assert texts((await again(sessions, session)).events) == [str(n) for n in range(1100)]


async def test_an_event_appended_twice_is_stored_once(sessions: RethreadSessionService, user: str) -> None:
    session = await sessions.create_session(app_name=APP, user_id=user)
    event = said("hello")
    for _ in range(2):
        await sessions.append_event(session, event)
    await sessions.append_event(session, said("again"))

    assert texts(session.events) == ["hello", "again"]
    assert texts((await again(sessions, session)).events) == ["hello", "again"]


async def test_concurrent_writers_are_detected(
    system: LocalSystem, sessions: RethreadSessionService, user: str
) -> None:
    mine = await sessions.create_session(app_name=APP, user_id=user)
    async with AdkClient(system.url, system.token) as another:
        elsewhere = RethreadSessionService(another)
        theirs = await again(elsewhere, mine)
        await elsewhere.append_event(theirs, said("first"))

        with pytest.raises(StaleSessionError):
            await sessions.append_event(mine, said("second"))
        assert mine.events == []

        mine = await again(sessions, mine)
        await sessions.append_event(mine, said("second"))
        with pytest.raises(StaleSessionError):
            await elsewhere.append_event(theirs, said("third"))
        assert texts((await again(elsewhere, theirs)).events) == ["first", "second"]


async def test_a_rewind_makes_other_copies_stale(sessions: RethreadSessionService, user: str) -> None:
    session = await sessions.create_session(app_name=APP, user_id=user)
    await sessions.append_event(session, said("hello"))
    other = await again(sessions, session)
    await sessions.rewind(session, "one")
    with pytest.raises(StaleSessionError):
        await sessions.append_event(other, said("on"))
    await sessions.append_event(session, said("anew", "two"))
    assert texts((await again(sessions, session)).events) == ["anew"]


async def test_saving_a_task_makes_no_copy_stale(
    sessions: RethreadSessionService, client: AdkClient, user: str
) -> None:
    session = await sessions.create_session(app_name=APP, user_id=user)
    await sessions.append_event(session, said("hello"))
    for task in ("task-1", "task-2"):
        bubble = {"id": "m1", "type": "user", "text": "hello"}
        body = {"task_id": task, "user_message": "hello", "message_bubbles": [bubble]}
        await client.request("POST", path("sessions", session.id, "tasks"), user, body=body)
    await sessions.append_event(session, said("on"))
    await sessions.append_event(session, said("and on"))
    assert texts((await again(sessions, session)).events) == ["hello", "on", "and on"]


async def test_rewinds_can_be_undone(sessions: RethreadSessionService, user: str) -> None:
    session = await sessions.create_session(app_name=APP, user_id=user)
    await sessions.append_event(session, said("hello", "one"))
    await sessions.append_event(session, said("on", "two", state_delta={"a": 1, "temp:t": 2}))

    marker = await sessions.rewind(session, "two")
    assert (texts(session.events), session.state) == (["hello"], {"temp:t": 2})
    assert marker.actions.rewind_before_invocation_id == "two"
    assert marker.actions.state_delta == {"a": None}

    await sessions.rewind(session, marker.invocation_id)
    assert (texts(session.events), session.state) == (["hello", "on"], {"a": 1, "temp:t": 2})
    await sessions.append_event(session, said("further", "three"))
    assert texts((await again(sessions, session)).events) == ["hello", "on", "further"]
    with pytest.raises(InvocationNotFoundError):
        await sessions.rewind(session, "nowhere")


async def test_a_fork_has_the_history_of_its_source(sessions: RethreadSessionService, user: str) -> None:
    session = await sessions.create_session(app_name=APP, user_id=user, state={"a": 0})
    await sessions.append_event(session, said("hello", "one", state_delta={"a": 1}))
    await sessions.append_event(session, said("on", "two", state_delta={"a": 2}))

    fork = await sessions.fork(session, "two", name="another way")
    assert (texts(fork.events), fork.state) == (["hello"], {"a": 1})
    await sessions.append_event(fork, said("elsewhere", "three"))
    assert texts((await again(sessions, fork)).events) == ["hello", "elsewhere"]
    assert texts((await again(sessions, session)).events) == ["hello", "on"]
    assert texts((await sessions.fork(session)).events) == ["hello", "on"]
    with pytest.raises(InvocationNotFoundError):
        await sessions.fork(session, "nowhere")


async def test_a_first_event_of_the_system_is_shown(sessions: RethreadSessionService, user: str) -> None:
    session = await sessions.create_session(app_name=APP, user_id=user)
    actions = EventActions(state_delta={"user:counter": 1})
    await sessions.append_event(session, Event(author="system", actions=actions))
    assert await sessions.get_session(app_name=APP, user_id=user, session_id=session.id) == session
    assert len(session.events) == 1


async def test_a_session_was_last_updated_at_the_time_of_its_last_event(
    sessions: RethreadSessionService, user: str
) -> None:
    session = await sessions.create_session(app_name=APP, user_id=user)
    created = session.last_update_time
    later = Event(invocation_id="one", author="user", timestamp=created + 10)
    await sessions.append_event(session, later)
    assert session.last_update_time == later.timestamp
    where = {"app_name": APP, "user_id": user, "session_id": session.id}
    assert await sessions.get_session(**where) == session
    recent = await sessions.get_session(**where, config=GetSessionConfig(num_recent_events=1))
    assert recent is not None
    assert recent.last_update_time == later.timestamp

    await sessions.rewind(session, "one")
    rewound = await sessions.get_session(**where)
    assert rewound is not None
    assert created <= rewound.last_update_time < later.timestamp


async def test_sessions_of_other_users_are_denied(
    sessions: RethreadSessionService, system: LocalSystem, user: str
) -> None:
    session = await sessions.create_session(app_name=APP, user_id=user)
    with pytest.raises(DeniedError) as denied:
        await sessions.get_session(app_name=APP, user_id="somebody-else", session_id=session.id)
    assert (denied.value.status, isinstance(denied.value, PermissionError)) == (403, True)

    async with AdkClient(system.url, lambda _: "no token") as unknown:
        with pytest.raises(DeniedError, match="401"):
            await RethreadSessionService(unknown).create_session(app_name=APP, user_id=user)

    async def always_the_same(_: str) -> str:
        return system.token("somebody-else")

    async with AdkClient(system.url, always_the_same) as mistaken:
        wrong = RethreadSessionService(mistaken)
        with pytest.raises(DeniedError, match="belongs to 'somebody-else'"):
            await wrong.create_session(app_name=APP, user_id=user, session_id=f"wrong-{uuid.uuid4()}")
        assert (await wrong.list_sessions(app_name=APP, user_id="somebody-else")).sessions == []


async def test_a_violation_names_the_rule(sessions: RethreadSessionService, user: str) -> None:
    session = await sessions.create_session(app_name=APP, user_id=user)
    with pytest.raises(InvalidError, match="/events/0/author") as invalid:
        await sessions.append_event(session, Event(invocation_id="one", author=""))
    assert (invalid.value.status, invalid.value.problem["status"]) == (422, 422)
    assert session.events == []


@pytest.mark.parametrize("session_id", [".", "..", " .. ", "a/b", "x" * 129, "a\nb"])
async def test_an_id_that_cannot_be_one_is_that_of_no_session(
    sessions: RethreadSessionService, user: str, session_id: str
) -> None:
    named: dict[str, Any] = {"app_name": APP, "user_id": user, "session_id": session_id}
    with pytest.raises(InvalidError):
        await sessions.create_session(**named)
    assert await sessions.get_session(**named) is None
    assert await sessions.delete_session(**named) is None
    unknown = Session(app_name=APP, user_id=user, id=session_id)
    with pytest.raises(SessionNotFoundError):
        await sessions.append_event(unknown, said("hello"))
    with pytest.raises(SessionNotFoundError):
        await sessions.rewind(unknown, "i")
    with pytest.raises(SessionNotFoundError):
        await sessions.fork(unknown)
    assert (await sessions.list_sessions(app_name=APP, user_id=user)).sessions == []


async def test_what_json_cannot_express_is_kept(sessions: RethreadSessionService, user: str) -> None:
    session = await sessions.create_session(app_name=APP, user_id=user, state={"n": float("nan")})
    await sessions.append_event(session, said("half \ud83d", state_delta={"half": "\ud83d"}))
    stored = await again(sessions, session)
    assert texts(stored.events) == ["half \ufffd"]
    assert stored.state == {"n": "NaN", "half": "\ufffd"}


async def test_a_rewind_hides_nothing_that_its_object_lacks(
    sessions: RethreadSessionService, user: str
) -> None:
    mine = await sessions.create_session(app_name=APP, user_id=user)
    await sessions.append_event(mine, said("first"))
    await sessions.append_event(await again(sessions, mine), said("second", "two"))
    with pytest.raises(StaleSessionError):
        await sessions.rewind(mine, "one")
    back = Event(author="user", invocation_id="r", actions=EventActions(rewind_before_invocation_id="one"))
    with pytest.raises(StaleSessionError):
        await sessions.append_event(mine, back)
    mine = await again(sessions, mine)
    assert texts(mine.events) == ["first", "second"]
    await sessions.rewind(mine, "two")
    assert texts(mine.events) == ["first"]
