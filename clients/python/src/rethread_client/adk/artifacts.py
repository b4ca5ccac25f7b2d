"""ADK's artifact service, backed by Rethread."""

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

from .._core.storable import text
from . import parts
from .client import AdkClient, path
from .errors import RethreadError, is_missing
from .loading import latest_of_app

_USER = "user:"


class RethreadArtifactService(BaseArtifactService):
    """Stores ADK's artifacts in Rethread.

    Use it together with RethreadSessionService: a rewind restores the artifact
    versions named by events, and these must be Rethread's version numbers.

    Names have at most 128 characters, no `/`, `?` or control characters, and are not `.` or `..`; an
    artifact has at most 10 MB. One with another name cannot be saved, and is a missing one otherwise.
    A user's artifacts (`user:`) are accessed through a session of the app: the
    given one, otherwise the user's most recently active one.

    Args:
      client: the connection to Rethread; the caller closes it.
    """

    def __init__(self, client: AdkClient) -> None:
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

        Text, inline data, files by URI and references (`artifact://`, to a
        version of the same app and user) survive a round trip; loading resolves
        references. Custom metadata is limited to about 100 bytes of JSON; a
        reference has none of its own.

        Raises:
          InputValidationError: the part or the name cannot be stored.
          SessionNotFoundError: the session does not exist, or none was given
            and the user has none.
        """
        filename = text(filename)
        part = ensure_part(artifact)
        uri = part.file_data.file_uri if part.file_data else None
        if uri and uri.startswith("artifact://"):
            if custom_metadata:
                raise InputValidationError("A reference cannot have custom metadata of its own.")
            content_type = parts.URI_LIST
            body = parts.reference(app_name, user_id, uri).encode()
        else:
            content_type, body = parts.encode(part, custom_metadata)
        session = await self._session(app_name, user_id, filename, session_id)
        if session is None:
            raise SessionNotFoundError(
                f"User {user_id} has no session of app {app_name} through which to store {filename}."
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
        """Returns a version, the newest by default; None if it does not exist."""
        filename = text(filename)
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
            if is_missing(error):
                return None
            raise
        return parts.decode(answer.headers["Content-Type"], answer.content)

    async def list_artifact_keys(
        self, *, app_name: str, user_id: str, session_id: str | None = None
    ) -> list[str]:
        """Returns the sorted names of the user's artifacts and, given a session, of its own."""
        session = session_id or await latest_of_app(self._client, app_name, user_id)
        if session is None:
            return []
        found = await self._list(user_id, session)
        return sorted(v["name"] for v in found if session_id or v["name"].startswith(_USER))

    async def delete_artifact(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> None:
        """Deletes an artifact; a missing one is not an error. Its versions stay
        readable by number, because rewinds and forks may need them."""
        filename = text(filename)
        session = await self._session(app_name, user_id, filename, session_id)
        if session is None:
            return
        try:
            await self._client.request("DELETE", path("sessions", session, "artifacts", filename), user_id)
        except RethreadError as error:
            if not is_missing(error):
                raise

    async def list_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[int]:
        """Returns the numbers of the readable versions, oldest first. Numbers are
        not reused: one is missing for each rewind or deletion that removed the
        artifact."""
        session = await self._session(app_name, user_id, filename, session_id)
        return [v["version"] for v in await self._versions(user_id, session, filename)]

    async def list_artifact_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[ArtifactVersion]:
        """Returns descriptions of the readable versions, oldest first."""
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
        """Returns a version's description, the newest by default; None if it does not exist."""
        filename = text(filename)
        session = await self._session(app_name, user_id, filename, session_id)
        if session is None:
            return None
        if version is None:
            newest = await self._list(user_id, session)
            found = [v for v in newest if v["name"] == filename]
        else:
            versions = await self._versions(user_id, session, filename)
            found = [v for v in versions if v["version"] == version]
        return _described(app_name, user_id, session_id, found[0]) if found else None

    async def _session(
        self, app_name: str, user_id: str, filename: str, session_id: str | None
    ) -> str | None:
        """Returns the session through which to access an artifact; None if the user has none."""
        if session_id is not None:
            return session_id
        if not filename.startswith(_USER):
            raise InputValidationError("Session ID must be provided for session-scoped artifacts.")
        return await latest_of_app(self._client, app_name, user_id)

    async def _versions(self, user_id: str, session: str | None, filename: str) -> list[dict[str, Any]]:
        if session is None:
            return []
        return await self._list(user_id, session, text(filename), "versions")

    async def _list(self, user_id: str, session: str, *of: str) -> list[dict[str, Any]]:
        try:
            where = path("sessions", session, "artifacts", *of)
            return [item async for item in self._client.pages(where, user_id)]
        except RethreadError as error:
            if is_missing(error):
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
