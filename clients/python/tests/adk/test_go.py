"""Agents in Go and in Python share sessions, each with its own ADK."""

from __future__ import annotations

import base64
import json
import os
import subprocess
from collections.abc import AsyncIterator, Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from google.genai import types

from guide import APP, Chat, texts
from local import ROOT, LocalSystem
from rethread_client.adk import RethreadArtifactService, RethreadSessionService

GoSide = Callable[..., str]


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built: Path = tmp_path_factory.mktemp("goside") / "goside"
    source = "./clients/python/tests/adk/goside"
    subprocess.run(["go", "build", "-o", str(built), source], cwd=ROOT, check=True)
    return built


@pytest.fixture
def go(program: Path, system: LocalSystem, user: str) -> GoSide:
    env = {
        **os.environ,
        "RETHREAD_URL": system.url,
        "RETHREAD_TOKEN": system.token(user),
        "RETHREAD_USER": user,
    }

    def run(*args: str) -> str:
        done = subprocess.run([str(program), *args], env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return run


@pytest.fixture
async def chat(
    sessions: RethreadSessionService, artifacts: RethreadArtifactService, user: str
) -> AsyncIterator[Chat]:
    session = await sessions.create_session(app_name=APP, user_id=user, state={"currency": "EUR"})
    chat = Chat(sessions, artifacts, user, session.id)
    yield chat
    await chat.runner.close()


def pruned(value: Any) -> Any:
    """A value without null, empty and default members."""
    if isinstance(value, dict):
        members = {name: pruned(v) for name, v in value.items()}
        return {name: v for name, v in members.items() if v not in (None, {}, [], "", False)}
    if isinstance(value, list):
        return [pruned(v) for v in value]
    return value


def bytes_of(text: str) -> bytes:
    """Decodes base64 in the standard form of Go or the URL-safe form of Python."""
    return base64.urlsafe_b64decode(text.replace("+", "-").replace("/", "_"))


async def assert_both_see_the_same(chat: Chat, go: GoSide) -> None:
    """Compares the session as read by both ADKs, in the members common to both."""
    shown = json.loads(go("show", chat.session_id))
    session = await chat.session()
    assert shown["state"] == session.state
    assert len(shown["events"]) == len(session.events)
    for theirs, event in zip(shown["events"], session.events, strict=True):
        ours = event.model_dump(mode="json", by_alias=True)
        # Versions of artifacts are 1, 2, 3 … in Go, and 0, 1, 2 … in Python.
        delta = {name: v + 1 for name, v in ours["actions"].pop("artifactDelta").items()}
        assert (theirs["actions"].pop("artifactDelta", None) or {}) == delta
        assert datetime.fromisoformat(theirs["timestamp"]).timestamp() == pytest.approx(event.timestamp)
        ours, theirs = pruned(ours), pruned(theirs)
        assert ours.keys() >= {"id", "author", "invocationId", "content"}
        known = theirs.keys() & ours.keys() - {"timestamp"}
        assert {name: theirs[name] for name in known} == {name: ours[name] for name in known}
        assert (theirs.keys() ^ ours.keys()) <= {"actions", "nodeInfo"}
    names = await chat.artifacts.list_artifact_keys(
        app_name=APP, user_id=chat.user, session_id=chat.session_id
    )
    assert shown["artifacts"].keys() == set(names)
    for name, theirs in shown["artifacts"].items():
        part = await chat.artifact(name)
        assert part is not None
        if part.inline_data is not None:
            data = theirs["inlineData"]
            assert (bytes_of(data["data"]), data["mimeType"]) == (
                part.inline_data.data,
                part.inline_data.mime_type,
            )
        else:
            assert theirs == {"text": part.text}


async def test_python_reads_continues_and_rewinds_a_session_of_go(chat: Chat, go: GoSide) -> None:
    go("say", chat.session_id, "book Lisbon")
    porto = go("say", chat.session_id, "book Porto")

    await assert_both_see_the_same(chat, go)
    session = await chat.session()
    assert session.state == {"currency": "EUR", "city": "Porto", "user:last": "Porto"}
    usage = session.events[-1].usage_metadata
    assert usage is not None
    assert (usage.prompt_token_count, usage.total_token_count) == (7, 11)
    assert await chat.artifact("ticket.txt") == types.Part(text="To Porto")
    assert await chat.artifact("map.png") == types.Part.from_bytes(
        data=b"\xfb\xff\xfe", mime_type="image/png"
    )

    await chat.say("hello")
    assert chat.model.prompts[-1] == ["book Lisbon", "Done", "book Porto", "Done", "hello"]
    await assert_both_see_the_same(chat, go)

    await chat.rewind(porto)
    assert (await chat.session()).state == {"currency": "EUR", "city": "Lisbon", "user:last": "Porto"}
    assert await chat.artifact("ticket.txt") == types.Part(text="To Lisbon")
    assert await chat.artifact("map.png") is None
    await assert_both_see_the_same(chat, go)


async def test_go_reads_continues_and_rewinds_a_session_of_python(chat: Chat, go: GoSide) -> None:
    await chat.say("book Lisbon")
    porto = await chat.say("book Porto")
    await assert_both_see_the_same(chat, go)

    go("say", chat.session_id, "hello")
    session = await chat.session()
    assert texts(session.events)[-2:] == ["hello", "You said: hello"]
    await assert_both_see_the_same(chat, go)

    go("rewind", chat.session_id, porto)
    session = await chat.session()
    assert texts(session.events) == ["book Lisbon", "Done: {'ticket': 0}"]
    assert (session.state["city"], session.state["trips"]) == ("Lisbon", 1)
    assert await chat.artifact("ticket.txt") == types.Part(text="To Lisbon")
    assert await chat.artifact("map.png") is None
    await assert_both_see_the_same(chat, go)

    await chat.say("book Faro")
    go("say", chat.session_id, "and on")
    assert texts((await chat.session()).events)[-2:] == ["and on", "You said: and on"]
    await assert_both_see_the_same(chat, go)
