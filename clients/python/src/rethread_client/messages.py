"""Messages about a watched session; infra/asyncapi.yaml describes their members."""

from __future__ import annotations

from typing import Any, Required

from typing_extensions import TypedDict

from .types import CallDelta, QueuedInput, RunError, Thread


class ItemDelta(TypedDict, total=False):
    """An addition to part `part` of an item's content."""

    part: int
    text: str
    thought: bool
    function_call: CallDelta


class WatchMessage(TypedDict, total=False, extra_items=Any):
    """A message about a session, by `type`:

    item.snapshot: `item`, a new one or one of the same id that it replaces.
    item.delta: `delta`, which continues the item `item_id`.
    item.completed, item.failed: `item` in its final form, which replaces the one of the same id.
    thread.status: `status`, if it has one, with the `run_id` and its `error`.
    thread.rewound: items after `to_seq` are not shown any more.
    thread.queue: `queued`, the inputs that wait for the runs before them.
    thread.reload: `thread`, which replaces everything; `reason` is `begin` at the
      beginning, and `rewound` if the connection was lost after a rewind.
    thread.deleted: the session is deleted; this message is the last.

    A newer server may send other types.
    """

    type: Required[str]
    session_id: str
    cursor: str
    prev: str
    item: dict[str, Any]
    item_id: str
    delta: ItemDelta
    offset: int
    to_seq: int
    status: str
    run_id: str
    error: RunError | None
    reason: str
    queued: list[QueuedInput]
    queue_version: int
    truncated: bool
    thread: Thread
