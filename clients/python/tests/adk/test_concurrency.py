"""Tests of writers that append to one session at the same time."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

from guide import APP
from local import LocalSystem
from rethread_client.adk import AdkClient, RethreadSessionService
from rethread_client.adk.adk_errors import StaleSessionError
from test_sessions import said

WRITERS = 4
EVENTS = 25


async def append(system: LocalSystem, user: str, session_id: str, name: str, start: threading.Barrier) -> int:
    """Appends events that each count one more than the session shows. Returns how
    often the session had to be read again."""
    stale = 0
    token = system.token(user)
    async with AdkClient(system.url, lambda _: token) as client:
        sessions = RethreadSessionService(client)
        where = {"app_name": APP, "user_id": user, "session_id": session_id}
        session = await sessions.get_session(**where)
        assert session is not None
        start.wait()
        for n in range(EVENTS):
            while True:
                seen = [e.id for e in session.events]
                count = session.state.get("count", 0) + 1
                event = said(f"{name} {n}", f"{name}-{n}", state_delta={"count": count, name: n})
                try:
                    await sessions.append_event(session, event)
                    break
                except StaleSessionError:
                    stale += 1
                    assert [e.id for e in session.events] == seen, "a refused event is not in the object"
                    session = await sessions.get_session(**where)
                    assert session is not None
            assert session.state["count"] == len(session.events), "the object misses an event"
    return stale


async def test_writers_at_the_same_time_lose_nothing(
    system: LocalSystem, sessions: RethreadSessionService, user: str
) -> None:
    session = await sessions.create_session(app_name=APP, user_id=user)
    start = threading.Barrier(WRITERS)

    def write(writer: int) -> int:
        return asyncio.run(append(system, user, session.id, f"writer {writer}", start))

    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(WRITERS) as pool:
        stale = await asyncio.gather(*(loop.run_in_executor(pool, write, n) for n in range(WRITERS)))

    stored = await sessions.get_session(app_name=APP, user_id=user, session_id=session.id)
    assert stored is not None
    print(f"{len(stored.events)} events by {WRITERS} writers; stale, by writer: {stale}")
    assert len(stored.events) == WRITERS * EVENTS
    # Each event counted all events before it: none was built on an older state.
    counts = [e.actions.state_delta["count"] for e in stored.events]
    assert counts == list(range(1, WRITERS * EVENTS + 1))
    for n in range(WRITERS):
        name = f"writer {n}"
        own = [e.actions.state_delta[name] for e in stored.events if name in e.actions.state_delta]
        assert own == list(range(EVENTS)), name
    assert sum(stale) >= 10, "the writers were hardly at work at the same time"
