"""The writer of an invocation, of both clients."""

from __future__ import annotations

import asyncio
import json
import threading
from itertools import chain
from typing import Any

import httpx
import pytest

from networks import Caller, Network, data
from rethread_client import AsyncRethread, NoAnswerError, Rethread, Retries

ONE: Any = {"author": "user"}


def ids(network: Network) -> list[list[str]]:
    return [[e["id"] for e in json.loads(r.content)["events"]] for r in network.asked]


async def test_appends_at_the_same_time_get_different_numbers() -> None:
    network = Network(data([]))
    async with AsyncRethread("https://rethread.example", "token", transport=network) as client:
        writer = client.events.invocation("s", "i")
        await asyncio.gather(*(writer.append([ONE, ONE]) for _ in range(20)))
    assert sorted(chain(*ids(network))) == sorted(f"i.{n + 1}" for n in range(40))


def test_threads_get_different_numbers() -> None:
    network = Network(data([]))
    with Rethread("https://rethread.example", "token", transport=network) as client:
        writer = client.events.invocation("s", "i")
        threads = [threading.Thread(target=writer.append, args=([ONE],)) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(chain(*ids(network))) == sorted(f"i.{n + 1}" for n in range(20))


def test_a_batch_that_may_have_been_stored_is_appended_again_with_the_same_ids() -> None:
    network = Network(*[httpx.ReadError("lost")] * 5, data([]))
    retries = Retries(chance=lambda: 0.0, clock=lambda: network.time)
    client: Any = Caller(network, is_async=False, retries=retries).client
    writer = client.events.invocation("s")
    with pytest.raises(NoAnswerError):
        writer.append([ONE])
    writer.append([ONE])
    assert ids(network) == [[f"{writer.id}.1"]] * 6


def test_an_id_of_its_own_is_refused() -> None:
    network = Network(data([]))
    client: Any = Caller(network, is_async=False).client
    with pytest.raises(ValueError, match="event 1"):
        client.events.invocation("s", "i").append([ONE, {"id": "own", "author": "user"}])
    assert network.asked == []
