"""Threads of LangGraph and the sessions that store them."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import quote, unquote

# The longest id that Rethread accepts, in characters.
_LONGEST = 128

_HASHED = "thread%-"

# The member of a session's metadata with the thread's id.
_METADATA = "langgraph"

# What a session's id must not contain, beside control characters. `%` marks an escape.
_ESCAPED = frozenset("/?%")


def session_of(thread_id: str) -> str:
    """Returns the id of the session that stores a thread.

    It is the thread's id, with `/`, `?`, `%` and control characters escaped as in URLs. If
    that is empty, `.`, `..` or longer than 128 characters, it is `thread%-` and the SHA-256 of
    the thread's id; the session's metadata has the thread's id in any case.
    """
    escaped = "".join(quote(c, safe="") if _refused(c) else c for c in thread_id)
    if escaped in ("", ".", "..") or len(escaped) > _LONGEST:
        return _HASHED + hashlib.sha256(thread_id.encode("utf-8", "surrogatepass")).hexdigest()
    return escaped


def thread_of(session_id: str) -> str | None:
    """Returns the thread that a session stores; None if the session's id is a hash."""
    return None if session_id.startswith(_HASHED) else unquote(session_id)


def metadata_of(thread_id: str) -> dict[str, Any]:
    """Returns the metadata of the session that stores a thread."""
    return {_METADATA: {"thread_id": thread_id}}


def thread_in(session_id: str, metadata: Mapping[str, Any]) -> str | None:
    """Returns the thread that a session with this metadata stores; None if it stores none."""
    thread_id = thread_of(session_id)
    if thread_id is None:
        ours = metadata.get(_METADATA)
        thread_id = cast("Mapping[str, Any]", ours).get("thread_id") if isinstance(ours, dict) else None
    return thread_id if isinstance(thread_id, str) and session_of(thread_id) == session_id else None


def _refused(character: str) -> bool:
    return character in _ESCAPED or unicodedata.category(character) == "Cc"
