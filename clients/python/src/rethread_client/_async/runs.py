"""Runs: executions of agents on an input."""

from __future__ import annotations

import builtins
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from typing_extensions import Unpack

from .._core.answers import Answer, Said, request_of
from .._core.calls import Call, CallOptions, WriteOptions
from .._core.threads import StartedThread, ThreadPage, page_of, started
from ..types import DeltaPush, Event, OnFailed, Pushed, Run, RunChange, RunEvents, RunRequest, SentRequest
from .resource import AsyncList, AsyncResource
from .watching import AsyncWatch

_RUNS = "/sessions/{}/runs"
_RUN = "/sessions/{}/runs/{}"


class AsyncRuns(AsyncResource):
    """The runs of sessions."""

    async def start(
        self, session_id: str, request: RunRequest, **options: Unpack[WriteOptions]
    ) -> StartedThread:
        """Appends an input, events or a text, and starts the run that answers it. Returns the thread
        with the input, and the `run_id`."""
        call = Call(method="POST", path=_RUNS, params=(session_id,), json=request, repeat="key")
        return started(await self._body(call, {**options}))

    def list(
        self,
        session_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncList[Run]:
        """The active run and those that are over, newest first."""
        return self._list(_RUNS, (session_id,), {"limit": limit, "cursor": cursor}, options)

    def requests(
        self,
        session_id: str,
        run_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncList[SentRequest]:
        """What the agent of a run was sent, where the deployment keeps it, for the owner of the session
        and admins."""
        return self._list(
            _RUN + "/requests", (session_id, run_id), {"limit": limit, "cursor": cursor}, options
        )

    async def stream(self, session_id: str, run_id: str) -> AsyncGenerator[str, None]:
        """Yields what the agent of a run says, piece by piece, without its thoughts, until the run is
        over; the first piece is what it has said so far. Close the generator to stop before."""
        said = Said(run_id)
        async with aclosing(AsyncWatch(self._transport, session_id, None, None).messages()) as messages:
            async for message in messages:
                if piece := said.take(message):
                    yield piece
                if said.over:
                    return
                if said.left(message) and _is_over(await self.get(session_id, run_id)):
                    return

    async def wait(self, session_id: str, run_id: str) -> Run:
        """Waits until a run is over and returns it; it may have failed."""
        async with aclosing(self.stream(session_id, run_id)) as pieces:
            async for _ in pieces:
                pass
        return await self.get(session_id, run_id)

    async def ask(
        self,
        session_id: str,
        text: str,
        *,
        on_text: Callable[[str], None] | None = None,
        request: RunRequest | None = None,
        **options: Unpack[WriteOptions],
    ) -> Answer:
        """Starts a run with a text as its input, and returns its answer when it is over. `on_text` is
        called with each piece of the answer as it comes; `request` has other members of the start."""
        thread = await self.start(session_id, request_of(text, request), **options)
        said = ""
        async with aclosing(self.stream(session_id, thread["run_id"])) as pieces:
            async for piece in pieces:
                said += piece
                if on_text is not None:
                    on_text(piece)
        return Answer(said, await self.get(session_id, thread["run_id"]))

    async def get(self, session_id: str, run_id: str, **options: Unpack[CallOptions]) -> Run:
        """Reads a run."""
        return await self._data(Call(path=_RUN, params=(session_id, run_id)), {**options})

    async def update(
        self, session_id: str, run_id: str, change: RunChange, **options: Unpack[CallOptions]
    ) -> Run:
        """Keeps an external run alive, or ends it."""
        call = Call(method="PATCH", path=_RUN, params=(session_id, run_id), json=change)
        return await self._data(call, {**options})

    async def cancel(
        self,
        session_id: str,
        run_id: str,
        *,
        on_failed: OnFailed | None = None,
        **options: Unpack[CallOptions],
    ) -> ThreadPage:
        """Cancels a run; one that has ended does not change. `on_failed` is what becomes of it,
        by default what its start said."""
        json = None if on_failed is None else {"on_failed": on_failed}
        call = Call(method="POST", path=_RUN + "/cancel", params=(session_id, run_id), json=json)
        return page_of(await self._body(call, {**options}))

    async def push_deltas(
        self, session_id: str, run_id: str, push: DeltaPush, **options: Unpack[WriteOptions]
    ) -> Pushed:
        """Adds deltas to an item of an external run."""
        call = Call(
            method="POST", path=_RUN + "/deltas", params=(session_id, run_id), json=push, repeat="key"
        )
        return await self._data(call, {**options})

    async def push_events(
        self, session_id: str, run_id: str, events: RunEvents, **options: Unpack[WriteOptions]
    ) -> builtins.list[Event]:
        """Appends completed events of an external run."""
        call = Call(
            method="POST", path=_RUN + "/events", params=(session_id, run_id), json=events, repeat="key"
        )
        return await self._data(call, {**options})


def _is_over(run: Run) -> bool:
    return run["status"] not in ("queued", "in_progress")
