"""Pages of lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Page(Generic[T]):
    """A page of a list.

    Attributes:
      data: the entries; a page with few is not always the last.
      next_cursor: leads to the next page; None on the last one.
    """

    data: list[T]
    next_cursor: str | None
