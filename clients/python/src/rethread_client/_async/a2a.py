"""Tasks in the form of the Agent2Agent protocol, and what its clients read first. For the protocol
itself use one of its SDKs, with an httpx client that has `auth=client.auth`.
"""

from __future__ import annotations

from typing import Any

from typing_extensions import Unpack

from .._core.calls import Call, CallOptions
from ..types import A2ATask
from .resource import AsyncResource

_TASK = "/api/tasks/{}"


class AsyncA2A(AsyncResource):
    """Tasks, agent cards and keys of A2A."""

    async def tasks(self, session_id: str, **options: Unpack[CallOptions]) -> list[A2ATask]:
        """The tasks that a session shows, oldest first."""
        call = Call(path="/api/sessions/{}/tasks", params=(session_id,), base="root")
        return await self._data(call, {**options})

    async def task(self, task_id: str, **options: Unpack[CallOptions]) -> A2ATask:
        """Reads a task."""
        return await self._data(Call(path=_TASK, params=(task_id,), base="root"), {**options})

    async def save_task(self, task: A2ATask, **options: Unpack[CallOptions]) -> A2ATask:
        """Creates or replaces a task."""
        call = Call(method="POST", path="/api/tasks", json=task, base="root")
        return await self._data(call, {**options})

    async def delete_task(self, task_id: str, **options: Unpack[CallOptions]) -> None:
        """Deletes a task."""
        call = Call(method="DELETE", path=_TASK, params=(task_id,), repeat="delete", base="root")
        await self._done(call, {**options})

    async def card(self, agent: str | None = None, **options: Unpack[CallOptions]) -> dict[str, Any]:
        """The card of an agent, by default of the default one."""
        prefix, params = ("/a2a/{}", (agent.replace("/", "~"),)) if agent else ("", ())
        call = Call(path=prefix + "/.well-known/agent-card.json", params=params, base="stream_root")
        return await self._body(call, {**options})

    async def keys(self, **options: Unpack[CallOptions]) -> dict[str, Any]:
        """The public keys that sign push notifications."""
        call = Call(path="/a2a/.well-known/jwks.json", base="stream_root")
        return await self._body(call, {**options})
