"""A session's log, and the thread, which is what the session shows."""

from __future__ import annotations

from typing import Literal

from typing_extensions import Unpack

from .._core.calls import Call, CallOptions, WriteOptions
from .._core.threads import ThreadPage, page_of
from ..types import AppendRequest, Event
from .invocation import AsyncInvocation
from .resource import AsyncList, AsyncResource

_EVENTS = "/sessions/{}/events"


class AsyncEvents(AsyncResource):
    """The events of sessions."""

    def list(
        self,
        session_id: str,
        *,
        view: Literal["effective", "all"] | None = None,
        order: Literal["asc", "desc"] | None = None,
        after: int | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncList[Event]:
        """A session's events, by default those it shows, oldest first."""
        query = {"view": view, "order": order, "after": after, "limit": limit, "cursor": cursor}
        return self._list(_EVENTS, (session_id,), query, options)

    async def append(
        self, session_id: str, request: AppendRequest, **options: Unpack[WriteOptions]
    ) -> list[Event]:
        """Appends 1 to 100 events, all or none.

        Events that all have an `id` are recognised by it when they are sent again. Otherwise an
        idempotency key is sent, which costs two more writes. `invocation` makes ids that cost the
        least.
        """
        named = all(event.get("id") for event in request["events"]) and "idempotency_key" not in options
        call = Call(
            method="POST",
            path=_EVENTS,
            params=(session_id,),
            json=request,
            repeat="safe" if named else "key",
        )
        return await self._data(call, {**options})

    def invocation(self, session_id: str, invocation_id: str | None = None) -> AsyncInvocation:
        """The writer of an invocation, by default a new one."""
        return AsyncInvocation(self.append, session_id, invocation_id)


class AsyncThreads(AsyncResource):
    """The threads of sessions."""

    async def get(
        self,
        session_id: str,
        *,
        order: Literal["asc", "desc"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[CallOptions],
    ) -> ThreadPage:
        """A page of a session's thread, by default the oldest items."""
        query = {"order": order, "limit": limit, "cursor": cursor}
        call = Call(path="/sessions/{}/thread", params=(session_id,), query=query)
        return page_of(await self._body(call, {**options}))
