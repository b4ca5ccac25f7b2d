"""Threads of sessions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from ..types import Thread


class ThreadPage(Thread):
    """A page of a thread. `next_cursor` leads to the next page; None on the last one."""

    next_cursor: str | None


class StartedThread(ThreadPage):
    """The thread after the start of the run `run_id`, which may wait in the queue."""

    run_id: str


def page_of(body: Any) -> ThreadPage:
    """Returns the page that an answer has."""
    meta: dict[str, Any] = body.get("meta") or {}
    return cast("ThreadPage", {**body["data"], "next_cursor": meta.get("next_cursor")})


def started(body: Any) -> StartedThread:
    """Returns the answer to the start of a run. An older server names no run."""
    page = page_of(body)
    run = page.get("run")
    return cast("StartedThread", {**page, "run_id": body.get("run_id") or (run["id"] if run else "")})


def join(pages: Sequence[ThreadPage]) -> Thread:
    """Returns the thread of all its pages, the oldest first."""
    whole: Thread = {**_thread(pages[-1]), "items": [item for page in pages for item in page["items"]]}
    offsets: dict[str, int] = {}
    for page in pages:
        offsets |= page.get("offsets", {})
        if page.get("queue_version", 0) > whole.get("queue_version", 0):
            whole = {**whole, "queued": page.get("queued", []), "queue_version": page.get("queue_version", 0)}
    return {**whole, "offsets": offsets}


def _thread(page: ThreadPage) -> Thread:
    return cast("Thread", {key: value for key, value in page.items() if key != "next_cursor"})
