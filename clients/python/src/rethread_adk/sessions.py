"""ADK's session service over Rethread."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from typing import Any, Literal, NoReturn
from weakref import WeakValueDictionary

from google.adk.errors import InvocationNotFoundError, StaleSessionError
from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.errors.session_not_found_error import SessionNotFoundError
from google.adk.events.event import Event
from google.adk.sessions import Session, State
from google.adk.sessions.base_session_service import (
    BaseSessionService,
    GetSessionConfig,
    ListSessionsResponse,
)

from .client import Rethread, path
from .errors import DeniedError, RethreadError
from .events import from_json, is_hidden, jsonable, to_json
from .loading import latest_of_app, load, session_of

Scope = Literal["session", "user", "app"]


class RethreadSessionService(BaseSessionService):
    """Keeps ADK's sessions in Rethread.

    `session.events` are the events that the session shows now (`GET
    /events?view=effective`), whatever was rewound or forked before, in Python
    or elsewhere. Session ids are unique in all of Rethread, not per user.

    A session object is written through only while it knows all events of its
    session; otherwise `append_event` raises StaleSessionError and it should be
    got anew.

    Args:
      client: the system to use; the caller closes it.
      rewind_scopes: whose state and artifacts `Runner.rewind_async` restores.
        ADK itself restores the session's alone; `user` and `app` are the keys
        (and artifacts) that sessions share.
    """

    def __init__(self, client: Rethread, *, rewind_scopes: Sequence[Scope] = ("session",)) -> None:
        self._client = client
        self._rewind_scopes = tuple(rewind_scopes)
        # A session's writes through this service go one after the other.
        self._locks: WeakValueDictionary[tuple[int, str], asyncio.Lock] = WeakValueDictionary()

    async def create_session(
        self,
        *,
        app_name: str,
        user_id: str,
        state: dict[str, Any] | None = None,
        session_id: str | None = None,
    ) -> Session:
        """Creates a session.

        Raises:
          AlreadyExistsError: the id is taken.
          DeniedError: the token speaks for somebody else.
        """
        wish: dict[str, Any] = {"app_name": app_name}
        if session_id and session_id.strip():
            wish["id"] = session_id.strip()
        if state:
            wish["state"] = jsonable(state)
        try:
            made = await self._client.create("/sessions", user_id, wish)
        except RethreadError as error:
            if error.status == 409:
                raise AlreadyExistsError(f"Session with id {session_id} already exists.") from error
            raise
        if made["user_id"] != user_id:
            await self._client.request("DELETE", path("sessions", made["id"]), user_id)
            raise DeniedError(f"the token given for {user_id!r} speaks for {made['user_id']!r}")
        merged = (await self._client.get(path("sessions", made["id"], "state"), user_id))["merged"]
        return session_of(made, [], merged)

    async def get_session(
        self,
        *,
        app_name: str,
        user_id: str,
        session_id: str,
        config: GetSessionConfig | None = None,
    ) -> Session | None:
        """Gets a session as it is now; None where there is none in this app.

        Raises:
          DeniedError: it is somebody else's.
        """
        return await load(self._client, app_name, user_id, session_id.strip(), config)

    async def list_sessions(self, *, app_name: str, user_id: str | None = None) -> ListSessionsResponse:
        """Lists a user's sessions of an app, without events and state.

        Raises:
          ValueError: no user is given. Rethread shows users their own alone.
        """
        if user_id is None:
            raise ValueError("Rethread lists the sessions of one user: give user_id")
        found = [
            Session(
                app_name=app_name,
                user_id=user_id,
                id=item["id"],
                last_update_time=item["updated_time"] / 1000,
            )
            async for item in self._client.pages("/sessions", user_id)
            if item["app_name"] == app_name and item["user_id"] == user_id
        ]
        found.reverse()  # the newest activity comes first there, and last here
        return ListSessionsResponse(sessions=found)

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Deletes a session with all that belongs to it; one that is not there is no error."""
        try:
            await self._client.request("DELETE", path("sessions", session_id.strip()), user_id)
        except RethreadError as error:
            if error.status != 404:
                raise

    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        """The state that a user's sessions of an app share, keys without prefix.

        It is read through one of those sessions: without any it is empty.
        """
        latest = await latest_of_app(self._client, app_name, user_id)
        if latest is None:
            return {}
        state = await self._client.get(path("sessions", latest, "state"), user_id)
        return dict(state["user"])

    async def append_event(self, session: Session, event: Event) -> Event:
        """Appends an event to the log, and to the session object.

        Partial events are not stored and `temp:` state stays in the object. An
        event that was stored before is not stored again. A rewind event, as
        `Runner.rewind_async` makes it, becomes a rewind in Rethread: see
        `rewind`; what it says of state and artifacts gives way to what
        Rethread restored.

        Raises:
          StaleSessionError: the session has events that the object has not.
          SessionNotFoundError: the session is not there any more.
        """
        if event.partial:
            return event
        async with self._lock(session):
            before = event.actions.rewind_before_invocation_id
            if before:
                return await self._rewind(session, before, {"scopes": self._rewind_scopes}, event.id)
            self._apply_temp_state(session, event)
            event = self._trim_temp_delta_state(event)
            if not event.invocation_id:
                event.invocation_id = event.id
            await self._store(session, event)
            if all(known.id != event.id for known in reversed(session.events)):
                self._commit_event_to_session(session, event)
            session.last_update_time = event.timestamp
        return event

    async def rewind(
        self,
        session: Session,
        before_invocation_id: str,
        *,
        scopes: Sequence[Scope] = ("session", "user", "app"),
        on_conflict: Literal["keep", "restore"] = "keep",
    ) -> Event:
        """Restores a session as it was just before an invocation.

        Any invocation of the log will do, one that an earlier rewind had hidden
        too. The object becomes what the session then shows.

        Args:
          on_conflict: what becomes of `user:` and `app:` values that another
            session has changed since.

        Returns:
          The marker. A rewind before its invocation id undoes this one.

        Raises:
          InvocationNotFoundError: the log has no such invocation.
          SessionNotFoundError: the session is not there.
        """
        wish = {"scopes": tuple(scopes), "on_conflict": on_conflict}
        async with self._lock(session):
            return await self._rewind(session, before_invocation_id, wish, str(uuid.uuid4()))

    async def fork(
        self, session: Session, before_invocation_id: str | None = None, *, name: str | None = None
    ) -> Session:
        """A new session that begins with what this one showed before an
        invocation, or with all of it.

        Raises:
          InvocationNotFoundError: the log has no such invocation.
          SessionNotFoundError: the session is not there.
        """
        wish: dict[str, Any] = {"strict": True}
        if before_invocation_id is not None:
            wish["rewind_before_invocation_id"] = before_invocation_id
        if name is not None:
            wish["name"] = name
        try:
            made = await self._client.create(path("sessions", session.id, "fork"), session.user_id, wish)
        except RethreadError as error:
            if error.status == 400 and before_invocation_id is not None:
                raise InvocationNotFoundError(f"Invocation ID not found: {before_invocation_id}") from error
            _refuse(error, session.id)
        return await self._known(session.app_name, session.user_id, made["id"])

    async def _rewind(self, session: Session, before: str, wish: dict[str, Any], key: str) -> Event:
        wish = {**wish, "rewind_before_invocation_id": before}
        where = path("sessions", session.id, "rewind")
        try:
            done = await self._client.create(where, session.user_id, wish, key=key)
        except RethreadError as error:
            if error.status == 404 and "invocation_id" in error.problem:
                raise InvocationNotFoundError(f"Invocation ID not found: {before}") from error
            _refuse(error, session.id)
        now = await self._known(session.app_name, session.user_id, session.id)
        temporary = {k: v for k, v in session.state.items() if k.startswith(State.TEMP_PREFIX)}
        session.events[:] = now.events
        session.state.clear()
        session.state.update(now.state, **temporary)
        session.last_update_time = now.last_update_time
        session._storage_update_marker = now._storage_update_marker
        return from_json(done["event"])

    async def _store(self, session: Session, event: Event) -> None:
        """Appends at the position where the object stands.

        The event's id makes a second try a redelivery; an idempotency key, which
        costs two more writes, is not needed.
        """
        where = path("sessions", session.id, "events")
        wish: dict[str, Any] = {"events": [to_json(event)]}
        while True:
            if session._storage_update_marker is not None:
                wish["expected_seq"] = int(session._storage_update_marker)
            try:
                answer = await self._client.request("POST", where, session.user_id, body=wish)
            except RethreadError as error:
                if error.status != 409 or "head_seq" not in error.problem:
                    _refuse(error, session.id)
                await self._pass_hidden(session, error)
                continue
            seq = answer.json()["data"][0]["seq"]
            session._storage_update_marker = str(max(seq, wish.get("expected_seq", 0)))
            return

    async def _pass_hidden(self, session: Session, moved: RethreadError) -> None:
        """Moves the object past entries that are no events: a task that was
        saved meanwhile does not make it stale."""
        query = {"view": "all", "after": str(session._storage_update_marker)}
        where = path("sessions", session.id, "events")
        async for entry in self._client.pages(where, session.user_id, query):
            if not is_hidden(entry):
                raise StaleSessionError(
                    f"Session {session.id} has events that this object does not know; get it anew."
                ) from moved
            session._storage_update_marker = str(entry["seq"])

    async def _known(self, app_name: str, user_id: str, session_id: str) -> Session:
        """Loads a session that was there a moment ago."""
        session = await load(self._client, app_name, user_id, session_id)
        if session is None:
            raise SessionNotFoundError(f"Session {session_id} not found.")
        return session

    def _update_session_state(self, session: Session, event: Event) -> None:
        """Applies a state delta as Rethread does: None deletes the key."""
        for key, value in event.actions.state_delta.items():
            if value is None:
                session.state.pop(key, None)
            else:
                session.state[key] = value

    def _lock(self, session: Session) -> asyncio.Lock:
        key = (id(asyncio.get_running_loop()), session.id)
        lock = self._locks.get(key)
        if lock is None:
            lock = self._locks[key] = asyncio.Lock()
        return lock


def _refuse(error: RethreadError, session_id: str) -> NoReturn:
    """Raises what an error means for a session that must be there."""
    if error.status == 404:
        raise SessionNotFoundError(f"Session {session_id} not found.") from error
    raise error
