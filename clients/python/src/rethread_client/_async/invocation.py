"""The events of one invocation."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Protocol

from typing_extensions import Unpack

from .._core.calls import WriteOptions
from .._core.invocations import InvocationEvent, numbered
from ..types import AppendRequest, Event
from . import io


class _Append(Protocol):
    async def __call__(
        self, session_id: str, request: AppendRequest, **options: Unpack[WriteOptions]
    ) -> list[Event]: ...


class AsyncInvocation:
    """The writer of one invocation of a session.

    It gives events the ids `<invocation id>.1`, `<invocation id>.2` …, by which the server
    recognises events that are sent again: nothing is stored twice, also if the program starts
    again and appends the same events from the beginning. Of all appends that are safe to repeat
    these cost the least. Appends at the same time are sent one after another.
    """

    def __init__(self, append: _Append, session_id: str, invocation_id: str | None) -> None:
        self.id: str = invocation_id or str(uuid.uuid4())
        self._append = append
        self._session_id = session_id
        self._next = 1  # number of the next event
        self._lock = io.Lock()

    async def append(self, events: Sequence[InvocationEvent], **options: Unpack[WriteOptions]) -> list[Event]:
        """Appends 1 to 100 events, all or none, which have neither an `id` nor an `invocation_id`.

        After an error, append the same events again: their numbers stay the same. Other events
        raise a `ConflictError` if the first ones were stored.
        """
        async with self._lock:
            request: AppendRequest = {"events": numbered(events, self.id, self._next)}
            stored = await self._append(self._session_id, request, **options)
            self._next += len(events)
            return stored
