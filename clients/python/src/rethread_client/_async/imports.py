"""Imports of exported sessions, in one part or several."""

from __future__ import annotations

from typing import Any

from typing_extensions import Unpack

from .._core.calls import Call, CallOptions, WriteOptions
from .._core.imported import Imported, imported
from .resource import AsyncResource


class AsyncImports(AsyncResource):
    """Imports of sessions."""

    async def start(
        self, document: dict[str, Any], *, id: str | None = None, **options: Unpack[WriteOptions]
    ) -> Imported:
        """Imports a document, or its first part.

        Args:
          id: the session's id; by default that of the document.
        """
        call = Call(method="POST", path="/sessions/import", query={"id": id}, json=document, repeat="key")
        return imported(await self._body(call, {**options}))

    async def part(
        self, import_id: str, part: int, document: dict[str, Any], **options: Unpack[CallOptions]
    ) -> Imported:
        """Imports the part with a number, `next_part` of the progress. Sending a part again changes
        nothing."""
        call = Call(
            method="POST", path="/sessions/import/{}/parts/{}", params=(import_id, part), json=document
        )
        return imported(await self._body(call, {**options}))

    async def abandon(self, import_id: str, **options: Unpack[CallOptions]) -> None:
        """Cancels an import and removes its parts."""
        call = Call(method="DELETE", path="/sessions/import/{}", params=(import_id,), repeat="delete")
        await self._done(call, {**options})
