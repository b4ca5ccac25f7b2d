"""ADK's artifact service over Rethread."""

from __future__ import annotations

from typing import Any

from google.adk.artifacts import artifact_util
from google.adk.artifacts.base_artifact_service import (
    ArtifactVersion,
    BaseArtifactService,
    ensure_part,
)
from google.adk.errors.input_validation_error import InputValidationError
from google.adk.errors.session_not_found_error import SessionNotFoundError
from google.genai import types

from . import parts
from .client import Rethread, path
from .errors import RethreadError
from .loading import latest_of_app

_USER = "user:"


class RethreadArtifactService(BaseArtifactService):
    """Keeps ADK's artifacts in Rethread, beside the session's events.

    Use it together with RethreadSessionService: a rewind restores artifacts by
    the versions that events name, and those must be Rethread's.

    Names have up to 128 characters and no `/`; an artifact has up to 10 MB.
    Artifacts of a user (`user:`) are reached through a session of the app; where
    no session is given, through the one that was active last.

    Args:
      client: the system to use; the caller closes it.
    """

    def __init__(self, client: Rethread) -> None:
        self._client = client

    async def save_artifact(
        self,
        *,
        app_name: str,
        user_id: str,
        filename: str,
        artifact: types.Part | dict[str, Any],
        session_id: str | None = None,
        custom_metadata: dict[str, Any] | None = None,
    ) -> int:
        """Adds a version and returns its number, the first being 0.

        Text, inline data, files elsewhere and references (`artifact://`, to a
        version of the same app and user) come back as they were saved;
        references are followed. Custom metadata may have about 100 bytes, and a
        reference has none of its own.

        Raises:
          InputValidationError: the part or the name cannot be stored.
          SessionNotFoundError: the session is not there.
        """
        part = ensure_part(artifact)
        uri = part.file_data.file_uri if part.file_data else None
        if uri and uri.startswith("artifact://"):
            if custom_metadata:
                raise InputValidationError("A reference takes no custom metadata: it is what it refers to.")
            content_type = parts.URI_LIST
            body = parts.reference(app_name, user_id, uri).encode()
        else:
            content_type, body = parts.encode(part, custom_metadata)
        session = await self._session(app_name, user_id, filename, session_id)
        if session is None:
            raise SessionNotFoundError(
                f"User {user_id} has no session of {app_name} to store {filename} with."
            )
        where = path("sessions", session, "artifacts", filename)
        try:
            answer = await self._client.request(
                "PUT", where, user_id, content=body, content_type=content_type
            )
        except RethreadError as error:
            if error.status == 404:
                raise SessionNotFoundError(f"Session {session} not found.") from error
            raise
        return int(answer.json()["data"]["version"])

    async def load_artifact(
        self,
        *,
        app_name: str,
        user_id: str,
        filename: str,
        session_id: str | None = None,
        version: int | None = None,
    ) -> types.Part | None:
        """Reads a version, the newest by default; None where it is not there."""
        session = await self._session(app_name, user_id, filename, session_id)
        if session is None:
            return None
        try:
            answer = await self._client.request(
                "GET",
                path("sessions", session, "artifacts", filename),
                user_id,
                params=None if version is None else {"version": str(version)},
            )
        except RethreadError as error:
            if error.status == 404:
                return None
            raise
        return parts.decode(answer.headers["Content-Type"], answer.content)

    async def list_artifact_keys(
        self, *, app_name: str, user_id: str, session_id: str | None = None
    ) -> list[str]:
        """The names of a session's artifacts and of the user's, or of the user's alone."""
        session = session_id or await latest_of_app(self._client, app_name, user_id)
        if session is None:
            return []
        found = await self._list(path("sessions", session, "artifacts"), user_id)
        return sorted(v["name"] for v in found if session_id or v["name"].startswith(_USER))

    async def delete_artifact(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> None:
        """Makes an artifact read as not there. Its versions stay readable by
        number, for rewinds and forks may need them."""
        session = await self._session(app_name, user_id, filename, session_id)
        if session is None:
            return
        try:
            await self._client.request("DELETE", path("sessions", session, "artifacts", filename), user_id)
        except RethreadError as error:
            if error.status != 404:
                raise

    async def list_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[int]:
        """The numbers of the versions that can be read, oldest first. Numbers
        are not given twice: where a rewind or a deletion took the artifact away,
        one is missing."""
        session = await self._session(app_name, user_id, filename, session_id)
        return [v["version"] for v in await self._versions(user_id, session, filename)]

    async def list_artifact_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[ArtifactVersion]:
        """The versions that can be read, oldest first."""
        session = await self._session(app_name, user_id, filename, session_id)
        return [
            _described(app_name, user_id, session_id, v)
            for v in await self._versions(user_id, session, filename)
        ]

    async def get_artifact_version(
        self,
        *,
        app_name: str,
        user_id: str,
        filename: str,
        session_id: str | None = None,
        version: int | None = None,
    ) -> ArtifactVersion | None:
        """Describes a version, the newest by default; None where it is not there."""
        session = await self._session(app_name, user_id, filename, session_id)
        if session is None:
            return None
        if version is None:
            newest = await self._list(path("sessions", session, "artifacts"), user_id)
            found = [v for v in newest if v["name"] == filename]
        else:
            versions = await self._versions(user_id, session, filename)
            found = [v for v in versions if v["version"] == version]
        return _described(app_name, user_id, session_id, found[0]) if found else None

    async def _session(
        self, app_name: str, user_id: str, filename: str, session_id: str | None
    ) -> str | None:
        """The session through which an artifact is reached; None where the user has none."""
        if session_id is not None:
            return session_id
        if not filename.startswith(_USER):
            raise InputValidationError("Session ID must be provided for session-scoped artifacts.")
        return await latest_of_app(self._client, app_name, user_id)

    async def _versions(self, user_id: str, session: str | None, filename: str) -> list[dict[str, Any]]:
        if session is None:
            return []
        return await self._list(path("sessions", session, "artifacts", filename, "versions"), user_id)

    async def _list(self, where: str, user_id: str) -> list[dict[str, Any]]:
        try:
            return [item async for item in self._client.pages(where, user_id)]
        except RethreadError as error:
            if error.status == 404:
                return []
            raise


def _described(
    app_name: str, user_id: str, session_id: str | None, version: dict[str, Any]
) -> ArtifactVersion:
    media = parts.MediaType.parse(version["mime_type"])
    name, number = version["name"], version["version"]
    owner = None if name.startswith(_USER) else session_id
    return ArtifactVersion(
        version=number,
        canonical_uri=artifact_util.get_artifact_uri(app_name, user_id, name, number, owner),
        custom_metadata=media.metadata or {},
        create_time=version["created_time"] / 1000,
        mime_type=media.mime_type,
    )
