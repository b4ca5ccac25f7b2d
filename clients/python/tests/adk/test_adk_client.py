"""Tests of retries, tokens and errors with a scripted network."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from google.adk.events.event import Event
from google.genai import types

from guide import message
from rethread_client import errors
from rethread_client.adk import (
    AdkClient,
    InvalidError,
    RethreadArtifactService,
    RethreadError,
    RethreadSessionService,
    Retries,
    UnavailableError,
)
from rethread_client.adk import errors as adk_errors

MADE = {"data": {"id": "s", "user_id": "alice", "app_name": "a", "head_seq": 0, "updated_time": 0}}
STATE = {"data": {"merged": {}}}


class Network(httpx.AsyncBaseTransport):
    """Answers from a script and records the requests."""

    def __init__(self, *script: httpx.Response | Exception) -> None:
        self.script: Iterator[httpx.Response | Exception] = iter(script)
        self.asked: list[httpx.Request] = []
        self.waits: list[float] = []
        self.tokens = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        outcome = next(self.script)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)

    def token(self, user_id: str) -> str:
        self.tokens += 1
        return f"{user_id}-{self.tokens}"

    def client(self, **options: Any) -> AdkClient:
        retries = Retries(sleep=self.sleep, chance=lambda: 1.0, **options)
        return AdkClient("https://rethread.example/", self.token, retries=retries, transport=self)

    def sessions(self, **options: Any) -> RethreadSessionService:
        return RethreadSessionService(self.client(**options))


def answer(status: int, body: Any = None, **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.Response(status, json=body, headers=named)


async def test_a_creation_is_retried_with_its_key() -> None:
    network = Network(
        httpx.ConnectError("refused"),
        answer(503),
        answer(429, Retry_After="3"),
        httpx.ReadTimeout("lost"),
        answer(201, MADE),
        answer(200, STATE),
    )
    session = await network.sessions().create_session(app_name="a", user_id="alice")

    assert session.id == "s"
    assert network.waits == [0.2, 0.4, 3.0, 1.6]
    tries = network.asked[:5]
    assert len({r.headers["Idempotency-Key"] for r in tries}) == 1
    assert len({r.content for r in tries}) == 1
    assert [r.headers["Authorization"] for r in tries] == [f"Bearer alice-{n}" for n in range(1, 6)]
    assert str(tries[0].url) == "https://rethread.example/api/v1/sessions"


async def test_a_conflict_with_retry_after_is_retried() -> None:
    network = Network(answer(409, {}, Retry_After="1"), answer(201, MADE), answer(200, STATE))
    await network.sessions().create_session(app_name="a", user_id="alice")
    assert network.waits == [1.0]


async def test_an_append_with_a_lost_response_is_stored_once() -> None:
    network = Network(
        answer(201, MADE),
        answer(200, STATE),
        httpx.ReadError("lost"),
        answer(200, {"data": [{"seq": 1}]}),
    )
    sessions = network.sessions()
    session = await sessions.create_session(app_name="a", user_id="alice")
    await sessions.append_event(session, Event(author="user", invocation_id="i", content=message("x")))

    assert len(session.events) == 1
    first, second = network.asked[2:]
    assert first.content == second.content
    assert session.events[0].id.encode() in first.content


@pytest.mark.parametrize(
    ("outcomes", "waits"),
    [
        ([httpx.ConnectError("refused")] * 3, [0.2, 0.4]),
        ([answer(503, {"message": "Service Unavailable"})] * 3, [0.2, 0.4]),
        ([answer(429, Retry_After="3600")], []),
    ],
)
async def test_it_gives_up_after_the_last_attempt(
    outcomes: list[httpx.Response | Exception], waits: list[float]
) -> None:
    network = Network(*outcomes)
    with pytest.raises(UnavailableError) as gone:
        await network.sessions(attempts=3).get_session(app_name="a", user_id="alice", session_id="s")
    assert network.waits == waits
    assert isinstance(gone.value, ConnectionError)


@pytest.mark.parametrize(
    ("given", "detail"),
    [
        (answer(500, {"detail": "Internal error."}), "500: Internal error."),
        (httpx.Response(500, text="<html>"), "500: Internal Server Error"),
        (answer(418, ["tea"]), "418: I'm a teapot"),
    ],
)
async def test_other_failures_are_not_retried(given: httpx.Response, detail: str) -> None:
    network = Network(given)
    with pytest.raises(RethreadError) as failed:
        await network.sessions().delete_session(app_name="a", user_id="alice", session_id="s")
    assert str(failed.value) == detail
    assert network.waits == []


async def test_a_session_that_changes_during_the_read_is_read_again() -> None:
    def header(seq: int) -> httpx.Response:
        moved = {**MADE["data"], "head_seq": seq, "created_time": 7, "updated_time": 5000}
        return answer(200, {"data": moved})

    def page(*texts: str) -> httpx.Response:
        events = [
            {
                "id": text,
                "seq": n,
                "status": "completed",
                "created_time": n * 1000,
                "invocation_id": "i",
                "author": "user",
                "content": {"parts": [{"text": text, "unknown": 1}]},
                "actions": {"unknown": {}},
            }
            for n, text in enumerate(texts, 1)
        ]
        return answer(200, {"data": events, "meta": {"next_cursor": None}})

    network = Network(
        header(1), page("a"), answer(200, STATE),
        header(2), answer(409, {"detail": "the cursor is older than a rewind"}), answer(200, STATE),
        header(3), page("a", "b"), answer(200, STATE),
        header(3),
    )  # fmt: skip
    session = await network.sessions().get_session(app_name="a", user_id="alice", session_id="s")
    assert session is not None
    assert [(e.id, e.timestamp) for e in session.events] == [("a", 1.0), ("b", 2.0)]
    assert session.last_update_time == 5.0


async def test_large_bodies_are_compressed() -> None:
    network = Network(answer(201, {"data": {}}))
    await network.client().create("/sessions", "alice", {"x": "y" * (2 << 20)})
    request = network.asked[0]
    assert request.headers["Content-Encoding"] == "gzip"
    assert len(request.content) < 1 << 16


async def test_a_closed_client_can_be_used_again() -> None:
    client = Network(answer(200, {"data": 1}), answer(200, {"data": 2})).client()
    assert await client.get("/x", "alice") == 1
    await client.aclose()
    await client.aclose()
    assert await client.get("/x", "alice") == 2
    await client.aclose()


async def test_a_rejected_token_is_asked_for_once_more() -> None:
    network = Network(answer(401, {"message": "Unauthorized"}), answer(200, {"data": 1}))
    assert await network.client().get("/x", "alice") == 1
    assert [r.headers["Authorization"] for r in network.asked] == ["Bearer alice-1", "Bearer alice-2"]


async def test_an_artifact_is_not_saved_twice() -> None:
    network = Network(answer(429), httpx.ReadError("lost"))
    with pytest.raises(UnavailableError):
        await RethreadArtifactService(network.client()).save_artifact(
            app_name="a", user_id="alice", session_id="s", filename="f", artifact=types.Part(text="x")
        )
    assert network.waits == [0.2]


async def test_errors_are_also_those_of_the_package() -> None:
    network = Network(answer(422, {"errors": [{"pointer": "/id", "detail": "is too long"}]}))
    with pytest.raises(errors.RethreadError) as refused:
        await network.client().create("/sessions", "alice", {})
    assert isinstance(refused.value, InvalidError)
    assert refused.value.errors == [errors.FieldError("/id", "is too long")]
    assert str(refused.value) == "422: Unprocessable Entity; /id is too long"


ERRORS = [
    kind for kind in vars(adk_errors).values() if isinstance(kind, type) and issubclass(kind, RethreadError)
]


def test_an_error_survives_pickling() -> None:
    for kind in ERRORS:
        error = kind("409: a conflict", 409, {"detail": "a conflict", "head_seq": 3})
        error.retry_after = 2.0
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is kind
        assert (str(again), vars(again), again.args) == (str(error), vars(error), error.args)
    assert len(ERRORS) == 4


async def test_a_token_that_cannot_be_sent_is_refused() -> None:
    network = Network()
    client = AdkClient("https://rethread.example", lambda _: "secret\n", transport=network)
    with pytest.raises(ValueError, match=r"^token: (?!.*secret)"):
        await client.get("/sessions/s", "alice")
    with pytest.raises(ValueError, match=r"^url: "):
        AdkClient("rethread.example", network.token)
    assert network.asked == []
