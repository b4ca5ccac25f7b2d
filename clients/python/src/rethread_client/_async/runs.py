"""Runs: executions of agents on an input."""

from __future__ import annotations

from typing_extensions import Unpack

from .._core.calls import Call, CallOptions, WriteOptions
from .._core.threads import ThreadPage, page_of
from ..types import DeltaPush, Event, OnFailed, Pushed, Run, RunChange, RunEvents, RunRequest
from .resource import AsyncResource

_RUN = "/sessions/{}/runs/{}"


class AsyncRuns(AsyncResource):
    """The runs of sessions."""

    async def start(
        self, session_id: str, request: RunRequest, **options: Unpack[WriteOptions]
    ) -> ThreadPage:
        """Appends an input and starts the run that answers it. Returns the thread with the input."""
        call = Call(method="POST", path="/sessions/{}/runs", params=(session_id,), json=request, repeat="key")
        return page_of(await self._body(call, {**options}))

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
    ) -> list[Event]:
        """Appends completed events of an external run."""
        call = Call(
            method="POST", path=_RUN + "/events", params=(session_id, run_id), json=events, repeat="key"
        )
        return await self._data(call, {**options})
