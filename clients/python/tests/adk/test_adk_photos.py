"""Photos as large as those of phones, in messages, in results of tools and as artifacts."""

from __future__ import annotations

import random
import uuid

import pytest
from google.adk.events.event import Event
from google.genai import types

from rethread_client.adk import RethreadArtifactService, RethreadSessionService


@pytest.mark.parametrize("size", [1_000_000, 4_000_000], ids=["1 MB", "4 MB"])
async def test_photos(
    sessions: RethreadSessionService, artifacts: RethreadArtifactService, user: str, size: int
) -> None:
    photo = types.Part.from_bytes(data=random.Random(size).randbytes(size), mime_type="image/jpeg")
    made = await sessions.create_session(app_name="trips", user_id=user)
    result = types.FunctionResponse(
        name="look",
        id="c",
        response={"result": "ok"},
        parts=[
            types.FunctionResponsePart(
                inline_data=types.FunctionResponseBlob(data=photo.inline_data.data, mime_type="image/jpeg")  # type: ignore[union-attr]
            )
        ],
    )
    for part in (photo, types.Part(function_response=result)):
        event = Event(
            author="user", invocation_id=str(uuid.uuid4()), content=types.Content(role="user", parts=[part])
        )
        await sessions.append_event(made, event)
    loaded = await sessions.get_session(app_name="trips", user_id=user, session_id=made.id)
    assert loaded is not None
    assert [event.content for event in loaded.events] == [event.content for event in made.events]
    where = {"app_name": "trips", "user_id": user, "session_id": made.id, "filename": "photo.jpg"}
    await artifacts.save_artifact(artifact=photo, **where)  # type: ignore[arg-type]
    assert await artifacts.load_artifact(**where) == photo  # type: ignore[arg-type]
