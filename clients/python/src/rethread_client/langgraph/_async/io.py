"""What belongs to an event loop."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")

Lock = asyncio.Lock


class Recent(Generic[T]):
    """What was used last, by name. Each event loop has its own.

    Args:
      most: the number that is kept.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._per_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, OrderedDict[str, T]] = (
            WeakKeyDictionary()
        )

    def get(self, name: str, make: Callable[[], T]) -> T:
        """Returns what has a name, and makes it if there is none."""
        known = self._per_loop.setdefault(asyncio.get_running_loop(), OrderedDict())
        if name not in known:
            known[name] = make()
        known.move_to_end(name)
        if len(known) > self._most:
            known.popitem(last=False)
        return known[name]
