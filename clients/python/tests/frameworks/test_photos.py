"""Photos as large as those of phones: stores keep them wherever a framework puts them."""

from __future__ import annotations

import base64
import random
from contextlib import suppress
from typing import Any

import pytest
from langchain_core.messages import HumanMessage, ToolMessage
from strands import Agent
from strands.multiagent import GraphBuilder, Swarm
from strands.multiagent.base import MultiAgentBase
from strands.types.session import SessionAgent

from rethread_client import AsyncRethread, Rethread
from rethread_client.langchain import RethreadChatMessageHistory
from rethread_client.openai_agents import RethreadSession
from rethread_client.strands import RethreadSessionManager, RethreadSessionRepository
from test_strands import Echo

SIZES = pytest.mark.parametrize("size", [1_000_000, 4_000_000], ids=["1 MB", "4 MB"])


def photo(size: int) -> bytes:
    return random.Random(size).randbytes(size)


def block(size: int) -> Any:
    return {"image": {"format": "jpeg", "source": {"bytes": photo(size)}}}


@SIZES
def test_langchain(client: Rethread, name: str, size: int) -> None:
    image = {"type": "image", "base64": base64.b64encode(photo(size)).decode(), "mime_type": "image/jpeg"}
    history = RethreadChatMessageHistory(name, client)
    said = [HumanMessage(content=[image]), ToolMessage(content=[image], tool_call_id="c")]
    for message in said:
        history.add_messages([message])
    assert history.messages == said


@SIZES
async def test_openai_agents(asynchronous: AsyncRethread, name: str, size: int) -> None:
    url = "data:image/jpeg;base64," + base64.b64encode(photo(size)).decode()
    image = {"type": "input_image", "image_url": url, "detail": "auto"}
    text = {"type": "input_text", "text": "Where is this?"}
    items: Any = [
        {"role": "user", "content": [text, image]},
        {"type": "function_call_output", "call_id": "c", "output": [text, image]},
    ]
    session = RethreadSession(name, asynchronous)
    for item in items:
        await session.add_items([item])
    assert await session.get_items() == items
    shown = [event["content"] async for event in asynchronous.events.list(name)]
    assert [content["parts"] for content in shown if content] == [[{"text": "Where is this?"}]] * 2


@SIZES
def test_strands_messages(client: Rethread, name: str, size: int) -> None:
    def guide() -> Agent:
        manager = RethreadSessionManager(name, client)
        return Agent(model=Echo(), agent_id="guide", session_manager=manager, callback_handler=None)

    agent = guide()
    agent([block(size), {"text": "Where is this?"}])
    assert guide().messages == agent.messages


class Failing(Echo):
    def stream(self, *args: Any, **kwargs: Any) -> Any:
        raise ConnectionError("no model")


def graph(client: Rethread, name: str, second: Echo) -> Any:
    made = GraphBuilder()
    for node, model in (("a", Echo()), ("b", second)):
        made.add_node(Agent(model=model, name=node, callback_handler=None), node)
    made.add_edge("a", "b")
    made.set_max_node_executions(2)
    return made.set_graph_id("graph").set_session_manager(RethreadSessionManager(name, client)).build()


def swarm(client: Rethread, name: str, second: Echo) -> Any:
    agent = Agent(model=second, name="b", callback_handler=None)
    return Swarm([agent], session_manager=RethreadSessionManager(name, client), id="swarm")


@SIZES
@pytest.mark.parametrize("make", [graph, swarm])
def test_strands_multi_agents(client: Rethread, name: str, size: int, make: Any) -> None:
    task = [block(size), {"text": "Where is this?"}]
    made = make(client, name, Failing())
    with suppress(ConnectionError):  # a graph raises it
        made(task)
    again: MultiAgentBase = make(client, name, Echo())
    state = RethreadSessionRepository(client).read_multi_agent(name, made.id)
    assert state is not None
    again.deserialize_state({**state, "next_nodes_to_execute": ["b"]})
    assert again.state.task == task  # type: ignore[attr-defined]
    (kept,) = client.artifacts.list(name).all()
    versions = client.artifacts.versions(name, kept["name"]).all()
    assert sum(version["size"] for version in versions) == len(base64.b64encode(photo(size))), "stored once"


class Stateful(MultiAgentBase):
    """A graph with a state of the test's choice."""

    id = "g"

    def __init__(self, state: Any) -> None:
        self.state = state

    def serialize_state(self) -> Any:
        return self.state

    def deserialize_state(self, payload: Any) -> None:
        self.state = payload

    async def invoke_async(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError


def test_strands_large_states_are_rewound_forked_and_not_stored_again(client: Rethread, name: str) -> None:
    client.sessions.create({"id": name})
    repository = RethreadSessionRepository(client)
    texts = {f"{n}": chr(97 + n) * 10_000 for n in range(3)}
    states: list[Any] = [
        {"task": "short"},
        {"task": texts["0"]},
        {"task": texts["0"], "again": [texts["0"], {"b": texts["1"]}], "many": ["x" * 8000] * 30},
        {"task": texts["0"], "b": texts["1"], "many": ["y" * 8000] * 30},
        {"rethread_text": "a user's", "task": texts["2"]},
    ]
    turns: list[str] = []
    for state in states:
        repository = RethreadSessionRepository(client)  # one that knows nothing yet
        repository.update_multi_agent(name, Stateful(state))
        assert repository.read_multi_agent(name, "g") == state
        (newest,) = client.events.list(name, order="desc", limit=1).page().data
        turns.append(newest["invocation_id"])
    artifact = "strands_multi_agent-g"
    sizes = [version["size"] for version in client.artifacts.versions(name, artifact)]
    assert [size for size in sizes if size == 10_000] == [10_000] * 3
    assert len(sizes) == 5, "three texts, and two states without them"
    for before in (4, 2):
        client.sessions.rewind(name, {"rewind_before_invocation_id": turns[before]})
        fork = client.sessions.fork(name, {})
        for where in (name, fork["id"]):
            assert repository.read_multi_agent(where, "g") == states[before - 1]
        repository.update_multi_agent(fork["id"], Stateful(states[3]))
        assert repository.read_multi_agent(fork["id"], "g") == states[3]


def test_strands_large_state_of_an_agent(client: Rethread, name: str) -> None:
    client.sessions.create({"id": name})
    repository = RethreadSessionRepository(client)
    made = SessionAgent(agent_id="a/b", state={"photo": photo(300_000)}, conversation_manager_state={})
    repository.create_agent(name, made)
    made.state["notes"] = ["n" * 8000] * 30
    repository.update_agent(name, made)
    repository.update_agent(name, SessionAgent.from_dict(made.to_dict()))
    found = repository.read_agent(name, "a/b")
    assert found is not None
    assert (found.state, found.created_at) == (made.state, made.created_at)
