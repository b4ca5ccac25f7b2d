"""A thread: its history, kept up to date, and conditional appends to the log of its session."""

from __future__ import annotations

import random
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .appends import Event, Events, Put, PutWrites
from .history import History
from .records import Checkpoint
from .requests import Http, RethreadError
from .values import Codec

# How often an append is tried while others append to the same thread.
_ATTEMPTS = 30
_BATCH = 100


class Thread:
    """A thread. What it reads from the log it keeps, and reads only what was added since.

    Args:
      session: the id of its session.
      create: creates the session if it does not exist.
    """

    def __init__(
        self, http: Http, codec: Codec, events: Events, session: str, create: Callable[[], None]
    ) -> None:
        self._http = http
        self._codec = codec
        self._events = events
        self._path = ("sessions", session)
        self._create = create
        self._lock = threading.Lock()
        self._history: History | None = None
        self._waiting: deque[tuple[PutWrites, list[BaseException | None]]] = deque()

    @contextmanager
    def read(self) -> Iterator[History]:
        """Gives the current history, which is empty if there is no session."""
        with self._lock:
            yield self._catch_up()

    def delete(self) -> None:
        """Deletes the session, if there is one."""
        with self._lock:
            self._history = None
            try:
                self._http.request("DELETE", self._path)
            except RethreadError as error:
                if error.status != 404:
                    raise

    def put(self, put: Put) -> None:
        """Stores a checkpoint as the newest of its namespace."""
        with self._lock:
            for history in self._attempts():
                known = history.checkpoints.get((put.namespace, put.id))
                if known is not None and known.body == self._events.body(put):
                    return
                if not (put.follows(history) or self._move(put.root(history), history)):
                    continue
                if self._append(self._events.checkpoint(put, history), history):
                    return

    def put_writes(self, put: PutWrites) -> None:
        """Stores pending writes. Those that come while another request runs share the next one."""
        outcome: list[BaseException | None] = []
        self._waiting.append((put, outcome))
        with self._lock:
            while not outcome:
                self._flush()
        if outcome[0] is not None:
            raise outcome[0]

    def forget(self, choose: Callable[[History], list[tuple[str, str]]]) -> None:
        """Deletes the checkpoints that a function chooses."""
        with self._lock:
            for history in self._attempts():
                keys = choose(history)
                if not keys or self._append(self._events.forget(keys, history), history):
                    return

    def _flush(self) -> None:
        waiting = [self._waiting.popleft() for _ in range(min(_BATCH, len(self._waiting)))]
        failure: BaseException | None = None
        try:
            for history in self._attempts():
                events = [self._events.writes(put, history) for put, _ in waiting]
                if self._append(self._events.hidden(events, history), history):
                    break
        except BaseException as error:
            failure = error
        for _, outcome in waiting:
            outcome.append(failure)

    def _attempts(self) -> Iterator[History]:
        """Yields the history for each attempt: first as it is known, then as it has become."""
        for attempt in range(_ATTEMPTS):
            if attempt > 1:
                time.sleep(random.random() * min(1.0, 0.02 * 2.0**attempt))  # noqa: S311
            yield self._history if attempt == 0 and self._history is not None else self._catch_up()
        raise RethreadError("The thread changes all the time: no attempt to append to it succeeded.", 409)

    def _append(self, events: list[Event], history: History) -> bool:
        """Appends events after those of the history; returns whether these were still the newest."""
        body = {"events": events, "expected_seq": history.head}
        try:
            answer = self._http.request("POST", (*self._path, "events"), body)
        except RethreadError as error:
            if error.status == 404:
                self._history = None
                self._create()
            elif error.status != 409:
                raise
            return False
        for event in answer["data"]:
            history.add(event)
        return True

    def _move(self, checkpoint: Checkpoint | None, history: History) -> bool:
        """Makes a checkpoint the newest by a rewind; returns whether it is."""
        boundary = history.boundary(checkpoint)
        if boundary is None:
            return True
        body = {"rewind_before_invocation_id": boundary, "scopes": ["session"]}
        self._http.request("POST", (*self._path, "rewind"), body, repeat=True)
        history = self._catch_up()
        tip = history.tips.get("")
        if checkpoint is None or (tip is not None and tip.id == checkpoint.id):
            return checkpoint is not None or tip is None
        events = self._events.again(checkpoint, history)
        return self._append_all(events, history) and self._append_all(
            self._events.writes_again(checkpoint, history), history
        )

    def _append_all(self, events: list[Event], history: History) -> bool:
        batches = range(0, len(events), _BATCH)
        return all(self._append(events[at : at + _BATCH], history) for at in batches)

    def _catch_up(self) -> History:
        """Reads what was appended since; everything if the session is another one."""
        history = self._history or History(self._codec)
        while True:
            try:
                complete = self._read_page(history)
            except RethreadError as error:
                if error.status != 404:
                    raise
                self._history = None
                return History(self._codec)
            if complete is None:
                history = History(self._codec)
            elif complete:
                self._history = history
                return history

    def _read_page(self, history: History) -> bool | None:
        """Returns whether the history is complete; None if its last event is not in the log."""
        known = history.head > 0
        params = {"view": "all", "limit": "1000"}
        if known:
            params["after"] = str(history.head - 1)
        page: dict[str, Any] = self._http.request("GET", (*self._path, "events"), params=params)
        events = page["data"]
        if known:
            if not events or events[0]["id"] != history.last_id:
                return None
            events = events[1:]
        for event in events:
            history.add(event)
        return page["meta"]["next_cursor"] is None
