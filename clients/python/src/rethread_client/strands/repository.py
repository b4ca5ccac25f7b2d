"""The session repository of Strands Agents, backed by Rethread."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from strands.session.session_repository import SessionRepository
from strands.types.exceptions import SessionException
from strands.types.session import Session, SessionAgent, SessionMessage, SessionType

from .._core.storable import session_id_of, storable
from .._core.turns import Turn
from .._sync.client import Rethread
from ..errors import ConflictError, NotFoundError
from .large import Large
from .messages import agent_of, begins_turn, message_of, shown

if TYPE_CHECKING:
    from strands.multiagent import MultiAgentBase

# Keys of the session's state, by which agents are rewound together with their messages.
_AGENT = "strands_agent/"
_MULTI_AGENT = "strands_multi_agent/"

_ATTEMPTS = 5


class RethreadSessionRepository(SessionRepository):
    """Keeps messages as events of a session, and the state of agents in the session's state.

    The id of a session is escaped if it cannot be one. Each message of the user begins an invocation,
    the unit of rewind and fork; a rewind restores the state of agents too. Agents that are in memory
    then must be made anew.

    Texts of a state that are large, such as a photo in a graph's task, are versions of an artifact.

    A redaction is appended as an event: `list_messages` returns the redacted message, and the
    original remains in the log.

    Args:
      client: the user's client; the caller closes it.
      app_name: that of sessions that are created.
    """

    def __init__(self, client: Rethread, *, app_name: str = "") -> None:
        self._client = client
        self._app_name = app_name
        self._turns: dict[str, Turn] = {}  # by session

    def create_session(self, session: Session, **kwargs: Any) -> Session:
        """Creates a session.

        Raises:
          SessionException: the id is in use.
        """
        try:
            where = session_id_of(session.session_id)
            self._client.sessions.create({"id": where, "app_name": self._app_name})
        except ConflictError as error:
            raise SessionException(f"Session {session.session_id} already exists") from error
        return session

    def read_session(self, session_id: str, **kwargs: Any) -> Session | None:
        """Returns a session; None if it does not exist."""
        try:
            found = self._client.sessions.get(session_id_of(session_id))
        except NotFoundError:
            return None
        return Session(
            session_id=session_id,
            session_type=SessionType.AGENT,
            created_at=_time(found["created_time"]),
            updated_at=_time(found["updated_time"]),
        )

    def create_agent(self, session_id: str, session_agent: SessionAgent, **kwargs: Any) -> None:
        """Stores an agent."""
        self._set(session_id, session_agent.agent_id, _AGENT, session_agent.to_dict())

    def read_agent(self, session_id: str, agent_id: str, **kwargs: Any) -> SessionAgent | None:
        """Returns an agent; None if the session has none of the id."""
        found = self._get(session_id, _AGENT + agent_id)
        return None if found is None else SessionAgent.from_dict(found)

    def update_agent(self, session_id: str, session_agent: SessionAgent, **kwargs: Any) -> None:
        """Replaces an agent.

        Raises:
          SessionException: the session has no such agent.
        """
        key = _AGENT + session_agent.agent_id
        known = self._stored(session_id, key)
        if known is None:
            raise SessionException(f"Agent {session_agent.agent_id} in session {session_id} does not exist")
        if "created_at" not in known:
            known = cast("dict[str, Any]", Large(self._client, session_id_of(session_id), key).whole(known))
        session_agent.created_at = known["created_at"]
        self._set(session_id, session_agent.agent_id, _AGENT, session_agent.to_dict())

    def create_message(
        self, session_id: str, agent_id: str, session_message: SessionMessage, **kwargs: Any
    ) -> None:
        """Appends a message."""
        turn = self._turn(session_id)
        if begins_turn(session_message.message):
            turn.begin()
        event = turn.event(*shown(session_message, agent_id), **message_of(session_message, agent_id))
        self._client.events.append(session_id_of(session_id), {"events": [event]})

    def read_message(
        self, session_id: str, agent_id: str, message_id: int, **kwargs: Any
    ) -> SessionMessage | None:
        """Returns a message; None if the session shows none of the id."""
        found = [m for m in self.list_messages(session_id, agent_id) if m.message_id == message_id]
        return found[-1] if found else None

    def update_message(
        self, session_id: str, agent_id: str, session_message: SessionMessage, **kwargs: Any
    ) -> None:
        """Replaces a message, usually by a redacted one.

        Raises:
          SessionException: the session shows no such message.
          ConflictError: other writers keep appending.
        """
        where = session_id_of(session_id)
        for left in reversed(range(_ATTEMPTS)):
            try:
                log = self._client.events.list(where, view="all", order="desc", limit=1).page()
            except NotFoundError as error:
                raise SessionException(f"Session {session_id} does not exist") from error
            known = self.read_message(session_id, agent_id, session_message.message_id)
            if known is None:
                raise SessionException(f"Message {session_message.message_id} does not exist")
            session_message.created_at = known.created_at
            event = self._turn(session_id).event(agent_id, **message_of(session_message, agent_id))
            try:
                self._client.events.append(where, {"events": [event], "expected_seq": log.data[0]["seq"]})
                return
            except ConflictError as error:
                if error.head_seq is None or left == 0:
                    raise

    def list_messages(
        self, session_id: str, agent_id: str, limit: int | None = None, offset: int = 0, **kwargs: Any
    ) -> list[SessionMessage]:
        """Returns an agent's messages, oldest first, without the first `offset` ones."""
        found: dict[int, SessionMessage] = {}
        try:
            for event in self._client.events.list(session_id_of(session_id), limit=1000):
                message = agent_of(event, agent_id)
                if message is not None:
                    found[message.message_id] = message
        except NotFoundError as error:
            raise SessionException(f"Session {session_id} does not exist") from error
        shown = list(found.values())[offset:]
        return shown if limit is None else shown[:limit]

    def create_multi_agent(self, session_id: str, multi_agent: MultiAgentBase, **kwargs: Any) -> None:
        """Stores the state of a graph or swarm."""
        self._set(session_id, multi_agent.id, _MULTI_AGENT, multi_agent.serialize_state())

    def read_multi_agent(self, session_id: str, multi_agent_id: str, **kwargs: Any) -> dict[str, Any] | None:
        """Returns the state of a graph or swarm; None if the session has none of the id."""
        return self._get(session_id, _MULTI_AGENT + multi_agent_id)

    def update_multi_agent(self, session_id: str, multi_agent: MultiAgentBase, **kwargs: Any) -> None:
        """Replaces the state of a graph or swarm."""
        self.create_multi_agent(session_id, multi_agent)

    def _turn(self, session_id: str) -> Turn:
        return self._turns.setdefault(session_id, Turn())

    def _set(self, session_id: str, author: str, prefix: str, value: Mapping[str, Any]) -> None:
        where, key = session_id_of(session_id), prefix + author
        try:
            large = Large(self._client, where, key)
            small, artifacts = large.parted(storable(value), lambda: self._stored(session_id, key))
            delta = {"state_delta": {key: small}, "artifact_delta": artifacts}
            event = self._turn(session_id).event(author, actions=delta)
            self._client.events.append(where, {"events": [event]})
        except NotFoundError as error:
            raise SessionException(f"Session {session_id} does not exist") from error

    def _get(self, session_id: str, key: str) -> dict[str, Any] | None:
        stored = self._stored(session_id, key)
        return None if stored is None else Large(self._client, session_id_of(session_id), key).whole(stored)

    def _stored(self, session_id: str, key: str) -> dict[str, Any] | None:
        """Returns the value of a key as the state has it."""
        try:
            state = self._client.state.get(session_id_of(session_id))
        except NotFoundError:
            return None
        return cast("dict[str, Any] | None", state["session"].get(storable(key)))


def _time(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat()
