"""What could never be sent, or would name something else, is refused before any request."""

from __future__ import annotations

import json as jsons
import pickle
from typing import Any

import pytest

import rethread_client
from local import ROOT
from networks import URL, Caller, Network, data, json
from rethread_client import AsyncRethread, Rethread, errors

TABLE = jsons.loads((ROOT / "clients" / "cases" / "tables" / "arguments.json").read_text())
both = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])

# A call for each place of a path.
PLACES: list[Any] = [
    lambda c, name: c.sessions.delete(name),
    lambda c, name: c.artifacts.delete("s", name),
    lambda c, name: c.artifacts.versions("s", name),
    lambda c, name: c.tasks.delete("s", name),
    lambda c, name: c.runs.cancel("s", name),
    lambda c, name: c.shares.revoke("s", name),
    lambda c, name: c.webhooks.delivery("w", name),
    lambda c, name: c.automations.delete(name),
    lambda c, name: c.imports.abandon(name),
    lambda c, name: c.a2a.delete_task(name),
    lambda c, name: c.sessions.export(name),
    lambda c, name: c.watch(name),
]


def test_the_table_has_cases() -> None:
    least = {
        "segments": 17,
        "no_segments": 3,
        "tokens": 4,
        "no_tokens": 11,
        "addresses": 7,
        "no_addresses": 12,
    }
    assert {name: len(TABLE[name]) >= number for name, number in least.items()} == dict.fromkeys(least, True)


@both
async def test_a_segment_is_escaped(is_async: bool) -> None:
    for name, segment in TABLE["segments"].items():
        network = Network(data({}))
        await Caller(network, is_async)(lambda c, name=name: c.artifacts.delete("s", name))
        assert network.asked[0].url.raw_path.decode() == f"/api/v1/sessions/s/artifacts/{segment}"


@both
@pytest.mark.parametrize("name", [*TABLE["no_segments"], "half \ud83d"])
async def test_what_is_no_segment_is_refused(name: str, is_async: bool) -> None:
    for place in PLACES:
        network = Network(data([]))
        with pytest.raises(ValueError, match="is not an id"):
            await Caller(network, is_async)(lambda c, place=place: place(c, name))
        assert network.asked == []


@both
@pytest.mark.parametrize("token", TABLE["no_tokens"])
async def test_a_token_that_cannot_be_sent_is_refused_without_telling_it(token: str, is_async: bool) -> None:
    kind = AsyncRethread if is_async else Rethread
    with pytest.raises(ValueError, match=r"^token: ") as caught:
        kind(URL, token)
    calls: list[Any] = [
        lambda c: c.sessions.get("s"),
        lambda c: c.watch("s"),
        lambda c: c.sessions.export("s"),
    ]
    for call in calls:
        for tokens in ([token], ["good", token]):  # at first, and when it is renewed
            network = Network(json(401, {}))
            caller = Caller(
                network, is_async, token=lambda rejected, tokens=tokens: tokens[-1 if rejected else 0]
            )
            with pytest.raises(ValueError, match=r"^token: ") as caught:
                await caller(call)
            assert "secret" not in str(caught.value)
            assert len(network.asked) == len(tokens) - 1
            assert network.waits == []


@both
async def test_tokens_and_addresses_of_every_form_are_accepted(is_async: bool) -> None:
    for token in TABLE["tokens"]:
        network = Network(data({}))
        await Caller(network, is_async, token=token)(lambda c: c.sessions.get("s"))
        assert network.tokens == [token]
    kind = AsyncRethread if is_async else Rethread
    for url in TABLE["addresses"]:
        kind(url, "token", stream_url=url)


@pytest.mark.parametrize("url", TABLE["no_addresses"])
def test_an_address_that_cannot_be_asked_is_refused(url: str) -> None:
    for kind in (AsyncRethread, Rethread):
        with pytest.raises(ValueError, match=r"^url: ") as caught:
            kind(url, "token")
        assert "secret" not in str(caught.value)
        if url:
            with pytest.raises(ValueError, match=r"^stream_url: "):
                kind(URL, "token", stream_url=url)


@both
async def test_a_header_that_cannot_be_sent_is_refused(is_async: bool) -> None:
    calls: dict[str, Any] = {
        "Idempotency-Key": lambda c: c.sessions.create({}, idempotency_key="a\nb"),
        "If-Match": lambda c: c.sessions.update("s", {}, if_match="a\nb"),
        "Content-Type": lambda c: c.artifacts.put("s", "a", b"", mime_type="text/ü"),
    }
    for name, call in calls.items():
        network = Network(data({}))
        with pytest.raises(ValueError, match=f"^header {name}: "):
            await Caller(network, is_async)(call)
        assert network.asked == []


CLASSES = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, errors.RethreadError)
]


@pytest.mark.parametrize("kind", CLASSES)
def test_an_error_survives_pickling(kind: Any) -> None:
    problem = {"detail": "no", "errors": [{"pointer": "/a", "detail": "bad"}], "head_seq": 3, "run_id": "r"}
    made = {errors.NoAnswerError: lambda: kind("lost"), errors.NoAnswerInTimeError: lambda: kind(1.5)}
    error = made.get(kind, lambda: kind(404, problem, 2.5))()
    error.reason = "revoked"
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert vars(again) == vars(error)
    assert (str(again), again.args) == (str(error), error.args)


def test_every_error_class_is_pickled() -> None:
    assert len(CLASSES) == 11
    assert {kind.__name__ for kind in CLASSES} <= set(rethread_client.__all__)
