"""Watches a session over as many connections as that takes."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import cast

import httpx

from .._core.calls import Call, wire
from .._core.position import Position
from .._core.retries import Retries
from .._core.sse import Parser
from .._core.threads import ThreadPage, join, page_of
from ..errors import ConflictError, NoAnswerError, RethreadError
from ..messages import WatchMessage
from .transport import AsyncTransport, broken

_STALLED = 45.0  # seconds without a byte; the server sends a comment every 15 seconds
_RECONNECT = 1.0  # seconds, unless the server names another delay
_LONGEST = 30.0  # seconds between attempts
_FINAL = (400, 401, 403, 404, 422)  # statuses that no repeat changes


class AsyncWatch:
    """The messages about a session, in order, each once, beginning with its thread if there is no
    position to begin from.

    It ends with `thread.deleted`. Connections that break, stall or end are replaced, for as
    long as that takes; an answer that no repeat changes (400, 401, 403, 404, 422) is raised.
    """

    def __init__(
        self, transport: AsyncTransport, session_id: str, cursor: str | None, last_item_id: str | None
    ) -> None:
        self._transport = transport
        self._session_id = session_id
        self._query = {"cursor": cursor, "last_item_id": last_item_id}
        # Why the thread must be read before the next connection; empty if it need not be.
        self._lacks = "" if cursor or last_item_id else "begin"
        self._position = Position()
        self._reason = ""  # why the last subscription ended
        self._retries = Retries(
            longest=_LONGEST, chance=transport.retries.chance, clock=transport.retries.clock
        )
        self._parser = Parser()
        self._reloads = 0  # in a row, with nothing else in between

    async def messages(self) -> AsyncGenerator[WatchMessage, None]:
        """Yields the messages."""
        failures = 0
        while True:
            self._parser = Parser()
            try:
                async with aclosing(self._connection()) as connection:
                    async for message in connection:
                        failures = 0
                        yield message
                        if message["type"] == "thread.deleted":
                            return
                delay = self._pause()
            except RethreadError as error:
                if error.status in _FINAL:
                    error.reason = self._reason
                    raise
                failures += 1
                delay = max(error.retry_after or 0.0, self._retries.jitter(failures))
            await self._transport.sleep(delay)

    async def _connection(self) -> AsyncGenerator[WatchMessage, None]:
        """Yields the new messages of one connection."""
        if self._lacks:
            yield await self._reload({"type": "thread.reload", "reason": self._lacks})
        async with aclosing(await self._open()) as response, broken():
            async for chunk in response.aiter_bytes():
                for event in self._parser.feed(chunk):
                    message = _parse(event.data)
                    kind = message.get("type")
                    if kind == "thread.reload":
                        self._reloads += 1
                        yield await self._reload(message)
                        return
                    if kind == "unsubscribed":
                        await self._ended(message.get("reason", ""), response)
                        return  # the answer to the next connection says whether there is access
                    if self._position.take(event.id, message):
                        self._reloads, self._reason = 0, ""
                        # If the rewind restores items, a reload follows, which a later connection
                        # does not repeat.
                        if kind == "thread.rewound":
                            self._lacks = "rewound"
                        yield message

    async def _ended(self, reason: str, response: httpx.Response) -> None:
        """Notes why the server has ended a stream; an expired token is renewed, unless it was already."""
        self._reason = reason
        if reason == "token_expired":
            self._reason = ""
            used = response.request.headers["Authorization"].removeprefix("Bearer ")
            if await self._transport.tokens.get() == used:
                await self._transport.tokens.renew(used)

    async def _open(self) -> httpx.Response:
        headers = {"Accept": "text/event-stream"}
        query = self._query
        if self._position.id is not None:
            headers["Last-Event-ID"], query = self._position.id, {}
        elif self._position.cursor is not None:
            query = {"cursor": self._position.cursor}
        call = Call(
            path="/sessions/{}/watch", params=(self._session_id,), query=query, headers=headers, base="stream"
        )
        request = wire(call, {}).below(await self._transport.base("stream"))
        response = await self._transport.send(request, _STALLED)
        if response.is_success:
            return response
        raise await self._transport.failed(response)

    async def _reload(self, message: WatchMessage) -> WatchMessage:
        """Returns the message with the thread, from whose cursor the next connection continues."""
        pages: list[ThreadPage] = []
        while not pages or pages[-1]["next_cursor"]:
            query = {"limit": 1000, "cursor": pages[-1]["next_cursor"] if pages else None}
            call = Call(path="/sessions/{}/thread", params=(self._session_id,), query=query)
            try:
                pages.append(page_of(await self._transport.json(call, {})))
            except ConflictError:
                if not pages:
                    raise
                pages = []  # rewound between two pages
        thread = join(pages)
        self._position.restart(thread)
        self._lacks = ""
        return {"session_id": self._session_id, "cursor": thread["cursor"], **message, "thread": thread}

    def _pause(self) -> float:
        """Seconds before the next connection, after one that ended in order."""
        if self._reloads > 0:
            return self._retries.jitter(self._reloads - 1) if self._reloads > 1 else 0.0
        return _RECONNECT if self._parser.retry is None else self._parser.retry


def _parse(data: str) -> WatchMessage:
    try:
        message = json.loads(data)
    except ValueError:
        message = None
    if not isinstance(message, dict):
        # The next connection sends it again.
        raise NoAnswerError("The server sent a message that cannot be read.")
    return cast("WatchMessage", message)
