"""Rethread's client for several users, whom ADK names with each call."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from types import TracebackType
from typing import Any, Literal, cast

import httpx

from .. import errors
from .._async.transport import AsyncTransport
from .._core import arguments
from .._core.calls import Call, Repeat
from .errors import InvalidError, RethreadError, error_of
from .retries import Retries

# Returns a token for a user's id: a JWT whose `sub` is that id. It is called
# before each attempt, so it can refresh tokens and should cache them, and once more
# after a token was rejected. The id is empty where ADK lists sessions without naming
# a user: any token is right then.
TokenSource = Callable[[str], str | Awaitable[str]]

# A service's token, or a function that returns it, which is called as a TokenSource is.
ServiceSource = Callable[[], str | Awaitable[str]]
ServiceToken = str | ServiceSource

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]

_PAGE = 1000

# A second version of an artifact is worse than an error.
_REPEAT: dict[Method, Repeat] = {"PUT": "refused", "DELETE": "delete"}


def path(*segments: str) -> str:
    """Returns a path below /api/v1 with escaped segments.

    Raises:
      InvalidError: one would name another resource, such as `..`.
    """
    try:
        return "".join("/" + arguments.segment(segment) for segment in segments)
    except ValueError as error:
        raise InvalidError(str(error), 422, {"errors": [{"pointer": "name", "detail": str(error)}]}) from None


class AdkClient:
    """A connection to a Rethread system, shared by all services of a process.

    Args:
      url: the deployment's address, with or without `/api/v1`.
      token: returns the token of a user.
      service_token: a service's token, or a function that returns it, instead of `token`:
        the service then acts for each user.
      retries: when to retry a request; by default 5 attempts.
      timeout: seconds that each attempt has; all attempts together have twice that, or
        what their longest delays need.
      transport: replaces the HTTP transport, for proxies and tests.
    """

    def __init__(
        self,
        url: str,
        token: TokenSource | None = None,
        *,
        service_token: ServiceToken | None = None,
        retries: Retries | None = None,
        timeout: float = 30.0,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        if (token is None) == (service_token is None):
            raise ValueError("give one of token and service_token")
        self._token = token
        self._service_token = service_token
        retries = retries or Retries()
        self._transport = AsyncTransport(
            url,
            "",
            stream_url=None,
            timeout=retries.limit(timeout),
            retries=retries.of_client(timeout),
            transport=transport,
            sleep=retries.sleep,
        )

    async def request(
        self,
        method: Method,
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
        call = Call(
            method=method,
            path=where,
            query=params or {},
            json=body,
            content=content,
            headers={} if content is None else {"Content-Type": content_type},
            repeat=_REPEAT.get(method, "safe" if key is None else "key"),
        )
        transport = self._as(user_id)
        try:
            return await transport.call(call, {} if key is None else {"idempotency_key": key})
        except RethreadError:  # of the function for tokens
            raise
        except errors.RethreadError as error:
            raise error_of(error, f"{method} {where}") from error

    def _as(self, user_id: str) -> AsyncTransport:
        """Returns the transport of a user."""
        of_user, service = self._token, self._service_token
        if of_user is not None:
            return self._transport.with_token(lambda rejected: of_user(user_id))
        if isinstance(service, str):
            transport = self._transport.with_token(service)
        else:
            renewed = cast("ServiceSource", service)
            transport = self._transport.with_token(lambda rejected: renewed())
        return transport.with_user(user_id or None)

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
        await self._transport.aclose()

    async def __aenter__(self) -> AdkClient:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()
