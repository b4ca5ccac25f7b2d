"""LangChain's RunnableWithMessageHistory with a history of Rethread."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolCall, ToolMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import RunnableLambda
from langchain_core.runnables.history import RunnableWithMessageHistory

from rethread_client import Rethread
from rethread_client.langchain import RethreadChatMessageHistory


def chain(client: Rethread, seen: list[list[str]]) -> Any:
    """A model that answers with the number of messages it was given, behind a history."""
    model = GenericFakeChatModel(messages=iter(AIMessage(content=f"answer {n}") for n in range(10)))
    prompt = ChatPromptTemplate.from_messages([MessagesPlaceholder("history"), ("human", "{input}")])

    def note(value: Any) -> Any:
        seen.append([str(m.content) for m in value.to_messages()])
        return value

    return RunnableWithMessageHistory(
        prompt | RunnableLambda(note) | model,
        lambda session_id: RethreadChatMessageHistory(session_id, client, app_name="trips"),
        input_messages_key="input",
        history_messages_key="history",
    )


def texts(messages: list[BaseMessage]) -> list[Any]:
    return [m.content for m in messages]


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
async def test_a_chain_remembers_its_conversation(client: Rethread, name: str, is_async: bool) -> None:
    seen: list[list[str]] = []
    runnable = chain(client, seen)
    config = {"configurable": {"session_id": name}}
    for text in ("one", "two"):
        value = {"input": text}
        await runnable.ainvoke(value, config) if is_async else runnable.invoke(value, config)
    assert seen == [["one"], ["one", "answer 0", "two"]]
    events = client.events.list(name).all()
    assert [event["author"] for event in events] == ["user", "assistant"] * 2
    second = events[-1]["invocation_id"]
    assert len({event["invocation_id"] for event in events}) == 2

    client.sessions.rewind(name, {"rewind_before_invocation_id": second})
    runnable.invoke({"input": "three"}, config)
    assert seen[-1] == ["one", "answer 0", "three"]


def test_messages_come_back_as_they_were(client: Rethread, name: str) -> None:
    history = RethreadChatMessageHistory(name, client)
    assert history.messages == []
    call = ToolCall(name="book", args={"city": "Porto"}, id="c1")
    messages: list[BaseMessage] = [
        SystemMessage(content="Be brief."),
        HumanMessage(
            content=[{"type": "text", "text": "Book"}, {"type": "image_url", "image_url": {"url": "data:"}}]
        ),
        AIMessage(content="", tool_calls=[call], response_metadata={"model": "m"}, id="a1"),
        ToolMessage(content="ticket", tool_call_id="c1", artifact={"n": 1}),
    ]
    history.add_messages(messages)
    assert history.messages == messages
    history.add_messages([HumanMessage(content=str(n)) for n in range(150)])
    assert texts(history.messages)[4:] == [str(n) for n in range(150)]


def test_messages_of_other_clients_are_messages(client: Rethread, name: str) -> None:
    client.sessions.create({"id": name, "state": {"a": 1}})
    for author in ("user", "guide"):
        event: Any = {"invocation_id": "i", "author": author, "content": {"parts": [{"text": author}]}}
        client.events.append(name, {"events": [event]})
    history = RethreadChatMessageHistory(name, client)
    assert history.messages == [HumanMessage(content="user"), AIMessage(content="guide")]


async def test_clear_hides_all_messages(client: Rethread, name: str) -> None:
    history = RethreadChatMessageHistory(name, client)
    history.clear()
    history.add_messages([HumanMessage(content="one"), AIMessage(content="1")])
    history.clear()
    await history.aclear()
    assert history.messages == []
    await history.aadd_messages([HumanMessage(content="two")])
    assert texts(await history.aget_messages()) == ["two"]
    assert len(client.events.list(name, view="all").all()) == 4


@pytest.mark.parametrize("form", ["{}/a?b", "{}\n", "{}" + "x" * 129, "{}\ud83d"])
def test_a_session_may_have_any_name(client: Rethread, name: str, form: str) -> None:
    RethreadChatMessageHistory(form.format(name), client).add_messages([HumanMessage(content="one")])
    history = RethreadChatMessageHistory(form.format(name), client)
    assert texts(history.messages) == ["one"]
    history.clear()
    assert history.messages == []


def test_clear_names_the_head_that_it_has_seen(client: Rethread, name: str) -> None:
    history = RethreadChatMessageHistory(name, client)
    history.add_messages([HumanMessage(content="one")])
    rewind = client.sessions.rewind
    made: list[Any] = []

    def late(session_id: str, request: Any) -> Any:
        made.append(request["expected_seq"])
        if len(made) == 1:
            RethreadChatMessageHistory(name, client).add_messages([HumanMessage(content="late")])
        return rewind(session_id, request)

    client.sessions.rewind = late  # type: ignore[method-assign]
    history.clear()
    assert len(made) == 2
    assert history.messages == []


def test_a_result_that_json_cannot_express_is_stored(client: Rethread, name: str) -> None:
    history = RethreadChatMessageHistory(name, client)
    history.add_messages(
        [ToolMessage(content="half \ud83d", tool_call_id="c1", artifact={"n": [float("nan"), float("inf")]})]
    )
    assert history.messages == [
        ToolMessage(content="half \ufffd", tool_call_id="c1", artifact={"n": ["NaN", "Infinity"]})
    ]
