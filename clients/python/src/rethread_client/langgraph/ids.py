"""Threads of LangGraph and the sessions that store them."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any, cast

from .._core.storable import escaped, text, unescaped

# The member of a session's metadata with the thread's id.
_METADATA = "langgraph"

session_of = escaped


def metadata_of(thread_id: str) -> dict[str, Any]:
    """Returns the metadata of the session that stores a thread."""
    return {_METADATA: {"thread_id": text(thread_id)}}


def thread_in(session_id: str, metadata: Mapping[str, Any]) -> str | None:
    """Returns the thread that a session with this metadata stores; None if it stores none."""
    thread_id = unescaped(session_id)
    if thread_id is None:
        ours = metadata.get(_METADATA)
        thread_id = cast("Mapping[str, Any]", ours).get("thread_id") if isinstance(ours, dict) else None
    return thread_id if isinstance(thread_id, str) and session_of(thread_id) == session_id else None


def next_version(current: Any) -> Any:
    """Returns the version of a channel after the newest one.

    LangGraph compares versions, so all of a thread are of one type. A text begins with a number of 32
    digits, and ends with a random one, by which branches differ.
    """
    if not isinstance(current, str):
        return 1 if current is None else current + 1
    number = int(current.split(".")[0]) + 1
    return f"{number:032}.{random.random():016}"  # noqa: S311
