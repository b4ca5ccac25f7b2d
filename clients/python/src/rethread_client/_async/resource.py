"""The base of all resources, and lists that are read page by page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from .._core.calls import AnyOptions, Call, CallOptions, Param
from .._core.pages import Page
from . import io
from .transport import AsyncTransport

T = TypeVar("T")


@dataclass(frozen=True)
class AsyncList(Generic[T]):
    """A list that is read while it is used. Each iteration reads anew."""

    _read: Callable[[str | None], io.Later[Page[T]]]
    _first: str | None = None

    async def __aiter__(self) -> AsyncIterator[T]:
        async for page in self.pages():
            for entry in page.data:
                yield entry

    async def pages(self) -> AsyncIterator[Page[T]]:
        """Yields the pages."""
        page = await self.page()
        yield page
        while page.next_cursor:
            page = await self._read(page.next_cursor)
            yield page

    async def page(self) -> Page[T]:
        """Reads the first page only."""
        return await self._read(self._first)

    async def all(self) -> list[T]:
        """Reads all entries."""
        return [entry async for entry in self]


class AsyncResource:
    """Calls of one kind of resource."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def _data(self, call: Call, options: AnyOptions) -> Any:
        """Makes a call and returns the member `data` of the answer."""
        return (await self._transport.json(call, options))["data"]

    async def _body(self, call: Call, options: AnyOptions) -> Any:
        return await self._transport.json(call, options)

    async def _done(self, call: Call, options: AnyOptions) -> None:
        await self._transport.call(call, options)

    def _list(
        self, path: str, params: tuple[str, ...], query: Mapping[str, Param], options: CallOptions
    ) -> AsyncList[Any]:
        """A list whose pages have `data` and `meta`."""
        return self._pages(
            path, params, query, options, lambda body, _: (body["data"], body["meta"]["next_cursor"])
        )

    def _pages(
        self,
        path: str,
        params: tuple[str, ...],
        query: Mapping[str, Param],
        options: CallOptions,
        parts: Callable[[Any, Mapping[str, str]], tuple[list[Any], str | None]],
    ) -> AsyncList[Any]:
        """A list with pages of another form, of which `parts` returns the entries and the next cursor."""

        async def read(cursor: str | None) -> Page[Any]:
            call = Call(path=path, params=params, query={**query, "cursor": cursor})
            response = await self._transport.call(call, {**options})
            data, following = parts(response.json(), response.headers)
            return Page(data, following or None)

        first = query.get("cursor")
        return AsyncList(read, first if isinstance(first, str) else None)
