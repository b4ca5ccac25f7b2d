"""Sessions, with rewind, fork and export; and their state."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Literal

from typing_extensions import Unpack

from .._core.calls import Call, CallOptions, ChangeOptions, Repeat, WriteOptions
from ..types import (
    Branch,
    ForkRequest,
    ListedSession,
    RewindRequest,
    Rewound,
    Session,
    SessionChange,
    SessionRequest,
    SessionStatus,
    State,
)
from .resource import AsyncList, AsyncResource
from .transport import broken

_SESSION = "/sessions/{}"


class AsyncSessions(AsyncResource):
    """The user's sessions."""

    def list(
        self,
        *,
        agent: str | None = None,
        status: SessionStatus | None = None,
        q: str | None = None,
        in_: Literal["names", "messages"] | None = None,
        shared: bool | None = None,
        user_id: str | None = None,
        exact: bool | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncList[ListedSession]:
        """Sessions, newest activity first. `q` has words of the name, or with `in_="messages"` of a
        message, which is then the session's `match`; `shared` lists those of others. Only with
        `exact` do they have their `head_seq` and the time of their latest activity.
        """
        query = {"agent": agent, "status": status, "q": q, "in": in_, "shared": shared, "user_id": user_id}
        return self._list(
            "/sessions", (), {**query, "exact": exact, "limit": limit, "cursor": cursor}, options
        )

    async def create(self, session: SessionRequest | None = None, **options: Unpack[WriteOptions]) -> Session:
        """Creates a session."""
        return await self._data(
            Call(method="POST", path="/sessions", json=session or {}, repeat="key"), {**options}
        )

    async def get(self, session_id: str, **options: Unpack[CallOptions]) -> Session:
        """Reads a session."""
        return await self._data(Call(path=_SESSION, params=(session_id,)), {**options})

    async def update(
        self, session_id: str, change: SessionChange, **options: Unpack[ChangeOptions]
    ) -> Session:
        """Replaces the given members."""
        return await self._data(
            Call(method="PATCH", path=_SESSION, params=(session_id,), json=change), {**options}
        )

    async def delete(self, session_id: str, **options: Unpack[CallOptions]) -> None:
        """Deletes a session with everything in it."""
        call = Call(method="DELETE", path=_SESSION, params=(session_id,), repeat="delete")
        await self._done(call, {**options})

    async def fork(
        self, session_id: str, request: ForkRequest | None = None, **options: Unpack[WriteOptions]
    ) -> Session:
        """Creates a session that continues from an earlier point of this one, or from its end."""
        body = request or {}
        return await self._data(
            Call(
                method="POST",
                path=_SESSION + "/fork",
                params=(session_id,),
                json=body,
                repeat=_once(body.get("dry_run")),
            ),
            {**options},
        )

    async def forks(self, session_id: str, **options: Unpack[CallOptions]) -> Branch:
        """The tree of forks that a session belongs to, from its root. Reads all pages."""
        path, cursor, root = _SESSION + "/forks", None, None
        while True:
            call = Call(path=path, params=(session_id,), query={"cursor": cursor})
            page = await self._body(call, {**options})
            root = page["data"] if root is None else _joined(root, page["data"])
            cursor = page.get("meta", {}).get("next_cursor")
            if not cursor:
                return root

    async def rewind(
        self, session_id: str, request: RewindRequest, **options: Unpack[WriteOptions]
    ) -> Rewound:
        """Restores a session as it was before an invocation."""
        return await self._data(
            Call(
                method="POST",
                path=_SESSION + "/rewind",
                params=(session_id,),
                json=request,
                repeat=_once(request.get("dry_run")),
            ),
            {**options},
        )

    async def leave(self, session_id: str, **options: Unpack[CallOptions]) -> None:
        """Gives up access to a session that another user shares."""
        call = Call(method="DELETE", path=_SESSION + "/access", params=(session_id,), repeat="delete")
        await self._done(call, {**options})

    async def export(self, session_id: str, **options: Unpack[CallOptions]) -> AsyncIterator[bytes]:
        """Yields the session as one JSON document, in chunks of bytes, without a time limit. It may be
        large, and is incomplete without `"complete": true` at its end."""
        call = Call(path=_SESSION + "/export", params=(session_id,), base="stream")
        async with aclosing(await self._transport.open(call, {**options})) as response, broken():
            async for chunk in response.aiter_bytes():
                yield chunk


class AsyncStates(AsyncResource):
    """The state that results from a session's events."""

    async def get(self, session_id: str, **options: Unpack[CallOptions]) -> State:
        """Reads the state."""
        return await self._data(Call(path=_SESSION + "/state", params=(session_id,)), {**options})


def _once(dry_run: bool | None) -> Repeat:
    """A dry run changes nothing, and a key would have its answer stored."""
    return "safe" if dry_run else "key"


def _joined(root: Branch, page: Branch) -> Branch:
    """Adds the next page of a tree, which repeats the sessions that lead to its first new one."""
    into, new = root, page["children"]
    while new:
        first, last = new[0], into["children"][-1] if into["children"] else None
        if not last or (last["id"], last["created_time"]) != (first["id"], first["created_time"]):
            into["children"] += new
            break
        into["children"] += new[1:]
        into, new = last, first["children"]
    return root
