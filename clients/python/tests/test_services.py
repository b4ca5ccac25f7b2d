"""A service acts for users, with one token."""

from __future__ import annotations

import httpx
import pytest

from rethread_client import AsyncRethread, Rethread
from rethread_client.adk import AdkClient


def _answer(requests: list[httpx.Request]) -> httpx.MockTransport:
    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(200, json={"data": {"id": "s"}})

    return httpx.MockTransport(answer)


def _named(requests: list[httpx.Request]) -> list[tuple[str, str | None]]:
    return [(r.headers["Authorization"], r.headers.get("Rethread-User")) for r in requests]


_WANT = [("Bearer t", None), ("Bearer t", "auth0%7C%C3%A4"), ("Bearer t", "b%2Cc"), ("Bearer t", None)]


async def test_async_client() -> None:
    requests: list[httpx.Request] = []
    async with AsyncRethread("http://api.example", "t", transport=_answer(requests)) as service:
        alice = service.with_user("auth0|ä")
        for client in (service, alice, alice.with_user("b,c"), alice.with_user(None)):
            await client.sessions.get("s")
    assert _named(requests) == _WANT


def test_client() -> None:
    requests: list[httpx.Request] = []
    with Rethread("http://api.example", "t", user="auth0|ä", transport=_answer(requests)) as alice:
        for client in (alice.with_user(None), alice, alice.with_user("b,c"), alice.with_user(None)):
            client.sessions.get("s")
        with httpx.Client(auth=alice.auth, transport=_answer(requests)) as other:
            other.get("http://api.example/a2a/x")
    assert _named(requests) == [*_WANT, ("Bearer t", "auth0%7C%C3%A4")]


@pytest.mark.parametrize("user", ["", "\ud800"])
def test_what_is_no_user(user: str) -> None:
    with Rethread("http://api.example", "t") as service, pytest.raises(ValueError, match="user"):
        service.with_user(user)


async def test_adk() -> None:
    requests: list[httpx.Request] = []
    for token in ("t", lambda: "t"):
        async with AdkClient(
            "http://api.example", service_token=token, transport=_answer(requests)
        ) as client:
            for user in ("", "auth0|ä"):
                await client.get("/sessions/s", user)
    assert _named(requests) == [*_WANT[:2], *_WANT[:2]]
    with pytest.raises(ValueError, match="one of"):
        AdkClient("http://api.example")
