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

from .._core.turns import BATCH, Turn, is_users, text_of
from .._sync.client import Rethread
from ..errors import ConflictError, NotFoundError
from ..types import EventRequest

# The member of an event that holds the message as LangChain writes it.
_MESSAGE = "langchain_message"


class RethreadChatMessageHistory(BaseChatMessageHistory):  # pyright: ignore[reportDeprecated]
    """Keeps the messages of a conversation as events of a session.

    Each human message begins an invocation, the unit of rewind and fork. Other clients see the
    messages, and messages that they append are messages here. After a rewind or in a fork,
    `messages` are those that the session shows then.

    LangChain calls the asynchronous methods in threads, which may share the client.

    Args:
      session_id: the session's id; it is created with its first message if it does not exist.
      client: the user's client; the caller closes it.
      app_name: that of a session that is created.
    """

    def __init__(self, session_id: str, client: Rethread, *, app_name: str = "") -> None:
        self.session_id = session_id
        self._client = client
        self._app_name = app_name
        self._turn = Turn()

    @property
    def messages(self) -> list[BaseMessage]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The messages, oldest first. Each access reads them."""
        try:
            found = [_message_of(event) for event in self._client.events.list(self.session_id, limit=1000)]
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
        """Removes all messages, by a rewind to before the first one."""
        try:
            for event in self._client.events.list(self.session_id):
                if _message_of(event) is not None:
                    before = event["invocation_id"]
                    self._client.sessions.rewind(self.session_id, {"rewind_before_invocation_id": before})
                    break
        except NotFoundError:
            return
        self._turn.begin()

    def _append(self, events: list[EventRequest]) -> None:
        try:
            self._client.events.append(self.session_id, {"events": events})
        except NotFoundError:
            self._create()
            self._client.events.append(self.session_id, {"events": events})

    def _create(self) -> None:
        with suppress(ConflictError):  # another writer has created it
            self._client.sessions.create({"id": self.session_id, "app_name": self._app_name})


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
