"""Artifacts: files of a conversation, with versions."""

from __future__ import annotations

from typing_extensions import Unpack

from .._core.artifact import Artifact
from .._core.calls import Call, CallOptions
from ..types import ArtifactVersion
from .resource import AsyncList, AsyncResource

_ARTIFACTS = "/sessions/{}/artifacts"
_ARTIFACT = _ARTIFACTS + "/{}"


class AsyncArtifacts(AsyncResource):
    """The artifacts of sessions."""

    def list(
        self,
        session_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncList[ArtifactVersion]:
        """The newest version of each artifact."""
        return self._list(_ARTIFACTS, (session_id,), {"limit": limit, "cursor": cursor}, options)

    def versions(
        self,
        session_id: str,
        name: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncList[ArtifactVersion]:
        """The readable versions of an artifact, oldest first."""
        query = {"limit": limit, "cursor": cursor}
        return self._list(_ARTIFACT + "/versions", (session_id, name), query, options)

    async def get(
        self, session_id: str, name: str, *, version: int | None = None, **options: Unpack[CallOptions]
    ) -> Artifact:
        """The content of a version, by default the newest."""
        call = Call(path=_ARTIFACT, params=(session_id, name), query={"version": version})
        response = await self._transport.call(call, {**options})
        return Artifact(response.content, response.headers.get("Content-Type", ""))

    async def put(
        self,
        session_id: str,
        name: str,
        content: bytes | str,
        *,
        mime_type: str | None = None,
        invocation_id: str | None = None,
        **options: Unpack[CallOptions],
    ) -> ArtifactVersion:
        """Stores a version, of at most 10 MB.

        A repeat would store another one, so this is repeated only if the server has refused it;
        after a NoAnswerError, `versions` shows whether it was stored.

        Args:
          mime_type: by default `text/plain` for a string, otherwise bytes.
          invocation_id: appends an event of this invocation that names the version, so that
            rewinds include it.
        """
        text = isinstance(content, str)
        kind = mime_type or ("text/plain; charset=utf-8" if text else "application/octet-stream")
        call = Call(
            method="PUT",
            path=_ARTIFACT,
            params=(session_id, name),
            query={"invocation_id": invocation_id},
            content=content.encode() if isinstance(content, str) else content,
            headers={"Content-Type": kind},
            repeat="refused",
        )
        return await self._data(call, {**options})

    async def delete(self, session_id: str, name: str, **options: Unpack[CallOptions]) -> None:
        """Deletes an artifact."""
        call = Call(method="DELETE", path=_ARTIFACT, params=(session_id, name), repeat="delete")
        await self._done(call, {**options})
