"""LangGraph's own suite for savers."""

from __future__ import annotations

from collections.abc import AsyncIterator

from conftest import Savers
from langgraph.checkpoint.conformance import checkpointer_test, validate

from rethread_langgraph import RethreadSaver


async def test_the_suite_passes_with_all_capabilities(savers: Savers) -> None:
    @checkpointer_test(name="RethreadSaver")
    async def registered() -> AsyncIterator[RethreadSaver]:
        yield savers()

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
