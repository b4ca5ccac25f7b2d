"""Asynchronous savers: calls that are cancelled, writes that share a request, and event loops."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from typing import Any

import httpx
import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, MessagesState, StateGraph

from graphs import LOOP, AsyncSavers, checkpoint
from local import LocalSystem
from rethread_client import AsyncRethread
from rethread_client.langgraph import AsyncRethreadSaver


class Gate(httpx.AsyncHTTPTransport):
    """Holds appends while it is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.closed = False
        self.arrived: asyncio.Queue[None] = asyncio.Queue()
        self.passes: asyncio.Queue[None] = asyncio.Queue()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if self.closed and request.url.path.endswith("/events") and request.method == "POST":
            self.arrived.put_nowait(None)
            await self.passes.get()
        return await super().handle_async_request(request)


async def write_three(
    saver: AsyncRethreadSaver, gate: Gate, where: RunnableConfig, second: Any
) -> list[asyncio.Task[None]]:
    """Begins to store writes of three tasks: one of the first, whose request ends, and one request
    of the others, which is held."""
    gate.closed = True
    writes = {"a": 1, "b": second, "c": 3}
    calls = [
        asyncio.create_task(saver.aput_writes(where, [("x", write)], task)) for task, write in writes.items()
    ]
    await gate.arrived.get()
    gate.passes.put_nowait(None)
    await calls[0]
    await gate.arrived.get()
    return calls


async def aput(saver: AsyncRethreadSaver, config: RunnableConfig) -> RunnableConfig:
    made = checkpoint({"x": 0})
    where: RunnableConfig = {"configurable": {**config["configurable"], "checkpoint_ns": ""}}
    return await saver.aput(where, made, LOOP, made["channel_versions"])


async def pending(asavers: AsyncSavers, config: RunnableConfig) -> Any:
    known = await asavers().aget_tuple(config)
    assert known is not None
    return known.pending_writes


async def test_a_cancelled_call_leaves_the_writes_of_others(
    asavers: AsyncSavers, config: RunnableConfig
) -> None:
    gate = Gate()
    saver = asavers(gate)
    calls = await write_three(saver, gate, await aput(saver, config), 2)
    calls[1].cancel()
    await gate.arrived.get()  # the request of the third call
    gate.passes.put_nowait(None)
    await calls[2]
    assert calls[1].cancelled()
    assert await pending(asavers, config) == [("a", "x", 1), ("c", "x", 3)]


async def test_a_write_that_cannot_be_stored_leaves_those_of_others(
    asavers: AsyncSavers, config: RunnableConfig
) -> None:
    gate = Gate()
    saver = asavers(gate)
    calls = await write_three(saver, gate, await aput(saver, config), threading.Lock())
    gate.passes.put_nowait(None)
    await calls[2]
    with pytest.raises(TypeError):
        await calls[1]
    assert await pending(asavers, config) == [("a", "x", 1), ("c", "x", 3)]


def test_a_saver_is_used_in_one_event_loop_after_another(
    system: LocalSystem, token: str, config: RunnableConfig
) -> None:
    client = AsyncRethread(system.url, token)
    saver = AsyncRethreadSaver(client)
    loops: list[weakref.ref[asyncio.AbstractEventLoop]] = []

    async def write(task: str) -> None:
        loops.append(weakref.ref(asyncio.get_running_loop()))
        async with client:  # closes the loop's connections
            where = await aput(saver, config)
            await asyncio.gather(*(saver.aput_writes(where, [("x", n)], f"{task}{n}") for n in range(3)))

    async def read() -> list[Any]:
        async with client:
            return [known.pending_writes async for known in saver.alist(config)]

    asyncio.run(write("a"))
    asyncio.run(write("b"))
    expected = [[(f"{task}{n}", "x", n) for n in range(3)] for task in "ba"]
    assert asyncio.run(read()) == expected
    gc.collect()
    assert [loop() for loop in loops] == [None, None], "loops that have ended are not kept"


async def test_a_synchronous_node_of_an_awaited_graph_uses_the_saver(
    asavers: AsyncSavers, config: RunnableConfig
) -> None:
    saver = asavers()
    seen: list[Any] = []

    def node(state: MessagesState, config: RunnableConfig) -> dict[str, Any]:
        where: RunnableConfig = {"configurable": {"thread_id": config["configurable"]["thread_id"]}}
        known = saver.get_tuple(where)
        assert known is not None
        seen.append(("newest", known.metadata["source"]))
        seen.append(("listed", [one.checkpoint["id"] for one in saver.list(where, limit=1)]))
        assert seen[-1][1] == [known.checkpoint["id"]]
        other: RunnableConfig = {"configurable": {"thread_id": f"{where['configurable']['thread_id']}-2"}}
        made = checkpoint({"x": 0})
        put = saver.put(
            {"configurable": {**other["configurable"], "checkpoint_ns": ""}},
            made,
            LOOP,
            made["channel_versions"],
        )
        saver.put_writes(put, [("x", 1)], "task")
        stored = saver.get_tuple(other)
        assert stored is not None
        seen.append(("writes", stored.pending_writes))
        saver.prune([other["configurable"]["thread_id"]])
        saver.delete_for_runs(["none"])
        saver.get_delta_channel_history(config=other, channels=["x"])
        saver.copy_thread(other["configurable"]["thread_id"], f"{other['configurable']['thread_id']}-3")
        saver.delete_thread(other["configurable"]["thread_id"])
        seen.append(("deleted", saver.get_tuple(other)))
        return {"messages": [AIMessage("ok")]}

    graph = StateGraph(MessagesState).add_node(node).add_edge(START, "node").compile(checkpointer=saver)
    await graph.ainvoke({"messages": [HumanMessage("go")]}, config, durability="sync")
    assert [name for name, _ in seen] == ["newest", "listed", "writes", "deleted"]
    assert seen[2:] == [("writes", [("task", "x", 1)]), ("deleted", None)]


async def test_a_synchronous_call_in_the_thread_of_a_loop_is_refused(
    asavers: AsyncSavers, config: RunnableConfig
) -> None:
    saver = asavers()
    with pytest.raises(asyncio.InvalidStateError, match="asynchronous interface"):
        saver.get_tuple(config)
    assert await asyncio.to_thread(saver.get_tuple, config) is None


def test_a_synchronous_call_without_a_running_loop_is_refused(system: LocalSystem, token: str) -> None:
    client = AsyncRethread(system.url, token)
    saver = AsyncRethreadSaver(client)
    where: RunnableConfig = {"configurable": {"thread_id": "t"}}

    async def used() -> None:
        async with client:
            await saver.aget_tuple(where)

    for _ in range(2):
        with pytest.raises(asyncio.InvalidStateError, match="No running event loop"):
            saver.get_tuple(where)
        asyncio.run(used())
