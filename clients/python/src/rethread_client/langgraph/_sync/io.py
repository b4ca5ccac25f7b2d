"""What threads of a program share."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

from langgraph.checkpoint.base import BaseCheckpointSaver

T = TypeVar("T")

Lock = threading.Lock


class Recent(Generic[T]):
    """What was used last, by name.

    Args:
      most: the number that is kept.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: OrderedDict[Hashable, T] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, name: Hashable, make: Callable[[], T]) -> T:
        """Returns what has a name, and makes it if there is none."""
        with self._lock:
            if name not in self._known:
                self._known[name] = make()
            self._known.move_to_end(name)
            if len(self._known) > self._most:
                self._known.popitem(last=False)
            return self._known[name]


class Base(BaseCheckpointSaver[Any]):
    """What only an asynchronous saver has more of: synchronous calls, for which it notes its loop."""

    def _used(self) -> None:
        pass
