"""Both clients have a method for each operation of the contract, and send what the contract says."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest
import yaml

from local import ROOT
from networks import Caller, Network, data, json
from rethread_client import NoAnswerError, RethreadError

Method = Callable[..., Any]
INPUT: dict[str, Any] = {}

METHODS: dict[str, Method] = {
    "listSessions": lambda c: c.sessions.list(agent="a", shared=True, exact=True),
    "createSession": lambda c, **o: c.sessions.create({}, **o),
    "getSession": lambda c: c.sessions.get("s/1"),
    "updateSession": lambda c, **o: c.sessions.update("s", {"name": "n"}, **o),
    "deleteSession": lambda c: c.sessions.delete("s"),
    "getState": lambda c: c.state.get("s"),
    "listEvents": lambda c: c.events.list("s", view="all", after=0),
    "appendEvents": lambda c, **o: c.events.append("s", {"events": [INPUT]}, **o),
    "watchSession": lambda c: c.watch("s", cursor="0.0.0"),
    "exportSession": lambda c: c.sessions.export("s"),
    "importSession": lambda c, **o: c.imports.start({}, id="i", **o),
    "importPart": lambda c: c.imports.part("i", 2, {}),
    "abandonImport": lambda c: c.imports.abandon("i"),
    "listAutomations": lambda c: c.automations.list(),
    "createAutomation": lambda c, **o: c.automations.create({}, **o),
    "getAutomation": lambda c: c.automations.get("a"),
    "changeAutomation": lambda c, **o: c.automations.update("a", {}, **o),
    "deleteAutomation": lambda c: c.automations.delete("a"),
    "listShares": lambda c: c.shares.list("s"),
    "shareSession": lambda c, **o: c.shares.create("s", {}, **o),
    "revokeShare": lambda c: c.shares.revoke("s", "x"),
    "leaveSession": lambda c: c.sessions.leave("s"),
    "acceptShare": lambda c: c.shares.accept("t"),
    "getErasure": lambda c: c.me.erasure(),
    "eraseMyData": lambda c: c.me.erase(),
    "getMyUsage": lambda c: c.me.usage(),
    "getThread": lambda c: c.thread.get("s", order="desc"),
    "startRun": lambda c, **o: c.runs.start("s", {"input": []}, **o),
    "listRuns": lambda c: c.runs.list("s"),
    "listRunRequests": lambda c: c.runs.requests("s", "r"),
    "getRun": lambda c: c.runs.get("s", "r"),
    "updateRun": lambda c: c.runs.update("s", "r", {}),
    "cancelRun": lambda c: c.runs.cancel("s", "r"),
    "pushDeltas": lambda c, **o: c.runs.push_deltas("s", "r", {}, **o),
    "pushRunEvents": lambda c, **o: c.runs.push_events("s", "r", {}, **o),
    "listArtifacts": lambda c: c.artifacts.list("s"),
    "getArtifact": lambda c: c.artifacts.get("s", "a b.txt", version=0),
    "putArtifact": lambda c: c.artifacts.put("s", "a", "x", invocation_id="i"),
    "deleteArtifact": lambda c: c.artifacts.delete("s", "a"),
    "listArtifactVersions": lambda c: c.artifacts.versions("s", "a"),
    "rewindSession": lambda c, **o: c.sessions.rewind("s", {"rewind_before_invocation_id": "i"}, **o),
    "forkSession": lambda c, **o: c.sessions.fork("s", **o),
    "getForks": lambda c: c.sessions.forks("s"),
    "listTasks": lambda c: c.tasks.list("s"),
    "saveTask": lambda c, **o: c.tasks.save("s", {}, **o),
    "getTask": lambda c: c.tasks.get("s", "t"),
    "deleteTask": lambda c: c.tasks.delete("s", "t"),
    "listMessages": lambda c: c.messages.list("s"),
    "listFeedback": lambda c: c.feedback.list(type="up"),
    "giveFeedback": lambda c, **o: c.feedback.give({}, **o),
    "listWebhooks": lambda c: c.webhooks.list(),
    "createWebhook": lambda c, **o: c.webhooks.create({}, **o),
    "getWebhook": lambda c: c.webhooks.get("w"),
    "updateWebhook": lambda c, **o: c.webhooks.update("w", {}, **o),
    "deleteWebhook": lambda c: c.webhooks.delete("w"),
    "testWebhook": lambda c, **o: c.webhooks.test("w", **o),
    "getWebhookSecret": lambda c: c.webhooks.secret("w"),
    "rotateWebhookSecret": lambda c, **o: c.webhooks.rotate_secret("w", **o),
    "listDeliveries": lambda c: c.webhooks.deliveries("w"),
    "getDelivery": lambda c: c.webhooks.delivery("w", "d"),
    "replayDelivery": lambda c, **o: c.webhooks.replay("w", "d", **o),
    "listA2ATasks": lambda c: c.a2a.tasks("s"),
    "saveA2ATask": lambda c: c.a2a.save_task({}),
    "getA2ATask": lambda c: c.a2a.task("t"),
    "deleteA2ATask": lambda c: c.a2a.delete_task("t"),
    "getDefaultAgentCard": lambda c: c.a2a.card(),
    "getAgentCard": lambda c: c.a2a.card("a"),
    "getNotificationKeys": lambda c: c.a2a.keys(),
}

# Operations that programs use in another way: with the SDK of a protocol, and client.auth.
OTHERWISE = [
    "callAgent",
    "getFromAgent",
    "postToAgent",
    "deleteFromAgent",
    "runAgent",
    "connectAgent",
    "joinThread",
    "stopThread",
    "chatWithAgent",
    "resumeChat",
    "listChatMessages",
    "stopChat",
    "createResponse",
    "getResponse",
    "deleteResponse",
    "cancelResponse",
    "listInputItems",
    "createConversation",
    "getConversation",
    "updateConversation",
    "deleteConversation",
    "listItems",
    "addItems",
    "getItem",
    "deleteItem",
    "listModels",
    "getModel",
    "callMCP",
    "streamMCP",
    "endMCP",
    "getMCPMetadata",
    "getApiMetadata",
    "getAddresses",
]

NOT_REPEATED = {"putArtifact"}  # a repeat stores another version
ENDLESS = {"watchSession"}

LOST = httpx.ReadError("lost")
DELETED = b'data: {"type": "thread.deleted", "cursor": "0.0.0"}\n\n'


def answer(name: str) -> Callable[[httpx.Request], httpx.Response]:
    """An answer that a method of any form can read."""
    if name in ENDLESS:
        return lambda request: httpx.Response(200, content=DELETED, request=request)
    if name in ("listTasks", "listFeedback"):
        return json(200, {"tasks": [], "feedback": [], "next_cursor": None})
    if name == "listMessages":
        return json(200, [], X_Next_Cursor="")
    return data([] if name.startswith("list") else {})


def operations() -> list[tuple[str, str, str, list[str]]]:
    """The contract's operations: id, method, path, and parameters."""
    contract = yaml.safe_load((ROOT / "infra" / "openapi.yaml").read_text())
    shared = contract["components"]["parameters"]

    def name(parameter: dict[str, Any]) -> str:
        found = shared[parameter["$ref"].rsplit("/", 1)[-1]] if "$ref" in parameter else parameter
        return str(found["name"])

    return [
        (
            operation["operationId"],
            method.upper(),
            ("" if "servers" in item else "/api/v1") + path,
            [name(p) for p in item.get("parameters", []) + operation.get("parameters", [])],
        )
        for path, item in contract["paths"].items()
        for method, operation in item.items()
        if method in ("get", "put", "post", "patch", "delete")
    ]


OPERATIONS = operations()
both = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
covered = pytest.mark.parametrize(
    ("name", "method", "path", "parameters"),
    [o for o in OPERATIONS if o[0] in METHODS],
    ids=lambda v: str(v)[:40],
)


def test_every_operation_has_a_method() -> None:
    assert sorted(METHODS.keys() | set(OTHERWISE)) == sorted(o[0] for o in OPERATIONS)
    assert len(OPERATIONS) >= 90


@both
@covered
async def test_a_method_sends_what_the_contract_says(
    name: str, method: str, path: str, parameters: list[str], is_async: bool
) -> None:
    network = Network(answer(name))
    await Caller(network, is_async)(METHODS[name])
    (request,) = network.asked
    assert request.method == method
    assert re.fullmatch(re.sub(r"{\w+}", "[^/]+", path), request.url.raw_path.decode().partition("?")[0])
    assert set(request.url.params) <= set(parameters)
    assert request.headers["Authorization"] == "Bearer token"
    assert ("Idempotency-Key" in request.headers) == ("Idempotency-Key" in parameters)
    if "Idempotency-Key" in parameters:
        await Caller(network, is_async)(lambda c: METHODS[name](c, idempotency_key="mine"))
        assert network.asked[-1].headers["Idempotency-Key"] == "mine"


@both
@covered
async def test_a_method_repeats_what_is_safe_to_repeat(
    name: str, method: str, path: str, parameters: list[str], is_async: bool
) -> None:
    for refused in (json(429, {}), json(503, {}), LOST):
        network = Network(refused, answer(name))
        caller = Caller(network, is_async)
        if (
            name in NOT_REPEATED
            and refused is not LOST
            and refused(httpx.Request("GET", "/")).status_code == 429
        ):
            await caller(METHODS[name])
        elif name in NOT_REPEATED:
            with pytest.raises(RethreadError):
                await caller(METHODS[name])
            assert len(network.asked) == 1
            continue
        else:
            await caller(METHODS[name])
        first, second = network.asked
        assert second.content == first.content
        assert second.headers.get("Idempotency-Key") == first.headers.get("Idempotency-Key")
    if method == "DELETE" and name != "eraseMyData":
        network = Network(LOST, json(404, {}))
        await Caller(network, is_async)(METHODS[name])


@both
@pytest.mark.parametrize("name", [o[0] for o in OPERATIONS if "If-Match" in o[3]])
async def test_a_conditional_change_is_not_repeated_after_a_lost_answer(name: str, is_async: bool) -> None:
    network = Network(LOST, answer(name))
    with pytest.raises(NoAnswerError):
        await Caller(network, is_async)(lambda c: METHODS[name](c, if_match='"1"'))
    assert [request.headers["If-Match"] for request in network.asked] == ['"1"']


@both
async def test_events_with_ids_need_no_key(is_async: bool) -> None:
    network = Network(LOST, data([]))
    request = {"events": [{"id": "i.1", "invocation_id": "i", "author": "user"}]}
    await Caller(network, is_async)(lambda c: c.events.append("s", request))
    assert ["Idempotency-Key" in request.headers for request in network.asked] == [False, False]
