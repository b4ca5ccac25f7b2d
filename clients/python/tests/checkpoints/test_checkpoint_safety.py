"""Writers at the same time, lost answers, repeats, and values of every kind."""

from __future__ import annotations

import threading
import uuid
from typing import Any

import httpx
import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, SystemMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.types import Send

from graphs import LOOP, Savers, checkpoint
from rethread_client.langgraph import RethreadSaver


class LosesAnswers(httpx.HTTPTransport):
    """Loses the answer to every second write after it was executed."""

    writes = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        answer = super().handle_request(request)
        if request.method == "GET":
            return answer
        self.writes += 1
        if self.writes % 2:
            answer.read()
            answer.close()
            raise httpx.ReadError("the answer was lost")
        return answer


def put(
    saver: RethreadSaver, config: RunnableConfig, values: dict[str, Any], version: int = 1
) -> RunnableConfig:
    made = checkpoint(values, version)
    where = {**config["configurable"], "checkpoint_ns": ""}
    return saver.put({"configurable": where}, made, LOOP, made["channel_versions"])


def stored(saver: RethreadSaver, config: RunnableConfig) -> Any:
    known = saver.get_tuple(config)
    assert known is not None
    return known


def test_lost_answers_store_nothing_twice(savers: Savers, config: RunnableConfig) -> None:
    losing = savers(LosesAnswers())
    where = config
    for number in range(4):
        where = put(
            losing, where, {"messages": [HumanMessage(str(n), id=str(n)) for n in range(number + 1)]}, number
        )
        losing.put_writes(where, [("a", number)], "task")
    known = list(savers().list(config))
    assert [len(one.checkpoint["channel_values"]["messages"]) for one in known] == [4, 3, 2, 1]
    assert [one.pending_writes for one in known] == [[("task", "a", number)] for number in (3, 2, 1, 0)]


def test_a_checkpoint_put_again_changes_nothing(savers: Savers, config: RunnableConfig) -> None:
    made = checkpoint({"a": 1})
    where: RunnableConfig = {"configurable": {**config["configurable"], "checkpoint_ns": ""}}
    for saver in (savers(), savers()):
        first = saver.put(where, made, LOOP, {"a": 1})
    next_one = put(saver, first, {"a": 2}, 2)
    savers().put(where, made, LOOP, {"a": 1})
    assert stored(savers(), config).config == next_one
    assert len(list(savers().list(config))) == 2


def test_processes_that_write_one_thread_lose_nothing(savers: Savers, config: RunnableConfig) -> None:
    start = put(savers(), config, {"messages": [HumanMessage("hello", id="h")]})
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            saver, where = savers(), start
            said = stored(saver, where).checkpoint["channel_values"]["messages"]
            for step in range(3):
                said = [*said, AIMessage(f"{number} {step}", id=f"{number}-{step}")]
                where = put(saver, where, {"messages": said}, step + 2)
                saver.put_writes(where, [("done", step)], f"task-{number}")
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    last = {}
    for known in savers().list(config):
        texts = [str(message.content) for message in known.checkpoint["channel_values"]["messages"]]
        writer = texts[-1].split(" ")[0]
        if len(texts) == 4:
            last[writer] = texts
            assert known.pending_writes == [(f"task-{writer}", "done", 2)]
    assert last == {str(n): ["hello", f"{n} 0", f"{n} 1", f"{n} 2"] for n in range(3)}


def test_writes_of_tasks_at_the_same_time(
    saver: RethreadSaver, savers: Savers, config: RunnableConfig
) -> None:
    where = put(saver, config, {"a": 1})
    tasks = [f"task-{n:02}" for n in range(20)]
    calls = [
        threading.Thread(target=saver.put_writes, args=(where, [("a", task), ("b", [task])], task))
        for task in tasks
    ]
    for call in calls:
        call.start()
    for call in calls:
        call.join()
    expected = [write for task in tasks for write in ((task, "a", task), (task, "b", [task]))]
    assert stored(savers(), config).pending_writes == expected


VALUES: list[Any] = [
    None, True, 0, -1, 2**60, 0.1, 1.0, float("inf"), "", "nul \0", "half \ud800", b"bytes", (1, (2,)),
    {"nested": {"deep": [1, None, (3,)]}}, {1: "key"}, [], [[]], {"__": [b"x"]}, uuid.UUID(int=5), {3, 4},
    Send("node", {"x": 1}),
    [HumanMessage("x"), SystemMessage("s", id="1"), AIMessage([{"type": "text", "text": "block"}, "plain"])],
    [ToolMessage([{"type": "text", "text": "r"}], tool_call_id="c", artifact={"a": 1}, status="error")],
    [AIMessageChunk("chunk"), AIMessage("", additional_kwargs={"f": 1.0}), HumanMessage("n", name="ann")],
    {"messages": [HumanMessage("in a dict")], "other": (1,)},
]  # fmt: skip


@pytest.mark.parametrize("channel", ["messages", "other"])
@pytest.mark.parametrize("value", VALUES, ids=lambda value: repr(value)[:30])
def test_a_value_is_what_the_serializer_restores(
    savers: Savers, config: RunnableConfig, channel: str, value: Any
) -> None:
    saver = savers()
    where = put(saver, config, {channel: value})
    saver.put_writes(where, [(channel, value)], "task")
    serde = saver.serde  # turns tuples into lists, for example
    expected = serde.loads_typed(serde.dumps_typed(value))
    for reader in (saver, savers()):
        known = stored(reader, config)
        assert repr(known.checkpoint["channel_values"]) == repr({channel: expected})
        assert repr(known.pending_writes) == repr([("task", channel, expected)])


def test_lists_that_do_not_only_grow(savers: Savers, config: RunnableConfig) -> None:
    saver, where = savers(), config
    lists = ["abc", "abcd", "bcd", "bxd", "dxb", "", "bb", "bbb", "abcdabcd", "dcba"]
    for version, letters in enumerate(lists):
        said = [HumanMessage(letter, id=letter) for letter in letters]
        where = put(saver, where, {"messages": said, "other": list(letters)}, version)
    for reader in (saver, savers()):
        known = [one.checkpoint["channel_values"] for one in reader.list(config)]
        assert ["".join(one["other"]) for one in known] == lists[::-1]
        assert ["".join(str(m.content) for m in one["messages"]) for one in known] == lists[::-1]


def test_half_characters_are_stored_and_shown_once(savers: Savers, config: RunnableConfig) -> None:
    saver = savers()
    call = {"name": "f", "args": {"n": float("nan"), "half": "\ud83d"}, "id": "c", "type": "tool_call"}
    messages: list[Any] = [
        HumanMessage("half \ud83d", id="1"),
        AIMessage("", id="2", tool_calls=[call]),
        ToolMessage("result \ud83d", tool_call_id="c", id="3"),
    ]
    where = config
    for version in range(1, 4):
        where = put(saver, where, {"messages": messages}, version)
    session = str(config["configurable"]["thread_id"])
    shown: list[Any] = [event for event in saver._client.events.list(session) if event["content"]]
    assert len(shown) == 3
    assert shown[1]["content"]["parts"][0]["function_call"]["args"] == {"n": "NaN", "half": "\ufffd"}
    for known in (saver, savers()):
        read = stored(known, where).checkpoint["channel_values"]["messages"]
        assert [message.content for message in read] == ["half \ufffd", "", "result \ufffd"]


def test_time_travel_names_the_head_that_it_has_seen(savers: Savers, config: RunnableConfig) -> None:
    saver = savers()
    first = put(saver, config, {"messages": [HumanMessage("1", id="1")]}, 1)
    put(saver, first, {"messages": [HumanMessage("1", id="1"), HumanMessage("2", id="2")]}, 2)
    session = str(config["configurable"]["thread_id"])
    client = saver._client
    rewind = client.sessions.rewind
    made: list[int] = []

    def late(session_id: str, request: Any) -> Any:
        made.append(request["expected_seq"])
        if len(made) == 1:
            event: Any = {"invocation_id": "other", "author": "other", "content": None}
            client.events.append(session, {"events": [event]})
        return rewind(session_id, request)

    client.sessions.rewind = late  # type: ignore[method-assign]
    put(saver, first, {"messages": [HumanMessage("1", id="1"), HumanMessage("3", id="3")]}, 2)
    assert len(made) == 2
    assert made[1] > made[0]
    read = stored(savers(), config).checkpoint["channel_values"]["messages"]
    assert [message.content for message in read] == ["1", "3"]
