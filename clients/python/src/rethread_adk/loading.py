"""Reads a session whole: header, events and state of one moment."""

from __future__ import annotations

import asyncio
from typing import Any

from google.adk.events.event import Event
from google.adk.sessions import Session
from google.adk.sessions.base_session_service import GetSessionConfig

from .client import Rethread, path
from .errors import RethreadError
from .events import from_json, is_shown

# How often a session that changes while it is read is read again.
_READINGS = 5


async def load(
    client: Rethread,
    app_name: str,
    user_id: str,
    session_id: str,
    config: GetSessionConfig | None = None,
) -> Session | None:
    """A session of the app, None where there is none.

    Header, events and state are three requests, so the header is read again
    afterwards: where it moved, so may have the rest. A session that moves all
    the time is returned as of its older header, so its next append is refused
    as stale rather than made in ignorance.
    """
    left = _READINGS
    header = await _header(client, user_id, session_id)
    while header is not None and header["app_name"] == app_name and header["user_id"] == user_id:
        left -= 1
        try:
            events, state = await asyncio.gather(
                _events(client, user_id, session_id, config or GetSessionConfig()),
                client.get(path("sessions", session_id, "state"), user_id),
            )
        except RethreadError as error:
            # Deleted, or rewound while its pages were read.
            if error.status not in (404, 409) or left == 0:
                raise
            header = await _header(client, user_id, session_id)
            continue
        was, header = header, await _header(client, user_id, session_id)
        if left == 0 or _same(was, header):
            return session_of(was, events, state["merged"])
    return None


async def latest_of_app(client: Rethread, app_name: str, user_id: str) -> str | None:
    """The id of the user's session of an app that was active last."""
    async for item in client.pages("/sessions", user_id, limit=100):
        if item["app_name"] == app_name:
            return str(item["id"])
    return None


async def _header(client: Rethread, user_id: str, session_id: str) -> dict[str, Any] | None:
    try:
        header: dict[str, Any] = await client.get(path("sessions", session_id), user_id)
    except RethreadError as error:
        if error.status == 404:
            return None
        raise
    return header


def _same(a: dict[str, Any], b: dict[str, Any] | None) -> bool:
    return b is not None and (a["head_seq"], a["created_time"]) == (b["head_seq"], b["created_time"])


def session_of(header: dict[str, Any], events: list[Event], state: dict[str, Any]) -> Session:
    """ADK's session, which knows the log up to where the header says it ends."""
    session = Session(
        app_name=header["app_name"],
        user_id=header["user_id"],
        id=header["id"],
        state=state,
        events=events,
        last_update_time=header["updated_time"] / 1000,
    )
    session._storage_update_marker = str(header["head_seq"])
    return session


async def _events(client: Rethread, user_id: str, session_id: str, config: GetSessionConfig) -> list[Event]:
    """The events that a configuration asks for, oldest first. Where it asks for
    recent ones they are read from the end, and no more than needed."""
    wanted, since = config.num_recent_events, config.after_timestamp
    if wanted == 0:
        return []
    recent = wanted is not None or since is not None
    where = path("sessions", session_id, "events")
    query = {"view": "effective", "order": "desc" if recent else "asc"}
    limit = 1000 if wanted is None else wanted + 1  # the initial state is not shown
    found: list[Event] = []
    async for raw in client.pages(where, user_id, query, limit=limit):
        if not is_shown(raw):
            continue
        event = from_json(raw)
        if since is not None and event.timestamp < since:
            break
        found.append(event)
        if len(found) == wanted:
            break
    if recent:
        found.reverse()
    return found
