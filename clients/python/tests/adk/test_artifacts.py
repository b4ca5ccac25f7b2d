"""Tests of the artifact service against the local system."""

from __future__ import annotations

from typing import Any

import pytest
from google.adk.artifacts import InMemoryArtifactService
from google.adk.errors.input_validation_error import InputValidationError
from google.adk.errors.session_not_found_error import SessionNotFoundError
from google.genai import types

from guide import APP
from rethread_client.adk import AdkClient, RethreadArtifactService, RethreadSessionService
from rethread_client.adk.client import path

PARTS = {
    "text": types.Part(text="Grüße\r\n"),
    "no text": types.Part(text=""),
    "bytes": types.Part.from_bytes(data=bytes(range(256)), mime_type="image/png"),
    "plain bytes": types.Part.from_bytes(data=b"x", mime_type="text/plain"),
    "with a charset": types.Part.from_bytes(data=b"x", mime_type="text/html; charset=utf-8"),
    "no bytes": types.Part.from_bytes(data=b"", mime_type="image/png"),
    "file": types.Part.from_uri(file_uri="gs://bucket/a%20b", mime_type='text/x; name="q"'),
    "file without a type": types.Part(file_data=types.FileData(file_uri="https://a.example/x")),
}


class SessionArtifacts:
    """A session's artifacts."""

    def __init__(self, service: RethreadArtifactService, user: str, session_id: str) -> None:
        self.service, self.user, self.id = service, user, session_id
        self.of: dict[str, Any] = {"app_name": APP, "user_id": user, "session_id": session_id}

    async def save(self, name: str, part: types.Part | dict[str, Any], **options: Any) -> int:
        return await self.service.save_artifact(**self.of, filename=name, artifact=part, **options)

    async def load(self, name: str, version: int | None = None) -> types.Part | None:
        return await self.service.load_artifact(**self.of, filename=name, version=version)


@pytest.fixture
async def saved(
    sessions: RethreadSessionService, artifacts: RethreadArtifactService, user: str
) -> SessionArtifacts:
    session = await sessions.create_session(app_name=APP, user_id=user)
    return SessionArtifacts(artifacts, user, session.id)


@pytest.mark.parametrize("kind", PARTS)
async def test_a_part_survives_a_round_trip(saved: SessionArtifacts, kind: str) -> None:
    assert await saved.save("a b%26#.x", PARTS[kind]) == 0
    assert await saved.load("a b%26#.x") == PARTS[kind]
    if PARTS[kind].text is None:
        assert await saved.save("a b%26#.x", PARTS[kind].model_dump(by_alias=True, mode="json")) == 1
        assert await saved.load("a b%26#.x") == PARTS[kind]


async def test_a_large_part_can_be_saved_and_loaded(saved: SessionArtifacts) -> None:
    part = types.Part.from_bytes(data=b"0123456789" * 800_000, mime_type="text/csv")
    await saved.save("large.csv", part)
    assert await saved.load("large.csv") == part


async def test_versions_are_numbered_listed_and_described(saved: SessionArtifacts) -> None:
    for n in range(3):
        assert await saved.save("f", types.Part(text=str(n)), custom_metadata={"n": n} if n else None) == n

    assert [await saved.load("f", n) for n in (None, 0, 3)] == [
        types.Part(text="2"),
        types.Part(text="0"),
        None,
    ]
    assert await saved.service.list_versions(**saved.of, filename="f") == [0, 1, 2]
    assert await saved.service.list_versions(**saved.of, filename="g") == []
    described = await saved.service.list_artifact_versions(**saved.of, filename="f")
    assert [(v.version, v.mime_type, v.custom_metadata) for v in described] == [
        (0, "text/plain", {}),
        (1, "text/plain", {"n": 1}),
        (2, "text/plain", {"n": 2}),
    ]
    get = saved.service.get_artifact_version
    assert await get(**saved.of, filename="f") == described[2]
    assert await get(**saved.of, filename="f", version=1) == described[1]
    assert await get(**saved.of, filename="f", version=3) is None
    assert await get(**saved.of, filename="g") is None


async def test_a_deleted_artifact_is_missing(saved: SessionArtifacts) -> None:
    await saved.save("f", types.Part(text="x"))
    for _ in range(2):
        await saved.service.delete_artifact(**saved.of, filename="f")
    assert await saved.load("f") is None
    assert await saved.service.list_artifact_keys(**saved.of) == []
    assert await saved.service.get_artifact_version(**saved.of, filename="f") is None


async def test_an_empty_artifact_of_adk_is_missing(saved: SessionArtifacts) -> None:
    await saved.save("f", types.Part.from_bytes(data=b"", mime_type="application/octet-stream"))
    assert await saved.load("f") is None


async def test_user_artifacts_are_shared_by_the_sessions_of_an_app(
    saved: SessionArtifacts, sessions: RethreadSessionService
) -> None:
    other = await sessions.create_session(app_name=APP, user_id=saved.user)
    await saved.save("user:me.txt", types.Part(text="me"))
    await saved.save("mine.txt", types.Part(text="mine"))

    there: dict[str, Any] = {"app_name": APP, "user_id": saved.user, "session_id": other.id}
    nowhere = {**there, "session_id": None}
    service = saved.service
    assert await service.list_artifact_keys(**saved.of) == ["mine.txt", "user:me.txt"]
    assert await service.list_artifact_keys(**there) == ["user:me.txt"]
    assert await service.list_artifact_keys(**nowhere) == ["user:me.txt"]
    for where in (there, nowhere):
        assert await service.load_artifact(**where, filename="user:me.txt") == types.Part(text="me")
    more = types.Part(text="more")
    assert await service.save_artifact(**nowhere, filename="user:me.txt", artifact=more) == 1
    assert await saved.load("user:me.txt") == more
    with pytest.raises(InputValidationError, match="Session ID"):
        await service.load_artifact(**nowhere, filename="mine.txt")

    elsewhere = {**nowhere, "app_name": "another-app"}
    assert await service.list_artifact_keys(**elsewhere) == []
    assert await service.load_artifact(**elsewhere, filename="user:me.txt") is None
    assert await service.list_versions(**elsewhere, filename="user:me.txt") == []
    with pytest.raises(SessionNotFoundError):
        await service.save_artifact(**elsewhere, filename="user:me.txt", artifact=more)


async def test_loading_resolves_references(saved: SessionArtifacts) -> None:
    for name in ("a b.png", "user:a b.png"):
        await saved.save(name, PARTS["bytes"])
        await saved.save(name, types.Part(text="newer"))
        version = await saved.service.get_artifact_version(**saved.of, filename=name, version=0)
        assert version is not None
        reference = types.Part(file_data=types.FileData(file_uri=version.canonical_uri))
        await saved.save("link", reference)
        assert await saved.load("link") == PARTS["bytes"]

    me = f"artifact://apps/{APP}/users/{saved.user}"
    for bad in (
        "artifact://nonsense",
        f"artifact://apps/another-app/users/{saved.user}/artifacts/x/versions/0",
        f"artifact://apps/{APP}/users/somebody-else/artifacts/x/versions/0",
        f"{me}/sessions/{saved.id}/artifacts/nothing/versions/0",
    ):
        with pytest.raises(InputValidationError):
            await saved.save("link", types.Part(file_data=types.FileData(file_uri=bad)))
    with pytest.raises(InputValidationError, match="metadata"):
        await saved.save("link", reference, custom_metadata={"a": 1})


async def test_invalid_artifacts_are_rejected(saved: SessionArtifacts) -> None:
    for name, part, options in (
        ("f", types.Part.from_function_call(name="x", args={}), {}),
        ("f", types.Part(text="x"), {"custom_metadata": {"k": "v" * 200}}),
        ("f", types.Part.from_bytes(data=b"x", mime_type="nonsense"), {}),
        ("a/b", types.Part(text="x"), {}),
    ):
        with pytest.raises(InputValidationError):
            await saved.save(name, part, **options)
    with pytest.raises(SessionNotFoundError):
        await saved.service.save_artifact(
            app_name=APP,
            user_id=saved.user,
            session_id="nothing",
            filename="f",
            artifact=types.Part(text="x"),
        )


async def test_artifacts_of_other_clients_can_be_loaded(saved: SessionArtifacts, client: AdkClient) -> None:
    where = path("sessions", saved.id, "artifacts", "upload")
    await client.request("PUT", where, saved.user, content=b"x", content_type="text/plain;charset=UTF-8")
    assert await saved.load("upload") == types.Part.from_bytes(
        data=b"x", mime_type="text/plain;charset=UTF-8"
    )


NO_NAMES = ["", ".", "..", "user:", "user:..", "a/b", "../..", "x" * 129, "line\n"]


@pytest.mark.parametrize("name", NO_NAMES)
async def test_a_name_that_cannot_be_stored_is_that_of_a_missing_artifact(
    saved: SessionArtifacts, sessions: RethreadSessionService, name: str
) -> None:
    await saved.save("f", types.Part(text="x"))
    with pytest.raises(InputValidationError):
        await saved.save(name, types.Part(text="y"))
    named: dict[str, Any] = {**saved.of, "filename": name}
    in_memory = InMemoryArtifactService()
    for service in (saved.service, in_memory):
        assert await service.load_artifact(**named) is None
        assert await service.load_artifact(**named, version=0) is None
        assert await service.list_versions(**named) == []
        assert await service.list_artifact_versions(**named) == []
        assert await service.get_artifact_version(**named) is None
        assert await service.delete_artifact(**named) is None
    assert await sessions.get_session(**saved.of) is not None
    assert await saved.load("f") == types.Part(text="x")


@pytest.mark.parametrize("session_id", ["", ".", "..", "a/b", "x" * 129, "line\n"])
async def test_an_id_that_cannot_be_one_is_that_of_a_missing_session(
    saved: SessionArtifacts, session_id: str
) -> None:
    of: dict[str, Any] = {**saved.of, "session_id": session_id}
    named: dict[str, Any] = {**of, "filename": "f"}
    with pytest.raises(InputValidationError):
        await saved.service.save_artifact(**named, artifact=types.Part(text="x"))
    assert await saved.service.load_artifact(**named) is None
    assert await saved.service.list_versions(**named) == []
    assert await saved.service.delete_artifact(**named) is None
    assert await saved.service.list_artifact_keys(**of) == []


async def test_half_characters_of_names_and_texts_are_replaced(saved: SessionArtifacts) -> None:
    await saved.save("half \ud83d", types.Part(text="half \ud83d"))
    assert await saved.load("half \ud83d") == types.Part(text="half \ufffd")
    assert await saved.service.list_artifact_keys(**saved.of) == ["half \ufffd"]
    assert await saved.service.list_versions(**saved.of, filename="half \ud83d") == [0]
    assert await saved.service.get_artifact_version(**saved.of, filename="half \ud83d") is not None
    await saved.service.delete_artifact(**saved.of, filename="half \ud83d")
    assert await saved.service.list_artifact_keys(**saved.of) == []
