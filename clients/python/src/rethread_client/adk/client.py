"""A client of Rethread's HTTP API: authentication, retries, paging."""

from __future__ import annotations

import asyncio
import gzip
import inspect
import json
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from types import TracebackType
from typing import Any
from urllib.parse import quote

import httpx

from .errors import UnavailableError, error_of
from .retries import Retries

# Returns a token for a user's id: a JWT whose `sub` is that id. It is called
# before each attempt, so it can refresh tokens and should cache them. The id is
# empty where ADK lists sessions without naming a user: any token is right then.
TokenSource = Callable[[str], str | Awaitable[str]]

# Bodies of at least this size in bytes are sent compressed, because Lambda
# accepts 6 MB.
_COMPRESS_FROM = 1 << 20

_PAGE = 1000


def path(*segments: str) -> str:
    """Returns a path below /api/v1 with escaped segments."""
    return "".join("/" + quote(segment, safe="") for segment in segments)


class Rethread:
    """A connection to a Rethread system, shared by all services of a process.

    Args:
      url: the API's address, without `/api/v1`.
      token: returns the token of a user.
      retries: when to retry a request; by default 5 attempts.
      timeout: timeout of each attempt in seconds, separately for connecting
        and for reading the response.
      transport: replaces the HTTP transport, for proxies and tests.
    """

    def __init__(
        self,
        url: str,
        token: TokenSource,
        *,
        retries: Retries | None = None,
        timeout: float = 30.0,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._base = url.rstrip("/") + "/api/v1"
        self._token = token
        self._retries = retries or Retries()
        self._timeout = timeout
        self._transport = transport
        # Connections belong to an event loop, and each call of ADK's Runner.run
        # starts a new loop.
        self._clients: dict[asyncio.AbstractEventLoop, httpx.AsyncClient] = {}

    async def request(
        self,
        method: str,
        where: str,
        user_id: str,
        *,
        body: Any = None,
        content: bytes | None = None,
        content_type: str = "application/json",
        params: dict[str, str] | None = None,
        key: str | None = None,
    ) -> httpx.Response:
        """Sends a request, with retries, and returns the successful response.

        Args:
          where: the path below /api/v1.
          user_id: the user who makes the request.
          body: sent as JSON.
          content: the bytes to send, instead of `body`.
          key: the Idempotency-Key, the same for each attempt.

        Raises:
          RethreadError: the request failed, or no response arrived.
        """
        headers = {"Idempotency-Key": key} if key else {}
        if body is not None:
            content = json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
        if content is not None:
            headers["Content-Type"] = content_type
            if len(content) >= _COMPRESS_FROM:
                content = await asyncio.to_thread(gzip.compress, content, 6)
                headers["Content-Encoding"] = "gzip"
        tried = 0
        while True:
            tried += 1
            headers["Authorization"] = f"Bearer {await self._token_for(user_id)}"
            outcome: httpx.Response | httpx.TransportError
            try:
                outcome = await self._client().request(
                    method, self._base + where, params=params, content=content, headers=headers
                )
                if outcome.is_success:
                    return outcome
            except httpx.TransportError as lost:
                outcome = lost
            wait = self._retries.wait(tried, outcome)
            if wait is not None:
                await self._retries.sleep(wait)
            elif isinstance(outcome, httpx.Response):
                raise error_of(outcome)
            else:
                raise UnavailableError(f"{method} {where}: {outcome or type(outcome).__name__}") from outcome

    async def get(self, where: str, user_id: str) -> Any:
        """Returns the member `data` of the resource at a path."""
        return (await self.request("GET", where, user_id)).json()["data"]

    async def create(self, where: str, user_id: str, body: Any, *, key: str | None = None) -> Any:
        """Sends a POST that is executed at most once, with an Idempotency-Key; returns its `data`."""
        response = await self.request("POST", where, user_id, body=body, key=key or str(uuid.uuid4()))
        return response.json()["data"]

    async def pages(
        self, where: str, user_id: str, params: dict[str, str] | None = None, *, limit: int = _PAGE
    ) -> AsyncIterator[dict[str, Any]]:
        """Iterates over the items of a list; pages are requested as needed."""
        query = {**(params or {}), "limit": str(min(limit, _PAGE))}
        while True:
            page = (await self.request("GET", where, user_id, params=query)).json()
            for item in page["data"]:
                yield item
            cursor = page["meta"]["next_cursor"]
            if cursor is None:
                return
            query["cursor"] = cursor

    async def aclose(self) -> None:
        """Closes the connections of the running event loop."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.aclose()

    async def __aenter__(self) -> Rethread:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def _token_for(self, user_id: str) -> str:
        token = self._token(user_id)
        return await token if inspect.isawaitable(token) else token

    def _client(self) -> httpx.AsyncClient:
        loop = asyncio.get_running_loop()
        client = self._clients.get(loop)
        if client is None:
            for other in [known for known in list(self._clients) if known.is_closed()]:
                self._clients.pop(other, None)
            client = httpx.AsyncClient(timeout=self._timeout, transport=self._transport)
            self._clients[loop] = client
        return client
