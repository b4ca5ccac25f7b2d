"""ADK's session service, backed by Rethread."""

# ADK's own services keep their position in this member of a session.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from typing import Any, Literal, NoReturn
from weakref import WeakValueDictionary

from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.errors.session_not_found_error import SessionNotFoundError
from google.adk.events.event import Event
from google.adk.sessions import Session, State
from google.adk.sessions.base_session_service import (
    BaseSessionService,
    GetSessionConfig,
    ListSessionsResponse,
)

from .adk_errors import InvocationNotFoundError, StaleSessionError
from .client import AdkClient, path
from .errors import DeniedError, RethreadError, is_missing
from .events import from_json, is_hidden, jsonable, to_json
from .loading import header_of, latest_of_app, load, session_of

Scope = Literal["session", "user", "app"]


class RethreadSessionService(BaseSessionService):
    """Stores ADK's sessions in Rethread.

    `session.events` are the session's effective events (`GET
    /events?view=effective`), after any rewinds by this or other clients.
    Session ids are unique across all users and apps.

    `append_event` requires that the session object has all events of its
    session; otherwise it raises StaleSessionError: get the session again.

    Args:
      client: the connection to Rethread; the caller closes it.
      rewind_scopes: the scopes of state and artifacts that
        `Runner.rewind_async` restores. ADK itself restores only `session`;
        `user` and `app` are the keys and artifacts that sessions share.
    """

    def __init__(self, client: AdkClient, *, rewind_scopes: Sequence[Scope] = ("session",)) -> None:
        self._client = client
        self._rewind_scopes = tuple(rewind_scopes)
        # Serialises the writes to a session through this service.
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
          AlreadyExistsError: the id is in use, in any app.
          InvalidError: the id cannot be one, such as `..` or one with a `/`.
          DeniedError: the token belongs to another user.
        """
        body: dict[str, Any] = {"app_name": app_name}
        if session_id and session_id.strip():
            body["id"] = session_id.strip()
            path(body["id"])  # which no later request could name otherwise
        if state:
            body["state"] = jsonable(state)
        try:
            made = await self._client.create("/sessions", user_id, body)
        except RethreadError as error:
            if error.status == 409:
                raise AlreadyExistsError(f"Session with id {session_id} already exists.") from error
            raise
        if made["user_id"] != user_id:
            await self._client.request("DELETE", path("sessions", made["id"]), user_id)
            raise DeniedError(f"the token for {user_id!r} belongs to {made['user_id']!r}")
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
        """Returns a session; None if it does not exist in this app.

        Raises:
          DeniedError: the session belongs to another user.
        """
        return await load(self._client, app_name, user_id, session_id.strip(), config)

    async def list_sessions(self, *, app_name: str, user_id: str | None = None) -> ListSessionsResponse:
        """Lists a user's sessions of an app without events and state, latest activity last.

        Without a user they are the sessions of the token's user: `token` is called
        with an empty id.
        """
        found = [
            Session(
                app_name=app_name,
                user_id=item["user_id"],
                id=item["id"],
                last_update_time=item["updated_time"] / 1000,
            )
            async for item in self._client.pages("/sessions", user_id or "", {"exact": "true"})
            if item["app_name"] == app_name and user_id in (None, item["user_id"])
        ]
        found.reverse()  # the API lists the latest activity first
        return ListSessionsResponse(sessions=found)

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Deletes a session and its data; one that this app and user do not have is
        not an error."""
        if await header_of(self._client, app_name, user_id, session_id.strip()) is None:
            return
        try:
            await self._client.request("DELETE", path("sessions", session_id.strip()), user_id)
        except RethreadError as error:
            if error.status != 404:
                raise

    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        """Returns the state that a user's sessions of an app share, keys without prefix.

        It is read through one of these sessions, so it is empty without any.
        """
        latest = await latest_of_app(self._client, app_name, user_id)
        if latest is None:
            return {}
        state = await self._client.get(path("sessions", latest, "state"), user_id)
        return dict(state["user"])

    async def append_event(self, session: Session, event: Event) -> Event:
        """Appends an event to the log and to the session object.

        Partial events are not stored, and `temp:` state stays in the object. An
        event that is already stored is not stored again. A rewind event, as
        created by `Runner.rewind_async`, becomes a rewind in Rethread: see
        `rewind`. Its state and artifact deltas are replaced by what Rethread
        restored.

        Raises:
          StaleSessionError: the session has events that the object lacks.
          SessionNotFoundError: the session does not exist.
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
                self._update_session_state(session, event)
                session.events.append(event)
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
        """Restores a session to just before an invocation.

        Any invocation of the log is accepted, including one hidden by an earlier
        rewind. The session object is updated to the result.

        Args:
          scopes: the scopes of state and artifacts to restore.
          on_conflict: whether to keep or restore `user:` and `app:` values that
            another session has changed since.

        Returns:
          The marker. A rewind to before its invocation id undoes this one.

        Raises:
          InvocationNotFoundError: the log has no such invocation.
          SessionNotFoundError: the session does not exist.
          StaleSessionError: the session has events that the object lacks, which it would hide.
        """
        body = {"scopes": tuple(scopes), "on_conflict": on_conflict}
        async with self._lock(session):
            return await self._rewind(session, before_invocation_id, body, str(uuid.uuid4()))

    async def fork(
        self, session: Session, before_invocation_id: str | None = None, *, name: str | None = None
    ) -> Session:
        """Creates a session with this one's history before an invocation, or with
        all of it.

        Raises:
          InvocationNotFoundError: the log has no such invocation.
          SessionNotFoundError: the session does not exist.
        """
        body: dict[str, Any] = {"strict": True}
        if before_invocation_id is not None:
            body["rewind_before_invocation_id"] = before_invocation_id
        if name is not None:
            body["name"] = name
        try:
            made = await self._client.create(path("sessions", session.id, "fork"), session.user_id, body)
        except RethreadError as error:
            if error.status == 400 and before_invocation_id is not None:
                raise InvocationNotFoundError(f"Invocation ID not found: {before_invocation_id}") from error
            _raise_for_session(error, session.id)
        return await self._load_existing(session.app_name, session.user_id, made["id"])

    async def _rewind(self, session: Session, before: str, body: dict[str, Any], key: str) -> Event:
        body = {**body, "rewind_before_invocation_id": before}
        while True:
            if session._storage_update_marker is not None:
                body["expected_seq"] = int(session._storage_update_marker)
            try:
                where = path("sessions", session.id, "rewind")
                done = await self._client.create(where, session.user_id, body, key=key)
                break
            except RethreadError as error:
                if error.status == 404 and "invocation_id" in error.problem:
                    raise InvocationNotFoundError(f"Invocation ID not found: {before}") from error
                if error.status != 409 or "head_seq" not in error.problem:
                    _raise_for_session(error, session.id)
                await self._skip_hidden(session, error)
                key = str(uuid.uuid4())  # of another request
        now = await self._load_existing(session.app_name, session.user_id, session.id)
        temporary = {k: v for k, v in session.state.items() if k.startswith(State.TEMP_PREFIX)}
        session.events[:] = now.events
        session.state.clear()
        session.state.update(now.state, **temporary)
        session.last_update_time = now.last_update_time
        session._storage_update_marker = now._storage_update_marker
        return from_json(done["event"])

    async def _store(self, session: Session, event: Event) -> None:
        """Appends an event if the log ends where the object's copy ends.

        The event's id makes a repeated attempt a redelivery, so no idempotency
        key is needed, which would cost two more writes.
        """
        body: dict[str, Any] = {"events": [to_json(event)]}
        while True:
            if session._storage_update_marker is not None:
                body["expected_seq"] = int(session._storage_update_marker)
            try:
                where = path("sessions", session.id, "events")
                answer = await self._client.request("POST", where, session.user_id, body=body)
            except RethreadError as error:
                if error.status != 409 or "head_seq" not in error.problem:
                    _raise_for_session(error, session.id)
                await self._skip_hidden(session, error)
                continue
            seq = answer.json()["data"][0]["seq"]
            session._storage_update_marker = str(max(seq, body.get("expected_seq", 0)))
            return

    async def _skip_hidden(self, session: Session, moved: RethreadError) -> None:
        """Advances the object past entries that are not events, so that saving a
        task does not make it stale."""
        query = {"view": "all", "after": str(session._storage_update_marker)}
        where = path("sessions", session.id, "events")
        async for entry in self._client.pages(where, session.user_id, query):
            if not is_hidden(entry):
                raise StaleSessionError(
                    f"Session {session.id} has events that this object lacks; get the session again."
                ) from moved
            session._storage_update_marker = str(entry["seq"])

    async def _load_existing(self, app_name: str, user_id: str, session_id: str) -> Session:
        """Loads a session that must exist."""
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


def _raise_for_session(error: RethreadError, session_id: str) -> NoReturn:
    """Raises an error of a request for a session that must exist."""
    if is_missing(error):
        raise SessionNotFoundError(f"Session {session_id} not found.") from error
    raise error
