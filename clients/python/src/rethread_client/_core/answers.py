"""What the agent of a run says, collected from the messages of a watcher."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from ..messages import WatchMessage
from ..types import Run, RunRequest
from ..view import View


@dataclass(frozen=True)
class Answer:
    """The answer to a question.

    Attributes:
      text: what the agent said, without its thoughts.
      run: the run, which is over; it may have failed.
    """

    text: str
    run: Run


def request_of(text: str, request: RunRequest | None) -> RunRequest:
    """Returns the start of a run that a text begins."""
    return cast("RunRequest", {**(request or {}), "input": text})


class Said:
    """The text of a run so far, and whether the run is over."""

    def __init__(self, run_id: str) -> None:
        self.text = ""
        self._run_id = run_id
        self._view = View()
        self._waits = False  # in the queue

    def take(self, message: WatchMessage) -> str:
        """Applies the next message and returns what it adds to the text."""
        self._view.apply(message)
        thread = message.get("thread")
        if thread is not None:
            self._waits = self._run_id in _queued(thread.get("queued"))
        if self._view.run_id == self._run_id:
            self._waits = False
        before, self.text = self.text, self._said()
        return self.text[len(before) :] if self.text.startswith(before) else ""

    @property
    def over(self) -> bool:
        """Whether the run has ended, as far as the messages say."""
        working = self._view.status == "in_progress" and self._view.run_id == self._run_id
        return self._view.deleted or (self._view.status != "" and not self._waits and not working)

    def left(self, message: WatchMessage) -> bool:
        """Whether the run waited and is not among the inputs that wait any more: it begins, or it was
        cancelled."""
        return self._waits and "queued" in message and self._run_id not in _queued(message.get("queued"))

    def _said(self) -> str:
        items = [item for item in self._view.items if item.get("invocation_id") == self._run_id]
        contents = [cast("dict[str, Any]", item.get("content") or {}) for item in items]
        said = [content for content in contents if content.get("role") != "user"]
        parts = [
            part for content in said for part in cast("list[dict[str, Any]]", content.get("parts") or [])
        ]
        return "".join(part.get("text") or "" for part in parts if not part.get("thought"))


def _queued(inputs: object) -> list[str]:
    if not isinstance(inputs, list):
        return []
    return [entry["run_id"] for entry in cast("list[dict[str, Any]]", inputs)]
