"""Tests of ADK's Runner with Rethread's services."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator

import pytest
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.artifacts import InMemoryArtifactService
from google.adk.sessions import InMemorySessionService
from google.genai import types

from guide import APP, Chat, message, texts
from local import LocalSystem
from rethread_client.adk import AdkClient, RethreadArtifactService, RethreadSessionService
from rethread_client.adk.client import path


@pytest.fixture
async def chat(
    sessions: RethreadSessionService, artifacts: RethreadArtifactService, user: str
) -> AsyncIterator[Chat]:
    session = await sessions.create_session(app_name=APP, user_id=user, state={"currency": "EUR"})
    chat = Chat(sessions, artifacts, user, session.id)
    yield chat
    await chat.runner.close()


async def test_a_chat_is_stored_with_state_and_artifacts(chat: Chat) -> None:
    await chat.say("hello")
    await chat.say("book Lisbon")

    session = await chat.session()
    assert texts(session.events) == ["hello", "You said: hello", "book Lisbon", "Done: {'ticket': 0}"]
    assert session.state == {"currency": "EUR", "city": "Lisbon", "trips": 1, "user:last": "Lisbon"}
    assert await chat.artifact("ticket.txt") == types.Part(text="To Lisbon")
    call = session.events[3].get_function_calls()[0]
    response = session.events[4].get_function_responses()[0]
    assert (call.id, call.args) == (response.id, {"city": "Lisbon"})


async def test_a_chat_continues_after_a_rewind(chat: Chat, client: AdkClient) -> None:
    await chat.say("book Lisbon")
    porto = await chat.say("book Porto")
    await chat.say("book Faro")

    await chat.rewind(porto)

    session = await chat.session()
    assert texts(session.events) == ["book Lisbon", "Done: {'ticket': 0}"]
    assert session.state == {"currency": "EUR", "city": "Lisbon", "trips": 1, "user:last": "Faro"}
    assert await chat.artifact("ticket.txt") == types.Part(text="To Lisbon")
    assert await chat.artifact("map.png") is None
    assert await chat.artifacts.list_artifact_keys(
        app_name=APP, user_id=chat.user, session_id=chat.session_id
    ) == ["ticket.txt"]

    await chat.say("book Braga")

    assert chat.model.prompts[-1] == ["book Lisbon", "Done: {'ticket': 0}", "book Braga"]
    session = await chat.session()
    assert session.state == {"currency": "EUR", "city": "Braga", "trips": 2, "user:last": "Braga"}
    assert await chat.artifact("ticket.txt") == types.Part(text="To Braga")

    where = path("sessions", chat.session_id, "events")
    effective = [e async for e in client.pages(where, chat.user, {"view": "effective"})]
    assert [e["id"] for e in effective[1:]] == [e.id for e in session.events]
    everything = [e async for e in client.pages(where, chat.user, {"view": "all"})]
    assert len(everything) == 1 + 4 * 4 + 1, (
        "the log keeps everything: the initial state, four turns, a marker"
    )


async def test_a_rewind_restores_the_same_as_adk_in_memory(chat: Chat) -> None:
    memory = InMemorySessionService()
    twin = Chat(memory, InMemoryArtifactService(), chat.user, chat.session_id)
    await memory.create_session(app_name=APP, user_id=chat.user, session_id=chat.session_id)

    for conversation in (chat, twin):
        first = await conversation.say("hello")
        second = await conversation.say("book Porto")
        await conversation.say("book Faro")
        await conversation.rewind(second)
        third = await conversation.say("book Lisbon")
        await conversation.say("book Sines")
        await conversation.rewind(third)
        await conversation.say("book Braga")
        await conversation.rewind(first)
        await conversation.say("book Tavira")

    ours, theirs = await chat.session(), await twin.session()
    assert texts(ours.events) == ["book Tavira", texts(ours.events)[-1]]
    kept = {k: v for k, v in ours.state.items() if k != "currency"}
    assert kept == {k: v for k, v in theirs.state.items() if v is not None}
    for name in ("ticket.txt", "map.png"):
        assert await chat.artifact(name) == await twin.artifact(name), name
    assert chat.model.prompts[-1][0] == twin.model.prompts[-1][0] == "book Tavira"
    await twin.runner.close()


async def test_the_initial_state_survives_a_rewind_to_the_beginning(chat: Chat) -> None:
    first = await chat.say("book Porto")
    await chat.rewind(first)

    session = await chat.session()
    assert session.events == []
    assert session.state == {"currency": "EUR", "user:last": "Porto"}


async def test_the_user_scope_is_restored_on_request(client: AdkClient, user: str) -> None:
    sessions = RethreadSessionService(client, rewind_scopes=("session", "user"))
    session = await sessions.create_session(app_name=APP, user_id=user, state={"user:last": "Home"})
    chat = Chat(sessions, RethreadArtifactService(client), user, session.id)

    await chat.rewind(await chat.say("book Porto"))

    assert (await chat.session()).state == {"user:last": "Home"}
    await chat.runner.close()


async def test_an_unknown_invocation_raises_adks_error(chat: Chat) -> None:
    await chat.say("hello")
    # The Runner of google-adk 1 raises a plain ValueError, of which ADK 2's error is a subclass.
    with pytest.raises(ValueError, match="Invocation ID not found: nowhere"):
        await chat.rewind("nowhere")


async def test_partial_events_are_not_stored(chat: Chat) -> None:
    await chat.say("hello", run_config=RunConfig(streaming_mode=StreamingMode.SSE))
    assert texts((await chat.session()).events) == ["hello", "You said: hello"]


# The connections of a finished loop are left to the garbage collector.
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_synchronous_runner_works_across_event_loops(system: LocalSystem, user: str) -> None:
    client = AdkClient(system.url, system.token)
    sessions = RethreadSessionService(client)
    session = asyncio.run(sessions.create_session(app_name=APP, user_id=user))
    chat = Chat(sessions, RethreadArtifactService(client), user, session.id)
    for text in ("one", "two"):
        said = list(chat.runner.run(user_id=user, session_id=session.id, new_message=message(text)))
        assert texts(said) == [f"You said: {text}"]
    assert chat.model.prompts[-1] == ["one", "You said: one", "two"]
    del client, sessions, chat
    gc.collect()
