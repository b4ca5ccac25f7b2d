"""LangGraph's own suite for savers, which calls the asynchronous methods."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from langgraph.checkpoint.conformance import checkpointer_test, validate

from graphs import AsyncSavers, Savers
from rethread_client.langgraph import RethreadSaver


def in_thread(method: Callable[..., Any]) -> Callable[..., Any]:
    async def call(*args: Any, **kwargs: Any) -> Any:
        return await asyncio.to_thread(method, *args, **kwargs)

    return call


class InThreads(RethreadSaver):
    """The synchronous saver with asynchronous methods."""

    aget_tuple = in_thread(RethreadSaver.get_tuple)
    aput = in_thread(RethreadSaver.put)
    aput_writes = in_thread(RethreadSaver.put_writes)
    adelete_thread = in_thread(RethreadSaver.delete_thread)
    adelete_for_runs = in_thread(RethreadSaver.delete_for_runs)
    acopy_thread = in_thread(RethreadSaver.copy_thread)
    aprune = in_thread(RethreadSaver.prune)

    async def alist(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        for known in await asyncio.to_thread(lambda: [*self.list(*args, **kwargs)]):
            yield known


@pytest.mark.parametrize("kind", ["synchronous", "asynchronous"])
async def test_the_suite_passes_with_all_capabilities(
    savers: Savers, asavers: AsyncSavers, kind: str
) -> None:
    @checkpointer_test(name=kind)
    async def registered() -> AsyncIterator[Any]:
        yield asavers() if kind == "asynchronous" else InThreads(savers()._client)

    report = await validate(registered)
    failed = {name: result.failures for name, result in report.results.items() if not result.passed}
    assert failed == {}
    assert sorted(report.results) == [
        "copy_thread",
        "delete_for_runs",
        "delete_thread",
        "get_tuple",
        "list",
        "prune",
        "put",
        "put_writes",
    ]
