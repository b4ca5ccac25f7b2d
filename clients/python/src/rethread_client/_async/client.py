"""The client of a deployment."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from copy import copy
from types import TracebackType
from typing import Self

import httpx
from typing_extensions import Unpack

from .._core.answers import Answer
from .._core.calls import WriteOptions
from .._core.retries import Retries
from ..messages import WatchMessage
from ..types import RunRequest
from . import io
from .a2a import AsyncA2A
from .account import AsyncMe, AsyncShares
from .artifacts import AsyncArtifacts
from .hooks import AsyncAutomations, AsyncWebhooks
from .imports import AsyncImports
from .log import AsyncEvents, AsyncThreads
from .runs import AsyncRuns
from .sessions import AsyncSessions, AsyncStates
from .tasks import AsyncFeedbacks, AsyncMessages, AsyncTasks
from .transport import AsyncTransport
from .watching import AsyncWatch


class AsyncRethread:
    """A client of a deployment, for one user.

    Calls raise a RethreadError, or what the token's source raises; an argument that cannot be sent is
    a ValueError, before any request. A request that is safe to repeat is sent up to five times within
    the call's time limit: after a lost connection, 429, 502, 503 and 504, with growing random delays,
    or after `Retry-After`. Writes are safe to repeat: by an idempotency key, or by the ids of their
    events.

    Args:
      url: the deployment's address, with or without `/api/v1`.
      token: the user's bearer token, or a function that returns one. It is called with None
        for each request, so it should cache; after a 401 it is called once more, with the
        rejected token, and should renew it.
      user: the id of the user that a service acts for; by default the token's user.
      stream_url: the address for watching, exports and agents; by default the deployment is
        asked for it when it is needed.
      timeout: seconds for a call with all its attempts; one attempt has at most 30, or
        what `retries` says.
      retries: how calls are repeated.
      transport: replaces httpx's transport, for proxies and tests.
      sleep: replaces waiting, for tests.

    Attributes:
      sessions: sessions: create, list, change, delete, rewind, fork, share, export.
      state: state of a session, by scope.
      events: its log: append, read, invocations that are safe to repeat.
      thread: what it shows now, with an answer in progress.
      runs: runs of agents: start, read, cancel, push output.
      artifacts: files, by version.
      tasks: interactions as the user saw them.
      messages: messages of tasks.
      feedback: feedback about tasks.
      shares: links and shares of others.
      imports: exported sessions.
      webhooks: webhooks and their deliveries.
      automations: rules that ask an agent.
      me: usage, data and deletion of the user.
      a2a: agent cards and push configurations.
    """

    sessions: AsyncSessions
    state: AsyncStates
    events: AsyncEvents
    thread: AsyncThreads
    runs: AsyncRuns
    artifacts: AsyncArtifacts
    tasks: AsyncTasks
    messages: AsyncMessages
    feedback: AsyncFeedbacks
    shares: AsyncShares
    imports: AsyncImports
    webhooks: AsyncWebhooks
    automations: AsyncAutomations
    me: AsyncMe
    a2a: AsyncA2A

    def __init__(
        self,
        url: str,
        token: io.TokenSource,
        *,
        user: str | None = None,
        stream_url: str | None = None,
        timeout: float = 60.0,
        retries: Retries | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Callable[[float], io.Later[None]] = io.sleep,
    ) -> None:
        self._use(
            AsyncTransport(
                url,
                token,
                user=user,
                stream_url=stream_url,
                timeout=timeout,
                retries=retries or Retries(),
                transport=transport,
                sleep=sleep,
            )
        )

    def _use(self, transport: AsyncTransport) -> None:
        self._transport = transport
        self.sessions = AsyncSessions(self._transport)
        self.state = AsyncStates(self._transport)
        self.events = AsyncEvents(self._transport)
        self.thread = AsyncThreads(self._transport)
        self.runs = AsyncRuns(self._transport)
        self.artifacts = AsyncArtifacts(self._transport)
        self.tasks = AsyncTasks(self._transport)
        self.messages = AsyncMessages(self._transport)
        self.feedback = AsyncFeedbacks(self._transport)
        self.shares = AsyncShares(self._transport)
        self.imports = AsyncImports(self._transport)
        self.webhooks = AsyncWebhooks(self._transport)
        self.automations = AsyncAutomations(self._transport)
        self.me = AsyncMe(self._transport)
        self.a2a = AsyncA2A(self._transport)

    def with_token(self, token: io.TokenSource) -> Self:
        """Returns a client for another user over the same connections; closing either closes them. It
        is cheap, so a server can make one for each request."""
        other = copy(self)
        other._use(self._transport.with_token(token))
        return other

    def with_user(self, user: str | None) -> Self:
        """Returns a client of a service that acts for a user, with the same token and over the same
        connections; None is the service itself. Closing either closes them. It is cheap, so a server
        can make one for each request."""
        other = copy(self)
        other._use(self._transport.with_user(user))
        return other

    async def ask(
        self,
        session_id: str,
        text: str,
        *,
        on_text: Callable[[str], None] | None = None,
        request: RunRequest | None = None,
        **options: Unpack[WriteOptions],
    ) -> Answer:
        """Asks the session's agent, streams the answer to `on_text`, and returns it when the run is
        over: the same as `runs.ask`."""
        return await self.runs.ask(session_id, text, on_text=on_text, request=request, **options)

    def watch(
        self, session_id: str, *, cursor: str | None = None, last_item_id: str | None = None
    ) -> AsyncGenerator[WatchMessage, None]:
        """Yields the messages about a session, in order, each once, until it is deleted. Close the
        generator to stop before.

        Connections that end or break are replaced, for as long as that takes, and continue where
        the last one ended. 400, 401, 403, 404 and 422 are raised. Without a position, the first
        message is a `thread.reload`, whose `thread` is what the session shows.

        Args:
          cursor: begin after this position, such as a thread's `cursor`.
          last_item_id: begin with this item.
        """
        return AsyncWatch(self._transport, session_id, cursor, last_item_id).messages()

    @property
    def auth(self) -> httpx.Auth:
        """The user's token for another httpx client, such as that of an SDK of A2A or OpenAI; a
        rejected token is renewed once."""
        return _Auth(self._transport)

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._transport.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()


class _Auth(httpx.Auth):
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def async_auth_flow(self, request: httpx.Request) -> AsyncGenerator[httpx.Request, httpx.Response]:
        token = await self._transport.tokens.get()
        request.headers.update(self._transport.identity(token))
        response = yield request
        if response.status_code == 401:
            renewed = await self._transport.tokens.renew(token)
            if renewed != token:
                request.headers.update(self._transport.identity(renewed))
                yield request
