"""Sends requests: adds the token, limits the time, and repeats what is safe to repeat."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from copy import copy
from typing import Any, Self

import httpx

from .._core import arguments
from .._core.addresses import Addresses
from .._core.calls import AnyOptions, Base, Call, Wire, body_of, wire
from .._core.retries import Retries, Tries, error_of
from ..errors import NoAnswerError, NoAnswerInTimeError, RethreadError
from . import io
from .tokens import AsyncTokens


class AsyncTransport:
    """What all resources of a client share."""

    def __init__(
        self,
        url: str,
        token: io.TokenSource,
        *,
        user: str | None = None,
        stream_url: str | None,
        timeout: float,
        retries: Retries,
        transport: httpx.AsyncBaseTransport | None,
        sleep: Callable[[float], io.Later[None]],
    ) -> None:
        self._addresses = Addresses(url, stream_url, retries.clock)
        self.retries = retries
        self.sleep = sleep
        self._timeout = timeout
        self._per_loop = io.PerLoop(transport)
        self.tokens: AsyncTokens = AsyncTokens(token, self._per_loop)
        self._user = None if user is None else arguments.user(user)

    def identity(self, token: str) -> dict[str, str]:
        """Returns the headers that say whose a request is."""
        headers = {"Authorization": f"Bearer {token}"}
        if self._user is not None:
            headers["Rethread-User"] = self._user
        return headers

    def with_user(self, user: str | None) -> Self:
        """Returns a transport of a service that acts for a user, over the same connections."""
        other = copy(self)
        other._user = None if user is None else arguments.user(user)
        return other

    def with_token(self, token: io.TokenSource) -> Self:
        """Returns a transport for another user over the same connections."""
        other = copy(self)
        other.tokens = AsyncTokens(token, self._per_loop)
        return other

    async def call(self, call: Call, options: AnyOptions) -> httpx.Response:
        """Makes a call and returns the successful response, whose body was read.

        Raises:
          RethreadError: the call failed.
        """
        request = await self._wire(call, options)
        tries = Tries(call, options, self.retries, self._timeout)
        while True:
            try:
                response = await self._attempt(request, tries)
            except RethreadError as error:
                delay = tries.wait(error)
                if delay is None:
                    raise
                await self.sleep(delay)
            else:
                if on_response := options.get("on_response"):
                    on_response(response)
                return response

    async def json(self, call: Call, options: AnyOptions) -> Any:
        """Makes a call and returns the JSON body of the answer."""
        return body_of(await self.call(call, options))

    async def open(self, call: Call, options: AnyOptions) -> httpx.Response:
        """Makes a call and returns the successful response before its body, which has no time limit.
        The caller closes it."""
        request = await self._wire(call, options)
        tries = Tries(call, options, self.retries, self._timeout)
        while True:
            try:
                response = await self.send(request, tries.begin())
                if response.is_success:
                    if on_response := options.get("on_response"):
                        on_response(response)
                    return response
                raise await self.failed(response)
            except RethreadError as error:
                delay = tries.wait(error)
                if delay is None:
                    raise
                await self.sleep(delay)

    async def send(self, request: Wire, limit: float, read: float | None = None) -> httpx.Response:
        """Sends a request with a token, and once more with another if the first is rejected. The
        response's body is still to be read.

        Args:
          limit: seconds for each step until the headers arrive.
          read: seconds without a byte after which reading fails; by default `limit`.
        """
        if request.public:
            return await self._send(request, None, limit, read)
        token = await self.tokens.get()
        response = await self._send(request, token, limit, read)
        if response.status_code != 401:
            return response
        renewed = await self.tokens.renew(token)
        if renewed == token:
            return response
        await response.aclose()
        return await self._send(request, renewed, limit, read)

    async def failed(self, response: httpx.Response) -> RethreadError:
        """Reads the error of a response, and closes it."""
        try:
            async with broken():
                await response.aread()
        finally:
            await response.aclose()
        return error_of(response)

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._per_loop.aclose()

    async def base(self, base: Base) -> str:
        """Returns what paths are appended to. The deployment is asked for it when it is needed; calls at
        the same time share the request, and its failure, which is not remembered.

        Raises:
          RethreadError: it could not be asked.
          ValueError: it names no addresses.
        """
        known, asked = self._addresses.find(base), self._addresses.asked
        if known is not None:
            return known
        async with self._per_loop.lock():  # which a request without a token does not need itself
            while (known := self._addresses.find(base)) is None:
                if failure := self._addresses.failed_since(asked):
                    raise failure
                try:
                    self._addresses.named(await self.json(Call(path="", public=True), {}))
                except (RethreadError, ValueError) as error:
                    self._addresses.failed(error)
        return known

    async def _wire(self, call: Call, options: AnyOptions) -> Wire:
        request = wire(call, options)
        request = request.below(await self.base(call.base))
        return await io.compute(request.compressed) if request.compressible() else request

    async def _attempt(self, request: Wire, tries: Tries) -> httpx.Response:
        since, limit = tries.now(), tries.begin()
        response = await self.send(request, limit)
        try:
            body = bytearray()
            async with broken():
                async for chunk in response.aiter_bytes():
                    body += chunk
                    if tries.late(since, limit):
                        raise NoAnswerInTimeError(limit)
        finally:
            await response.aclose()
        # The body was decoded, so its headers must not say that it is not.
        headers = httpx.Headers(
            [(k, v) for k, v in response.headers.multi_items() if k.lower() != "content-encoding"]
        )
        whole = httpx.Response(
            response.status_code, headers=headers, content=bytes(body), request=response.request
        )
        if not tries.succeeded(whole):
            raise error_of(whole)
        return whole

    async def _send(
        self, request: Wire, token: str | None, limit: float, read: float | None
    ) -> httpx.Response:
        http = self._per_loop.http()
        sent = http.build_request(
            request.method,
            request.url,
            headers={**request.headers, **({} if token is None else self.identity(token))},
            content=request.content,
            timeout=httpx.Timeout(limit, read=limit if read is None else read),
        )
        async with broken(limit):
            return await http.send(sent, stream=True)


@asynccontextmanager
async def broken(limit: float | None = None) -> AsyncGenerator[None, None]:
    """Turns httpx's errors into those of this package."""
    try:
        yield
    except httpx.TimeoutException as error:
        raise (NoAnswerError() if limit is None else NoAnswerInTimeError(limit)) from error
    except (httpx.HTTPError, httpx.StreamError) as error:
        raise NoAnswerError(f"No answer: {error or type(error).__name__}.") from error
