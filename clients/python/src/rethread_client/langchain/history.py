"""LangChain's chat history, backed by Rethread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, cast

from langchain_core.chat_history import BaseChatMessageHistory  # pyright: ignore[reportDeprecated]
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    message_to_dict,
    messages_from_dict,
)

from .._core.storable import session_id_of
from .._core.turns import BATCH, Turn, is_users, text_of
from .._sync.client import Rethread
from ..errors import ConflictError, NotFoundError
from ..types import EventRequest, RewindRequest

# The member of an event that holds the message as LangChain writes it.
_MESSAGE = "langchain_message"

_ATTEMPTS = 5


class RethreadChatMessageHistory(BaseChatMessageHistory):  # pyright: ignore[reportDeprecated]
    """Keeps the messages of a conversation as events of a session.

    Each human message begins an invocation, the unit of rewind and fork. Other clients see the
    messages, and messages that they append are messages here. After a rewind or in a fork,
    `messages` are those that the session shows then.

    LangChain calls the asynchronous methods in threads, which may share the client.

    Args:
      session_id: the session's id, escaped if it cannot be one; it is created with its first message
        if it does not exist.
      client: the user's client; the caller closes it.
      app_name: that of a session that is created.
    """

    def __init__(self, session_id: str, client: Rethread, *, app_name: str = "") -> None:
        self.session_id = session_id
        self._id = session_id_of(session_id)
        self._client = client
        self._app_name = app_name
        self._turn = Turn()

    @property
    def messages(self) -> list[BaseMessage]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The messages, oldest first. Each access reads them."""
        try:
            found = [_message_of(event) for event in self._client.events.list(self._id, limit=1000)]
        except NotFoundError:
            return []
        return [message for message in found if message is not None]

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Appends messages. Up to 100 are appended together or not at all."""
        events: list[EventRequest] = []
        for message in messages:
            if isinstance(message, HumanMessage):
                self._turn.begin()
            events.append(_event_of(message, self._turn))
        for start in range(0, len(events), BATCH):
            self._append(events[start : start + BATCH])

    def clear(self) -> None:
        """Removes all messages, by a rewind to before the first one.

        Raises:
          ConflictError: other writers keep appending.
        """
        for _ in range(_ATTEMPTS):
            try:
                if self._rewind():
                    self._turn.begin()
                    return
            except NotFoundError:
                return
        raise ConflictError(409, {"detail": "The session keeps changing."})

    def _rewind(self) -> bool:
        """Rewinds the session to before its first message; returns whether no message was appended
        meanwhile."""
        log = self._client.events.list(self._id, view="all", order="desc", limit=1).page()
        events = self._client.events.list(self._id)
        first = next((event for event in events if _message_of(event) is not None), None)
        if first is None:
            return True
        request: RewindRequest = {
            "rewind_before_invocation_id": first["invocation_id"],
            "expected_seq": log.data[0]["seq"] if log.data else 0,
        }
        try:
            self._client.sessions.rewind(self._id, request)
        except ConflictError as error:
            if error.head_seq is None:
                raise
            return False
        return True

    def _append(self, events: list[EventRequest]) -> None:
        try:
            self._client.events.append(self._id, {"events": events})
        except NotFoundError:
            self._create()
            self._client.events.append(self._id, {"events": events})

    def _create(self) -> None:
        with suppress(ConflictError):  # another writer has created it
            self._client.sessions.create({"id": self._id, "app_name": self._app_name})


def _event_of(message: BaseMessage, turn: Turn) -> EventRequest:
    """Returns the next event of a turn, which shows a message to other clients."""
    users = isinstance(message, HumanMessage)
    author = "user" if users else "assistant" if isinstance(message, AIMessage) else message.type
    return turn.event(
        author, message.text, role="user" if users else "model", **{_MESSAGE: message_to_dict(message)}
    )


def _message_of(event: Mapping[str, Any]) -> BaseMessage | None:
    """Returns the message of an event; None for one without a message."""
    stored = event.get(_MESSAGE)
    if isinstance(stored, dict):
        return messages_from_dict([cast("dict[str, Any]", stored)])[0]
    text = text_of(event)
    if not text:
        return None
    return HumanMessage(content=text) if is_users(event) else AIMessage(content=text)
