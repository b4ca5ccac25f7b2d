"""What belongs to an event loop."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")

Lock = asyncio.Lock


class Recent(Generic[T]):
    """What was used last, by name. Each event loop has its own.

    Args:
      most: the number that is kept.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._per_loop: dict[asyncio.AbstractEventLoop, OrderedDict[str, T]] = {}

    def get(self, name: str, make: Callable[[], T]) -> T:
        """Returns what has a name, and makes it if there is none."""
        known = self._of_loop(asyncio.get_running_loop())
        if name not in known:
            known[name] = make()
        known.move_to_end(name)
        if len(known) > self._most:
            known.popitem(last=False)
        return known[name]

    def _of_loop(self, loop: asyncio.AbstractEventLoop) -> OrderedDict[str, T]:
        """Returns what the loop has used, and forgets what loops that have ended used."""
        known = self._per_loop.get(loop)
        if known is None:
            known = OrderedDict[str, T]()
            live = {other: used for other, used in self._per_loop.items() if not other.is_closed()}
            self._per_loop = {**live, loop: known}
        return known
