"""The session manager of Strands Agents, backed by Rethread."""

from __future__ import annotations

from typing import Any

from strands.session.repository_session_manager import RepositorySessionManager

from .._sync.client import Rethread
from .repository import RethreadSessionRepository


class RethreadSessionManager(RepositorySessionManager):
    """Keeps an agent's messages and state in a session: `Agent(session_manager=…)`.

    Args:
      session_id: the session's id, escaped if it cannot be one; it is created if it does not exist.
      client: the user's client; the caller closes it.
      app_name: that of a session that is created.
    """

    def __init__(self, session_id: str, client: Rethread, *, app_name: str = "", **kwargs: Any) -> None:
        repository = RethreadSessionRepository(client, app_name=app_name)
        super().__init__(session_id, repository, **kwargs)
