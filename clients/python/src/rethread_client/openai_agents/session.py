"""The session of the OpenAI Agents SDK, backed by Rethread."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from agents.items import TResponseInputItem
from agents.memory import SessionABC, SessionSettings

from .._async.client import AsyncRethread
from .._core.storable import session_id_of
from .._core.turns import BATCH, Turn, again
from ..errors import ConflictError, NotFoundError
from ..types import Event, EventRequest
from .items import begins_turn, event_of, item_of

_ATTEMPTS = 5


class RethreadSession(SessionABC):
    """Keeps the items of a conversation as events of a session.

    Each user message begins an invocation, the unit of rewind and fork. Other clients see the
    items as messages; messages that they append are items here. After a rewind or in a fork,
    `get_items` returns what the session shows then.

    Args:
      session_id: the session's id, escaped if it cannot be one; it is created with its first item if
        it does not exist.
      client: the user's client; the caller closes it.
      app_name: that of a session that is created.
      session_settings: `limit`, the number of newest items that a run gets.
    """

    def __init__(
        self,
        session_id: str,
        client: AsyncRethread,
        *,
        app_name: str = "",
        session_settings: SessionSettings | None = None,
    ) -> None:
        self.session_id = session_id
        self._id = session_id_of(session_id)
        self.session_settings = session_settings or SessionSettings()
        self._client = client
        self._app_name = app_name
        self._turn = Turn()

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Returns the items, oldest first; with a limit the newest ones."""
        settings = self.session_settings or SessionSettings()
        wanted = limit if limit is not None else settings.limit
        if wanted is not None and wanted <= 0:
            return []
        found: list[TResponseInputItem] = []
        order = "asc" if wanted is None else "desc"
        page = 1000 if wanted is None else min(wanted, 1000)
        try:
            async for event in self._client.events.list(self._id, order=order, limit=page):
                if (item := item_of(event)) is not None:
                    found.append(item)
                if len(found) == wanted:
                    break
        except NotFoundError:
            return []
        return found if wanted is None else found[::-1]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Appends items. Up to 100 are appended together or not at all."""
        events: list[EventRequest] = []
        for item in items:
            if begins_turn(item):
                self._turn.begin()
            events.append(event_of(item, self._turn))
        await self._append(events)

    async def pop_item(self) -> TResponseInputItem | None:
        """Removes the newest item and returns it; None if there is none.

        The session is rewound to before the item's invocation, and the other items since then
        are appended again, in a new invocation. A process that dies in between leaves them out;
        a rewind to before the invocation of the rewind's marker brings them back.

        Raises:
          ConflictError: other writers keep appending, or the item's invocation began before
            events of another one. Nothing has changed then.
        """
        for _ in range(_ATTEMPTS):
            tail = await self._tail()
            if tail is None:
                return None
            marker = await self._rewind(tail.popped["invocation_id"], tail.head)
            if marker is None:
                continue
            if not await self._shows(tail.previous, marker["seq"]):
                await self._undo(marker)
                break
            self._turn.begin()
            await self._append(again([event for event in tail.events if event is not tail.popped]))
            return item_of(tail.popped)
        raise ConflictError(409, {"detail": "The newest item cannot be removed without others."})

    async def clear_session(self) -> None:
        """Removes all items, by a rewind to before the first one.

        Raises:
          ConflictError: other writers keep appending.
        """
        for _ in range(_ATTEMPTS):
            first = await self._first()
            if first is None or await self._rewind(*first) is not None:
                self._turn.begin()
                return
        raise ConflictError(409, {"detail": "The session keeps changing."})

    async def _append(self, events: list[EventRequest]) -> None:
        for start in range(0, len(events), BATCH):
            batch = events[start : start + BATCH]
            try:
                await self._client.events.append(self._id, {"events": batch})
            except NotFoundError:
                await self._create()
                await self._client.events.append(self._id, {"events": batch})

    async def _create(self) -> None:
        with suppress(ConflictError):  # another writer has created it
            await self._client.sessions.create({"id": self._id, "app_name": self._app_name})

    async def _rewind(self, invocation_id: str, head: int) -> Event | None:
        """Rewinds the session to before an invocation, and returns the marker; None if the log has
        gone on since a position."""
        try:
            done = await self._client.sessions.rewind(
                self._id, {"rewind_before_invocation_id": invocation_id, "expected_seq": head}
            )
        except ConflictError as error:
            if error.head_seq is None:
                raise
            return None
        return done["event"]

    async def _undo(self, marker: Event) -> None:
        """Undoes a rewind. What others have appended since is appended again after it."""
        since: list[Event] = []
        head = marker["seq"]
        while await self._rewind(marker["invocation_id"], head) is None:
            head = await self._head()
            events = self._client.events.list(self._id, after=marker["seq"], limit=100)
            since = [event async for event in events if event["seq"] <= head]
        await self._append(again(since))

    async def _head(self) -> int:
        """Returns the log's newest position."""
        page = await self._client.events.list(self._id, view="all", order="desc", limit=1).page()
        return page.data[0]["seq"] if page.data else 0

    async def _first(self) -> tuple[str, int] | None:
        """Returns the invocation of the first item, and the log's head; None without an item."""
        try:
            head = await self._head()
            async for event in self._client.events.list(self._id):
                if item_of(event) is not None:
                    return event["invocation_id"], head
        except NotFoundError:
            pass
        return None

    async def _tail(self) -> _Tail | None:
        """Reads the session's end, from the newest item's invocation on; None without an item."""
        try:
            head = await self._head()
        except NotFoundError:
            return None
        events: list[Event] = []
        popped: Event | None = None
        async for event in self._client.events.list(self._id, order="desc", limit=100):
            if popped is None:
                popped = event if item_of(event) is not None else None
            elif event["invocation_id"] != popped["invocation_id"]:
                return _Tail(head, events[::-1], popped, event["id"])
            events.append(event)
        return None if popped is None else _Tail(head, events[::-1], popped, None)

    async def _shows(self, last: str | None, before: int) -> bool:
        """Whether an event is the last one that the session shows before a position."""
        async for event in self._client.events.list(self._id, order="desc", limit=10):
            if event["seq"] < before:
                return event["id"] == last
        return last is None


@dataclass(frozen=True)
class _Tail:
    """The end of a session.

    Attributes:
      head: the log's newest position.
      events: the events since the newest item's invocation began, oldest first.
      popped: the event of the newest item.
      previous: the id of the event before them.
    """

    head: int
    events: list[Event]
    popped: Event
    previous: str | None
