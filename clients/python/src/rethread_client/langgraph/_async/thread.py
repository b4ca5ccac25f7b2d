"""A thread: its history, kept up to date, and conditional appends to the log of its session."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import Any, cast

from ..._async.client import AsyncRethread
from ..._async.io import sleep
from ..._core.pages import Page
from ...errors import ConflictError, NotFoundError
from ..appends import Event, Events
from ..history import History
from ..ids import metadata_of, session_of
from ..puts import Pending, Put, PutWrites, concerns_one
from ..records import Checkpoint
from ..values import Codec
from .io import Lock

# How often an append is tried while others append to the same thread.
_ATTEMPTS = 30
_BATCH = 100


class AsyncThread:
    """A thread. What it reads from the log it keeps, and reads only what was added since.

    Args:
      agent: that of a session that is created.
    """

    def __init__(
        self, client: AsyncRethread, codec: Codec, events: Events, thread_id: str, agent: str
    ) -> None:
        self._client = client
        self._codec = codec
        self._events = events
        self._id = thread_id
        self._session = session_of(thread_id)
        self._agent = agent
        self._lock = Lock()
        self._history: History | None = None
        self._waiting: deque[Pending] = deque()

    @asynccontextmanager
    async def read(self) -> AsyncGenerator[History, None]:
        """Gives the current history, which is empty if there is no session."""
        async with self._lock:
            yield await self._catch_up()

    async def delete(self) -> None:
        """Deletes the session, if there is one."""
        async with self._lock:
            self._history = None
            with suppress(NotFoundError):
                await self._client.sessions.delete(self._session)

    async def put(self, put: Put) -> None:
        """Stores a checkpoint as the newest of its namespace."""
        async with self._lock:
            for attempt in count():
                history = await self._known(attempt)
                known = history.checkpoints.get((put.namespace, put.id))
                if known is not None and known.body == self._events.body(put):
                    return
                if not (put.follows(history) or await self._move(put.root(history), history)):
                    continue
                if await self._append(self._events.checkpoint(put, history), history):
                    return

    async def put_writes(self, put: PutWrites) -> None:
        """Stores pending writes. Those that come while another request runs share the next one."""
        pending = Pending(put)
        self._waiting.append(pending)
        try:
            async with self._lock:
                while not pending.done:
                    await self._flush()
        finally:
            if not pending.done:  # the call was interrupted
                with suppress(ValueError):
                    self._waiting.remove(pending)
        if pending.failure is not None:
            raise pending.failure

    async def forget(self, choose: Callable[[History], list[tuple[str, str]]]) -> None:
        """Deletes the checkpoints that a function chooses."""
        async with self._lock:
            for attempt in count():
                history = await self._known(attempt)
                keys = choose(history)
                if not keys or await self._append(self._events.forget(keys, history), history):
                    return

    async def _flush(self) -> None:
        batch = [self._waiting.popleft() for _ in range(min(_BATCH, len(self._waiting)))]
        try:
            await self._store(batch)
        finally:  # an interrupted call leaves those of others to them
            self._waiting.extendleft(pending for pending in reversed(batch) if not pending.done)

    async def _store(self, batch: Sequence[Pending]) -> None:
        failure: Exception | None = None
        try:
            for attempt in count():
                history = await self._known(attempt)
                events = [self._events.writes(pending.put, history) for pending in batch]
                if await self._append(self._events.hidden(events, history), history):
                    break
        except Exception as error:
            if len(batch) > 1 and concerns_one(error):
                for pending in batch:
                    await self._store([pending])
                return
            failure = error
        for pending in batch:
            pending.done, pending.failure = True, failure

    async def _known(self, attempt: int) -> History:
        """Returns the history for an attempt: for the first as it is known, then as it has become."""
        if attempt == _ATTEMPTS:
            raise ConflictError(409, {"detail": "The thread keeps changing: no attempt to append succeeded."})
        if attempt > 1:
            await sleep(random.random() * min(1.0, 0.02 * 2.0**attempt))  # noqa: S311
        if attempt == 0 and self._history is not None:
            return self._history
        return await self._catch_up()

    async def _append(self, events: list[Event], history: History) -> bool:
        """Appends events after those of the history; returns whether these were still the newest."""
        request: Any = {"events": events, "expected_seq": history.head}
        try:
            appended = await self._client.events.append(self._session, request)
        except NotFoundError:
            self._history = None
            await self._create()
            return False
        except ConflictError:
            return False
        for event in appended:
            history.add(cast("dict[str, Any]", event))
        return True

    async def _create(self) -> None:
        body: Any = {"id": self._session, "agent": self._agent, "metadata": metadata_of(self._id)}
        with suppress(ConflictError):  # another process has created it
            await self._client.sessions.create(body)

    async def _move(self, checkpoint: Checkpoint | None, history: History) -> bool:
        """Makes a checkpoint the newest by a rewind; returns whether it is."""
        boundary = history.boundary(checkpoint)
        if boundary is None:
            return True
        request: Any = {
            "rewind_before_invocation_id": boundary,
            "scopes": ["session"],
            "expected_seq": history.head,
        }
        try:
            await self._client.sessions.rewind(self._session, request)
        except ConflictError as error:
            if error.head_seq is None:
                raise
            return False
        history = await self._catch_up()
        tip = history.tips.get("")
        if checkpoint is None or (tip is not None and tip.id == checkpoint.id):
            return checkpoint is not None or tip is None
        events = self._events.again(checkpoint, history)
        if not await self._append_all(events, history):
            return False
        return await self._append_all(self._events.writes_again(checkpoint, history), history)

    async def _append_all(self, events: list[Event], history: History) -> bool:
        for at in range(0, len(events), _BATCH):
            if not await self._append(events[at : at + _BATCH], history):
                return False
        return True

    async def _catch_up(self) -> History:
        """Reads what was appended since; everything if the session is another one."""
        history = self._history or History(self._codec)
        while True:
            try:
                complete = await self._read_page(history)
            except NotFoundError:
                self._history = None
                return History(self._codec)
            if complete is None:
                history = History(self._codec)
            elif complete:
                self._history = history
                return history

    async def _read_page(self, history: History) -> bool | None:
        """Returns whether the history is complete; None if its last event is not in the log."""
        known = history.head > 0
        after = history.head - 1 if known else None
        page = await self._page(after)
        events = cast("list[dict[str, Any]]", page.data)
        if known:
            if not events or events[0]["id"] != history.last_id:
                return None
            events = events[1:]
            if not events and page.next_cursor is not None:  # it fills the page alone
                page = await self._page(history.head)
                events = cast("list[dict[str, Any]]", page.data)
        for event in events:
            history.add(event)
        return page.next_cursor is None

    async def _page(self, after: int | None) -> Page[Any]:
        return await self._client.events.list(self._session, view="all", limit=1000, after=after).page()
