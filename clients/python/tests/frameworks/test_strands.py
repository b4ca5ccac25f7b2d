"""Strands' Agent with a session manager of Rethread."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from strands import Agent, tool
from strands.models.model import Model
from strands.types.exceptions import SessionException
from strands.types.session import Session, SessionAgent, SessionMessage, SessionType

from rethread_client import Rethread
from rethread_client.strands import RethreadSessionManager, RethreadSessionRepository


class Echo(Model):
    """Calls the tool for "book X", and echoes anything else."""

    def __init__(self) -> None:
        self.inputs: list[list[str]] = []

    def update_config(self, **model_config: Any) -> None:
        return None

    def get_config(self) -> Any:
        return {}

    def structured_output(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    async def stream(self, messages: Any, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        self.inputs.append([text_of(m) for m in messages])
        last = messages[-1]["content"][-1]
        yield {"messageStart": {"role": "assistant"}}
        if "toolResult" in last or not last["text"].startswith("book "):
            said = "Done" if "toolResult" in last else f"You said: {last['text']}"
            yield {"contentBlockDelta": {"delta": {"text": said}}}
            yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": "end_turn"}}
            return
        city = last["text"].removeprefix("book ")
        yield {
            "contentBlockStart": {"start": {"toolUse": {"name": "book", "toolUseId": f"t{len(messages)}"}}}
        }
        yield {"contentBlockDelta": {"delta": {"toolUse": {"input": f'{{"city": "{city}"}}'}}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use"}}


def text_of(message: Any) -> str:
    return " ".join(
        block.get("text") or ("call" if "toolUse" in block else "result") for block in message["content"]
    )


@tool
def book(city: str) -> str:
    """Books a trip.

    Args:
        city: where to.
    """
    return f"ticket to {city}"


def guide(client: Rethread, name: str, model: Echo, agent_id: str = "guide") -> Agent:
    manager = RethreadSessionManager(name, client, app_name="trips")
    return Agent(model=model, tools=[book], agent_id=agent_id, session_manager=manager, callback_handler=None)


def test_an_agent_remembers_its_conversation_and_state(client: Rethread, name: str) -> None:
    model = Echo()
    agent = guide(client, name, model)
    agent.state.set("city", "Porto")
    agent("book Porto")
    again = guide(client, name, model)
    assert again.state.get("city") == "Porto"
    again("thanks")
    assert model.inputs[-1] == ["book Porto", "call", "result", "Done", "thanks"]
    shown = [
        (e["author"], e["content"]["parts"][0]["text"]) for e in client.events.list(name) if e.get("content")
    ]
    assert shown == [
        ("user", "book Porto"),
        ("guide", 'book({"city": "Porto"})'),
        ("guide", "ticket to Porto"),
        ("guide", "Done"),
        ("user", "thanks"),
        ("guide", "You said: thanks"),
    ]


def test_a_rewind_restores_messages_and_state(client: Rethread, name: str) -> None:
    model = Echo()
    agent = guide(client, name, model)
    agent.state.set("trips", 1)
    agent("one")
    agent.state.set("trips", 2)
    agent("two")
    second = next(
        e["invocation_id"]
        for e in client.events.list(name, order="desc")
        if e["author"] == "user" and e["content"] is not None
    )
    client.sessions.rewind(name, {"rewind_before_invocation_id": second})
    again = guide(client, name, model)
    assert again.state.get("trips") == 1
    again("three")
    assert model.inputs[-1] == ["one", "You said: one", "three"]


def test_agents_of_a_session_are_apart(client: Rethread, name: str) -> None:
    model = Echo()
    guide(client, name, model, "a")("one")
    guide(client, name, model, "b")("two")
    guide(client, name, model, "a")("three")
    assert model.inputs[-1] == ["one", "You said: one", "three"]


def test_a_redacted_message_is_listed_redacted(client: Rethread, name: str) -> None:
    agent = guide(client, name, Echo())
    agent("secret")
    manager: Any = agent._session_manager
    manager.redact_latest_message({"role": "assistant", "content": [{"text": "[redacted]"}]}, agent)
    repository = RethreadSessionRepository(client)
    found = repository.list_messages(name, "guide")
    assert [text_of(m.to_message()) for m in found] == ["secret", "[redacted]"]
    assert repository.list_messages(name, "guide", limit=1, offset=1) == found[1:]
    with pytest.raises(SessionException):
        repository.update_message(name, "guide", message(9, "x"))


def test_the_repository_refuses_what_does_not_exist(client: Rethread, name: str) -> None:
    repository = RethreadSessionRepository(client)
    agent = SessionAgent(agent_id="a", state={"bytes": b"\xff"}, conversation_manager_state={})
    assert repository.read_session(name) is None
    assert repository.read_agent(name, "a") is None
    with pytest.raises(SessionException):
        repository.create_agent(name, agent)
    with pytest.raises(SessionException):
        repository.list_messages(name, "a")
    session = Session(session_id=name, session_type=SessionType.AGENT)
    repository.create_session(session)
    with pytest.raises(SessionException):
        repository.create_session(session)
    with pytest.raises(SessionException):
        repository.update_agent(name, agent)
    repository.create_agent(name, agent)
    found = repository.read_agent(name, "a")
    assert found is not None
    assert found.state == {"bytes": b"\xff"}
    assert repository.read_message(name, "a", 0) is None
    repository.create_message(name, "a", message(0, "hello"))
    read = repository.read_message(name, "a", 0)
    assert read is not None
    assert read.message == message(0, "hello").message


@pytest.mark.parametrize("form", ["{}/a?b", "{}\n", "{}" + "x" * 129])
def test_what_ids_and_json_cannot_express_is_stored(client: Rethread, name: str, form: str) -> None:
    repository = RethreadSessionRepository(client)
    where = form.format(name)
    repository.create_session(Session(session_id=where, session_type=SessionType.AGENT))
    found = repository.read_session(where)
    assert found is not None
    assert found.session_id == where
    state = {"x": float("inf"), "half": "\ud83d"}
    repository.create_agent(where, SessionAgent(agent_id="a", state=state, conversation_manager_state={}))
    agent = repository.read_agent(where, "a")
    assert agent is not None
    assert agent.state == {"x": "Infinity", "half": "\ufffd"}
    result: Any = {"toolUseId": "t", "status": "success", "content": [{"json": {"n": float("nan")}}]}
    said: Any = {"role": "user", "content": [{"toolResult": result}]}
    repository.create_message(where, "a", SessionMessage(message=said, message_id=0))
    (stored,) = repository.list_messages(where, "a")
    read: Any = stored.to_message()["content"][0]
    assert read["toolResult"]["content"] == [{"json": {"n": "NaN"}}]


def test_a_redaction_names_the_head_that_it_has_seen(client: Rethread, name: str) -> None:
    repository = RethreadSessionRepository(client)
    repository.create_session(Session(session_id=name, session_type=SessionType.AGENT))
    repository.create_message(name, "a", message(0, "secret"))
    append = client.events.append
    made: list[Any] = []

    def late(session_id: str, request: Any) -> Any:
        made.append(request["expected_seq"])
        if len(made) == 1:
            event: Any = {"invocation_id": "i", "author": "b", "content": None}
            append(session_id, {"events": [event]})
        return append(session_id, request)

    client.events.append = late  # type: ignore[method-assign]
    repository.update_message(name, "a", message(0, "[redacted]"))
    assert made == [1, 2]
    assert [text_of(m.to_message()) for m in repository.list_messages(name, "a")] == ["[redacted]"]


def message(n: int, text: str) -> SessionMessage:
    return SessionMessage(message={"role": "user", "content": [{"text": text}]}, message_id=n)
