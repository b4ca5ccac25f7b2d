"""The artifact service, against the running system."""

from __future__ import annotations

from typing import Any

import pytest
from google.adk.errors.input_validation_error import InputValidationError
from google.adk.errors.session_not_found_error import SessionNotFoundError
from google.genai import types

from conftest import APP
from rethread_adk import Rethread, RethreadArtifactService, RethreadSessionService
from rethread_adk.client import path

PARTS = {
    "text": types.Part(text="Grüße\r\n"),
    "no text": types.Part(text=""),
    "bytes": types.Part.from_bytes(data=bytes(range(256)), mime_type="image/png"),
    "plain bytes": types.Part.from_bytes(data=b"x", mime_type="text/plain"),
    "with a charset": types.Part.from_bytes(data=b"x", mime_type="text/html; charset=utf-8"),
    "no bytes": types.Part.from_bytes(data=b"", mime_type="image/png"),
    "file": types.Part.from_uri(file_uri="gs://bucket/a%20b", mime_type='text/x; name="q"'),
    "file of no type": types.Part(file_data=types.FileData(file_uri="https://a.example/x")),
}


class Shelf:
    """The artifacts of one session."""

    def __init__(self, service: RethreadArtifactService, user: str, session_id: str) -> None:
        self.service, self.user, self.id = service, user, session_id
        self.of: dict[str, Any] = {"app_name": APP, "user_id": user, "session_id": session_id}

    async def save(self, name: str, part: types.Part | dict[str, Any], **options: Any) -> int:
        return await self.service.save_artifact(**self.of, filename=name, artifact=part, **options)

    async def load(self, name: str, version: int | None = None) -> types.Part | None:
        return await self.service.load_artifact(**self.of, filename=name, version=version)


@pytest.fixture
async def shelf(sessions: RethreadSessionService, artifacts: RethreadArtifactService, user: str) -> Shelf:
    session = await sessions.create_session(app_name=APP, user_id=user)
    return Shelf(artifacts, user, session.id)


@pytest.mark.parametrize("kind", PARTS)
async def test_a_part_comes_back_as_it_was_saved(shelf: Shelf, kind: str) -> None:
    assert await shelf.save("a b%26#.x", PARTS[kind]) == 0
    assert await shelf.load("a b%26#.x") == PARTS[kind]
    if PARTS[kind].text is None:
        assert await shelf.save("a b%26#.x", PARTS[kind].model_dump(by_alias=True, mode="json")) == 1
        assert await shelf.load("a b%26#.x") == PARTS[kind]


async def test_a_large_part(shelf: Shelf) -> None:
    part = types.Part.from_bytes(data=b"0123456789" * 800_000, mime_type="text/csv")
    await shelf.save("large.csv", part)
    assert await shelf.load("large.csv") == part


async def test_versions(shelf: Shelf) -> None:
    for n in range(3):
        assert await shelf.save("f", types.Part(text=str(n)), custom_metadata={"n": n} if n else None) == n

    assert [await shelf.load("f", n) for n in (None, 0, 3)] == [
        types.Part(text="2"),
        types.Part(text="0"),
        None,
    ]
    assert await shelf.service.list_versions(**shelf.of, filename="f") == [0, 1, 2]
    assert await shelf.service.list_versions(**shelf.of, filename="g") == []
    described = await shelf.service.list_artifact_versions(**shelf.of, filename="f")
    assert [(v.version, v.mime_type, v.custom_metadata) for v in described] == [
        (0, "text/plain", {}),
        (1, "text/plain", {"n": 1}),
        (2, "text/plain", {"n": 2}),
    ]
    get = shelf.service.get_artifact_version
    assert await get(**shelf.of, filename="f") == described[2]
    assert await get(**shelf.of, filename="f", version=1) == described[1]
    assert await get(**shelf.of, filename="f", version=3) is None
    assert await get(**shelf.of, filename="g") is None


async def test_a_deleted_artifact_reads_as_not_there(shelf: Shelf) -> None:
    await shelf.save("f", types.Part(text="x"))
    for _ in range(2):
        await shelf.service.delete_artifact(**shelf.of, filename="f")
    assert await shelf.load("f") is None
    assert await shelf.service.list_artifact_keys(**shelf.of) == []
    assert await shelf.service.get_artifact_version(**shelf.of, filename="f") is None


async def test_adks_mark_reads_as_not_there(shelf: Shelf) -> None:
    await shelf.save("f", types.Part.from_bytes(data=b"", mime_type="application/octet-stream"))
    assert await shelf.load("f") is None


async def test_user_artifacts_are_shared_by_the_sessions_of_an_app(
    shelf: Shelf, sessions: RethreadSessionService
) -> None:
    other = await sessions.create_session(app_name=APP, user_id=shelf.user)
    await shelf.save("user:me.txt", types.Part(text="me"))
    await shelf.save("mine.txt", types.Part(text="mine"))

    there: dict[str, Any] = {"app_name": APP, "user_id": shelf.user, "session_id": other.id}
    nowhere = {**there, "session_id": None}
    service = shelf.service
    assert await service.list_artifact_keys(**shelf.of) == ["mine.txt", "user:me.txt"]
    assert await service.list_artifact_keys(**there) == ["user:me.txt"]
    assert await service.list_artifact_keys(**nowhere) == ["user:me.txt"]
    for where in (there, nowhere):
        assert await service.load_artifact(**where, filename="user:me.txt") == types.Part(text="me")
    more = types.Part(text="more")
    assert await service.save_artifact(**nowhere, filename="user:me.txt", artifact=more) == 1
    assert await shelf.load("user:me.txt") == more
    with pytest.raises(InputValidationError, match="Session ID"):
        await service.load_artifact(**nowhere, filename="mine.txt")

    elsewhere = {**nowhere, "app_name": "another-app"}
    assert await service.list_artifact_keys(**elsewhere) == []
    assert await service.load_artifact(**elsewhere, filename="user:me.txt") is None
    assert await service.list_versions(**elsewhere, filename="user:me.txt") == []
    with pytest.raises(SessionNotFoundError):
        await service.save_artifact(**elsewhere, filename="user:me.txt", artifact=more)


async def test_references_are_followed(shelf: Shelf) -> None:
    for name in ("a b.png", "user:a b.png"):
        await shelf.save(name, PARTS["bytes"])
        await shelf.save(name, types.Part(text="newer"))
        version = await shelf.service.get_artifact_version(**shelf.of, filename=name, version=0)
        assert version is not None
        reference = types.Part(file_data=types.FileData(file_uri=version.canonical_uri))
        await shelf.save("link", reference)
        assert await shelf.load("link") == PARTS["bytes"]

    me = f"artifact://apps/{APP}/users/{shelf.user}"
    for bad in (
        "artifact://nonsense",
        f"artifact://apps/another-app/users/{shelf.user}/artifacts/x/versions/0",
        f"artifact://apps/{APP}/users/somebody-else/artifacts/x/versions/0",
        f"{me}/sessions/{shelf.id}/artifacts/nothing/versions/0",
    ):
        with pytest.raises(InputValidationError):
            await shelf.save("link", types.Part(file_data=types.FileData(file_uri=bad)))
    with pytest.raises(InputValidationError, match="metadata"):
        await shelf.save("link", reference, custom_metadata={"a": 1})


async def test_what_cannot_be_stored_is_refused(shelf: Shelf) -> None:
    for name, part, options in (
        ("f", types.Part.from_function_call(name="x", args={}), {}),
        ("f", types.Part(text="x"), {"custom_metadata": {"k": "v" * 200}}),
        ("f", types.Part.from_bytes(data=b"x", mime_type="nonsense"), {}),
        ("a/b", types.Part(text="x"), {}),
    ):
        with pytest.raises(InputValidationError):
            await shelf.save(name, part, **options)
    with pytest.raises(SessionNotFoundError):
        await shelf.service.save_artifact(
            app_name=APP,
            user_id=shelf.user,
            session_id="nothing",
            filename="f",
            artifact=types.Part(text="x"),
        )


async def test_what_others_uploaded_can_be_read(shelf: Shelf, client: Rethread) -> None:
    where = path("sessions", shelf.id, "artifacts", "upload")
    await client.request("PUT", where, shelf.user, content=b"x", content_type="text/plain;charset=UTF-8")
    assert await shelf.load("upload") == types.Part.from_bytes(
        data=b"x", mime_type="text/plain;charset=UTF-8"
    )
