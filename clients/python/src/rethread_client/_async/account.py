"""Shares, and what belongs to the user: usage and the deletion of all data."""

from __future__ import annotations

from typing_extensions import Unpack

from .._core.calls import Call, CallOptions, WriteOptions
from ..types import Accepted, Erasure, Share, ShareRequest, Usage
from .resource import AsyncList, AsyncResource

_SHARES = "/sessions/{}/shares"


class AsyncShares(AsyncResource):
    """Access of other users to sessions."""

    def list(
        self,
        session_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncList[Share]:
        """The shares of a session."""
        return self._list(_SHARES, (session_id,), {"limit": limit, "cursor": cursor}, options)

    async def create(self, session_id: str, share: ShareRequest, **options: Unpack[WriteOptions]) -> Share:
        """Shares a session. The answer to the first attempt has the token of a link; a repeat has none."""
        call = Call(method="POST", path=_SHARES, params=(session_id,), json=share, repeat="key")
        return await self._data(call, {**options})

    async def revoke(self, session_id: str, share_id: str, **options: Unpack[CallOptions]) -> None:
        """Ends a share."""
        call = Call(method="DELETE", path=_SHARES + "/{}", params=(session_id, share_id), repeat="delete")
        await self._done(call, {**options})

    async def accept(self, token: str, **options: Unpack[CallOptions]) -> Accepted:
        """Accepts the token of a link. Accepting it twice changes nothing."""
        call = Call(method="POST", path="/shares/accept", json={"token": token})
        return await self._data(call, {**options})


class AsyncMe(AsyncResource):
    """What belongs to the user."""

    async def usage(self, **options: Unpack[CallOptions]) -> Usage:
        """What the user has used of each quota."""
        return await self._data(Call(path="/me/usage"), {**options})

    async def erasure(self, **options: Unpack[CallOptions]) -> Erasure:
        """The state of the newest deletion of all data."""
        return await self._data(Call(path="/me/data"), {**options})

    async def erase(self, **options: Unpack[CallOptions]) -> Erasure:
        """Deletes all data of the user. The deletion may continue after the answer."""
        return await self._data(Call(method="DELETE", path="/me/data"), {**options})
