"""A session as a watcher sees it."""

from __future__ import annotations

from typing import Any, cast

from ._core.position import Cursor
from .messages import ItemDelta, WatchMessage


class View:
    """What `GET /thread` shows, kept up to date by the messages of `watch`.

    Attributes:
      items: the effective events, oldest first; the content of one in progress grows.
      status: `idle`, `in_progress` or `failed`; empty until it is known.
      run_id: the run in progress or the failed one; otherwise empty.
      epoch: the number of rewinds.
      deleted: whether the session was deleted.
    """

    def __init__(self) -> None:
        self.items: list[dict[str, Any]] = []
        self.status: str = ""
        self.run_id: str = ""
        self.epoch: int = 0
        self.deleted: bool = False

    def apply(self, message: WatchMessage) -> None:
        """Applies the next message. Types of newer servers change nothing."""
        cursor = Cursor.parse(message.get("cursor"))
        self.epoch = max(self.epoch, cursor.epoch if cursor else 0)
        match message.get("type"):
            case "item.snapshot" | "item.completed" | "item.failed":
                self._put(dict(message.get("item", {})))
            case "item.delta":
                self._grow(message.get("item_id"), message.get("delta", {}))
            case "thread.status":
                if status := message.get("status"):
                    self.status, self.run_id = status, message.get("run_id") or ""
            case "thread.rewound":
                to = message.get("to_seq", 0)
                self.items = [item for item in self.items if item["seq"] <= to]
            case "thread.reload":
                thread = message.get("thread")
                if thread is not None:
                    self.items = [dict(item) for item in thread["items"]]
                    self.status = thread["status"]
                    run = thread["run"]
                    self.run_id = run["id"] if run is not None and self.status != "idle" else ""
            case "thread.deleted":
                self.items, self.deleted = [], True
            case _:
                pass

    def _put(self, item: dict[str, Any]) -> None:
        for i, known in enumerate(self.items):
            if known["id"] == item["id"]:
                self.items[i] = item
                return
        self.items.append(item)

    def _grow(self, item_id: str | None, delta: ItemDelta) -> None:
        item = next((item for item in self.items if item["id"] == item_id), None)
        if item is None:
            return
        content = cast("dict[str, Any]", item.get("content") or {})
        parts = list(cast("list[dict[str, Any]]", content.get("parts") or []))
        index = delta.get("part", 0)
        if index == len(parts):
            parts.append({"text": "", **({"thought": True} if delta.get("thought") else {})})
        parts[index] = _grown(parts[index], delta)
        item["content"] = {**content, "parts": parts}


def _grown(part: dict[str, Any], delta: ItemDelta) -> dict[str, Any]:
    call = delta.get("function_call")
    if call is None:
        return {**part, "text": part.get("text", "") + delta.get("text", "")}
    known = part.get("function_call") or {"args_text": ""}
    args = known.get("args_text", "") + call.get("args_text", "")
    return {"function_call": {**known, **call, "args_text": args}}
