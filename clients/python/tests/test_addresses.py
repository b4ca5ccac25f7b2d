"""A client needs one address: the deployment names that of streams when it is needed."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from networks import URL, Answer, Caller, Network, data, events, json
from rethread_client import AsyncRethread, ForbiddenError, Rethread, Retries

both = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])

STREAMS = "https://streams.example/live"
NAMED = data({"stream_url": STREAMS})
DELETED = events('data: {"type": "thread.deleted", "cursor": "0.1.0"}\n\n')


class Slow(Network):
    """A network on whose answers others wait."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await asyncio.sleep(0)
        return await super().handle_async_request(request)


def asked(network: Network) -> list[str]:
    return [str(request.url) for request in network.asked]


@both
async def test_calls_ask_for_no_address(is_async: bool) -> None:
    network = Network(data({}))
    await Caller(network, is_async, stream_url=None)(lambda c: c.sessions.get("s"))
    assert asked(network) == [URL + "/api/v1/sessions/s"]


@both
async def test_streams_find_their_address_with_one_request_without_a_token(is_async: bool) -> None:
    network = Network(NAMED, json(200, {}))
    caller = Caller(network, is_async, stream_url=None)
    await caller(lambda c: c.a2a.card("demo"))
    await caller(lambda c: c.with_token("other").a2a.keys())
    assert asked(network) == [
        URL + "/api/v1",
        STREAMS + "/a2a/demo/.well-known/agent-card.json",
        STREAMS + "/a2a/.well-known/jwks.json",
    ]
    assert network.tokens == ["", "token", "other"]


async def test_calls_at_the_same_time_share_the_request() -> None:
    network = Slow(NAMED, json(200, {}))
    client = AsyncRethread(URL, "token", transport=network)
    await asyncio.gather(*(client.a2a.card(name) for name in "abc"))
    assert asked(network).count(URL + "/api/v1") == 1
    assert len(network.asked) == 4


@both
async def test_watching_finds_its_address(is_async: bool) -> None:
    network = Network(NAMED, DELETED)
    await Caller(network, is_async, stream_url=None)(lambda c: c.watch("s", cursor="0.1.0"))
    assert asked(network) == [URL + "/api/v1", STREAMS + "/api/v1/sessions/s/watch?cursor=0.1.0"]


def unnamed() -> pytest.RaisesExc[ValueError]:
    return pytest.raises(ValueError, match=r"/api/v1 does not name .*: pass stream_url")


@both
@pytest.mark.parametrize(
    "answer",
    [
        json(404, {"message": "Not Found"}),
        json(200, []),
        lambda request: httpx.Response(200, text="<html>", request=request),
        data(None),
        data({}),
        data({"stream_url": "/live"}),
        data({"stream_url": "http://streams.example"}),
        json(307, {}, Location="https://other.example/api/v1"),
    ],
    ids=["none", "a list", "a page", "null", "nothing", "no address", "no encryption", "a redirect"],
)
async def test_a_deployment_that_names_none_gets_no_token(is_async: bool, answer: Answer) -> None:
    network = Network(answer)
    caller = Caller(network, is_async, stream_url=None)
    for count in (1, 2):  # the next call asks again
        with unnamed():
            await caller(lambda c: c.a2a.card())
        assert asked(network) == [URL + "/api/v1"] * count
    with unnamed():
        await caller(lambda c: c.watch("s", cursor="0.1.0"))
    assert network.tokens == ["", "", ""]


@both
async def test_without_encryption_any_may_be_named(is_async: bool) -> None:
    network = Network(data({"stream_url": "http://127.0.0.1:3000"}), json(200, {}))
    network_url = "http://127.0.0.1:3000"
    settings: dict[str, Any] = {"token": "token", "transport": network}
    if is_async:
        await AsyncRethread(network_url, **settings).a2a.card()
    else:
        Rethread(network_url, **settings).a2a.card()
    assert len(network.asked) == 2


@both
async def test_an_address_lasts_an_hour_and_longer_while_there_is_no_other(is_async: bool) -> None:
    moved, card = data({"stream_url": "https://moved.example"}), json(200, {})
    network = Network(NAMED, card, card, json(403, {}), card, moved, card)
    caller = Caller(network, is_async, stream_url=None)
    hosts: list[str] = []
    for minutes in (0, 59, 1, 60):
        network.time += minutes * 60
        await caller(lambda c: c.a2a.card())
        hosts.append(network.asked[-1].url.host)
    old = "streams.example"
    assert hosts == [old, old, old, "moved.example"]
    assert asked(network).count(URL + "/api/v1") == 3


async def test_calls_at_the_same_time_share_a_failure() -> None:
    network = Slow(json(403, {}))
    client = AsyncRethread(URL, "token", transport=network)
    outcomes = await asyncio.gather(*(client.a2a.card(name) for name in "abc"), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [ForbiddenError] * 3
    assert len(network.asked) == 1


@both
async def test_a_failure_is_a_failure_of_the_call(is_async: bool) -> None:
    network = Network(json(503, {}), NAMED, json(200, {}))
    await Caller(network, is_async, stream_url=None)(lambda c: c.a2a.card())
    assert len(network.asked) == 3
    network = Network(json(403, {}))
    with pytest.raises(ForbiddenError):
        await Caller(network, is_async, stream_url=None, retries=Retries())(lambda c: c.a2a.card())
