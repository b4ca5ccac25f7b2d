"""Loads a session with a consistent header, events and state."""

# ADK's own services keep their position in this member of a session.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from google.adk.events.event import Event
from google.adk.sessions import Session
from google.adk.sessions.base_session_service import GetSessionConfig

from .client import AdkClient, path
from .errors import RethreadError, is_missing
from .events import from_json, is_shown

# How often to read a session that changes while it is read.
_ATTEMPTS = 5


async def load(
    client: AdkClient,
    app_name: str,
    user_id: str,
    session_id: str,
    config: GetSessionConfig | None = None,
) -> Session | None:
    """Returns a session of the app; None if it does not exist.

    Header, events and state take three requests, so the header is read again
    afterwards: if it has changed, the rest may have changed too, and the session
    is read again. After the last attempt the session is returned with the older
    header, so that its next append fails as stale.
    """
    left = _ATTEMPTS
    header = await header_of(client, app_name, user_id, session_id)
    while header is not None:
        left -= 1
        try:
            events, state = await asyncio.gather(
                _events(client, user_id, session_id, config or GetSessionConfig()),
                client.get(path("sessions", session_id, "state"), user_id),
            )
        except RethreadError as error:
            # Deleted, or rewound between two pages.
            if error.status not in (404, 409) or left == 0:
                raise
            header = await header_of(client, app_name, user_id, session_id)
            continue
        was, header = header, await header_of(client, app_name, user_id, session_id)
        if left == 0 or _same(was, header):
            return session_of(was, events, state["merged"])
    return None


async def latest_of_app(client: AdkClient, app_name: str, user_id: str) -> str | None:
    """Returns the id of the user's most recently active session of an app."""
    async for item in client.pages("/sessions", user_id, limit=100):
        if item["app_name"] == app_name:
            return str(item["id"])
    return None


async def header_of(client: AdkClient, app_name: str, user_id: str, session_id: str) -> dict[str, Any] | None:
    """Returns a session's header; None if the app and the user have no such session."""
    try:
        header: dict[str, Any] = await client.get(path("sessions", session_id), user_id)
    except RethreadError as error:
        if is_missing(error):
            return None
        raise
    return header if (header["app_name"], header["user_id"]) == (app_name, user_id) else None


def _same(a: dict[str, Any], b: dict[str, Any] | None) -> bool:
    return b is not None and (a["head_seq"], a["created_time"]) == (b["head_seq"], b["created_time"])


def session_of(header: dict[str, Any], found: Sequence[tuple[int, Event]], state: dict[str, Any]) -> Session:
    """Returns ADK's session, marked as up to date with the header's position of the log.

    If its last entry is an event, it was last updated at that event's time, as ADK's
    own services have it. Otherwise, such as after a rewind, it is the server's time.
    """
    updated = header["updated_time"] / 1000
    if found and found[-1][0] == header["head_seq"]:
        updated = found[-1][1].timestamp
    session = Session(
        app_name=header["app_name"],
        user_id=header["user_id"],
        id=header["id"],
        state=state,
        events=[event for _, event in found],
        last_update_time=updated,
    )
    session._storage_update_marker = str(header["head_seq"])
    return session


async def _events(
    client: AdkClient, user_id: str, session_id: str, config: GetSessionConfig
) -> list[tuple[int, Event]]:
    """Returns the events that a configuration selects, with their positions in the log,
    oldest first. Recent ones are read backwards from the end, and no more than needed."""
    wanted, since = config.num_recent_events, config.after_timestamp
    if wanted == 0:
        return []
    recent = wanted is not None or since is not None
    where = path("sessions", session_id, "events")
    query = {"view": "effective", "order": "desc" if recent else "asc"}
    limit = 1000 if wanted is None else wanted + 1  # the initial state is not shown
    found: list[tuple[int, Event]] = []
    async for raw in client.pages(where, user_id, query, limit=limit):
        if not is_shown(raw):
            continue
        event = from_json(raw)
        if since is not None and event.timestamp < since:
            break
        found.append((raw["seq"], event))
        if len(found) == wanted:
            break
    if recent:
        found.reverse()
    return found
