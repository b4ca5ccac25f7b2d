"""Both clients against the local system."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from local import LocalSystem
from rethread_client import (
    AsyncRethread,
    ConflictError,
    NotFoundError,
    PreconditionFailedError,
    Rethread,
    ValidationError,
    View,
)
from rethread_client.types import EventRequest


def said(invocation: str, n: int, author: str, text: str) -> EventRequest:
    return {
        "id": f"{invocation}.{n}",
        "invocation_id": invocation,
        "author": author,
        "content": {"role": author, "parts": [{"text": text}]},
    }


def texts(items: Any) -> list[str]:
    return [part["text"] for item in items for part in (item["content"] or {"parts": []})["parts"]]


def test_a_story_with_the_synchronous_client(system: LocalSystem, user: str) -> None:
    with Rethread(system.url, system.token(user)) as client:
        session = client.sessions.create({"app_name": "trips", "state": {"city": "Faro"}})
        name = session["id"]
        for turn in ("one", "two"):
            stored = client.events.append(
                name, {"events": [said(turn, 1, "user", turn), said(turn, 2, "model", "ok")]}
            )
            again = client.events.append(
                name, {"events": [said(turn, 1, "user", turn), said(turn, 2, "model", "ok")]}
            )
            assert [e["seq"] for e in stored] == [e["seq"] for e in again]
        with pytest.raises(ConflictError) as conflict:
            client.events.append(name, {"events": [said("one", 1, "user", "other")]})
        assert conflict.value.event_id == "one.1"
        assert texts(client.events.list(name, limit=1, after=1)) == ["one", "ok", "two", "ok"]
        assert client.state.get(name)["merged"] == {"city": "Faro"}

        version = client.artifacts.put(name, "plan.txt", "by train", invocation_id="two")
        assert client.artifacts.get(name, "plan.txt").content == b"by train"
        assert [v["version"] for v in client.artifacts.list(name)] == [version["version"]]

        fork = client.sessions.fork(name, {"rewind_before_invocation_id": "two"})
        rewound = client.sessions.rewind(name, {"rewind_before_invocation_id": "two"})
        assert rewound["session"]["epoch"] == 1
        shown = client.thread.get(name)["items"]
        assert texts(shown) == ["one", "ok"]
        assert texts(client.events.list(fork["id"])) == ["one", "ok"]
        with pytest.raises(NotFoundError):
            client.artifacts.get(name, "plan.txt")

        tags: list[str] = []
        client.sessions.get(name, on_response=lambda response: tags.append(response.headers["ETag"]))
        client.sessions.update(name, {"name": "Algarve"}, if_match=tags[0])
        with pytest.raises(PreconditionFailedError):
            client.sessions.update(name, {"name": "Porto"}, if_match=tags[0])
        with pytest.raises(ValidationError) as invalid:
            client.sessions.update(name, {"name": "x" * 100_000})
        assert [error.pointer for error in invalid.value.errors] == ["/name"]

        document = json.loads(b"".join(client.sessions.export(name)))
        client.sessions.delete(name)
        imported = client.imports.start(document)
        assert imported.session is not None
        assert imported.session["name"] == "Algarve"
        assert {s["id"] for s in client.sessions.list(limit=1)} == {name, fork["id"]}


async def test_two_watchers_see_an_agent_that_pushes_and_a_rewind(system: LocalSystem, user: str) -> None:
    async with AsyncRethread(system.url, system.token(user)) as client:
        session = await client.sessions.create({"app_name": "trips"})
        name = session["id"]
        view, changed = View(), asyncio.Event()
        seen: list[list[str]] = []  # by the thread
        wake = partial(asyncio.get_running_loop().call_soon_threadsafe, changed.set)
        from_thread = threading.Thread(target=watch_to_the_end, args=(system, user, name, seen, wake))
        from_thread.start()
        watching = asyncio.create_task(follow(client, name, view, changed))
        run = await client.runs.start(
            name,
            {"mode": "external", "input": [{"content": {"role": "user", "parts": [{"text": "hello"}]}}]},
        )
        assert run["run"] is not None
        run_id = run["run"]["id"]
        for n, text in enumerate(("good ", "day")):
            await client.runs.push_deltas(
                name,
                run_id,
                {"item_id": "answer", "author": "model", "deltas": [{"part": 0, "text": text}]},
                idempotency_key=f"delta-{n}",
            )
        done: Any = {
            "id": "answer",
            "author": "model",
            "content": {"role": "model", "parts": [{"text": "good day"}]},
        }
        await client.runs.push_events(name, run_id, {"events": [done]})
        await client.runs.update(name, run_id, {"status": "completed"})
        await until(changed, lambda: view.status == "idle" and texts(view.items) == ["hello", "good day"])
        await until(changed, lambda: seen[-1:] == [["hello", "good day"]])
        await client.sessions.rewind(name, {"rewind_before_invocation_id": run_id})
        await until(changed, lambda: view.items == [] and seen[-1] == [])
        await client.sessions.delete(name)
        await watching
        assert view.deleted
        await asyncio.to_thread(from_thread.join)


def watch_to_the_end(
    system: LocalSystem, user: str, session_id: str, seen: list[list[str]], wake: Callable[[], object]
) -> None:
    """Watches with the synchronous client, and says after each message which texts are shown."""
    view = View()
    with Rethread(system.url, system.token(user)) as client:
        for message in client.watch(session_id, cursor="0.0.0"):
            view.apply(message)
            seen.append(texts(view.items))
            wake()


async def follow(client: AsyncRethread, session_id: str, view: View, changed: asyncio.Event) -> None:
    async for message in client.watch(session_id, cursor="0.0.0"):
        view.apply(message)
        changed.set()


async def until(changed: asyncio.Event, condition: Any) -> None:
    """Waits for a condition that the running watcher fulfils."""
    async with asyncio.timeout(60):
        while not condition():
            await changed.wait()
            changed.clear()


async def test_a_client_works_in_one_event_loop_after_another(system: LocalSystem, user: str) -> None:
    client = AsyncRethread(system.url, system.token(user))

    async def use() -> str:
        session = await client.sessions.create({})
        await client.aclose()
        return session["user_id"]

    assert [await asyncio.to_thread(asyncio.run, use()) for _ in range(2)] == [user, user]
