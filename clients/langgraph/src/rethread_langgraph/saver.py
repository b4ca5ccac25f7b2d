"""LangGraph's checkpoints in Rethread."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import httpx
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
    get_checkpoint_id,
    get_serializable_checkpoint_metadata,
)
from langgraph.checkpoint.serde.base import SerializerProtocol

from . import tuples
from .appends import Events, Put, PutWrites
from .asynchronous import AsyncMethods
from .history import History
from .ids import session_of, thread_of
from .requests import Http, RethreadError
from .thread import Thread
from .values import Codec

# Threads whose history is kept in memory.
_KEPT = 64


class RethreadSaver(AsyncMethods, BaseCheckpointSaver[int]):
    """Stores each thread as a session of Rethread.

    The conversation is the session's events: a message is stored once, and shown by every client
    of Rethread. A checkpoint that continues an older one rewinds the session to it; rewinds by
    others are followed.

    All methods raise RethreadError if a request fails after its retries.

    Args:
      url: the API's address, without `/api/v1`.
      token: returns the token of the user who owns the threads. It is called before each
        request and should cache.
      agent: the agent of the sessions, and author of its messages; at most 128 characters.
      messages: the channel with the conversation.
      serde: the serializer. With one that is not a JsonPlusSerializer, such as an
        EncryptedSerializer, the log has only its output, and the session shows no messages.
      stream_url: the address below which sessions are exported, for `copy_thread`; by default
        `url`, which is right for the local system. In the cloud it is the output `StreamUrl`.
      transport: replaces the HTTP transport, for proxies and tests.
    """

    def __init__(
        self,
        url: str,
        token: Callable[[], str],
        *,
        agent: str = "langgraph",
        messages: str = "messages",
        serde: SerializerProtocol | None = None,
        stream_url: str | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        super().__init__(serde=serde)
        self._http = Http(url, token, transport)
        self._exports = Http(stream_url, token, transport) if stream_url else self._http
        self._agent = agent
        self._messages = messages
        self._reset()

    def _reset(self) -> None:
        self._codec = Codec(self.serde)
        self._events = Events(self._codec, self._agent, self._messages)
        self._threads: OrderedDict[str, Thread] = OrderedDict()
        self._threads_lock = threading.Lock()

    def with_allowlist(self, extra_allowlist: Collection[tuple[str, ...]]) -> RethreadSaver:
        """Returns a saver that may load these types too."""
        clone = super().with_allowlist(extra_allowlist)
        assert isinstance(clone, RethreadSaver)
        if clone is not self:
            clone._reset()
        return clone

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Returns the checkpoint that a config names, or the newest one that the session shows."""
        thread_id, namespace, wanted = tuples.place(config)
        with self._thread(thread_id).read() as history:
            known = history.checkpoints.get((namespace, wanted)) if wanted else history.latest(namespace)
            return tuples.tuple_of(self._codec, history, thread_id, known) if known else None

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Iterates over checkpoints, newest first in each thread, rewound ones included.

        Without a config these are the checkpoints of all threads of the user and the agent.
        """
        where = (config or {}).get("configurable", {})
        threads = [str(where["thread_id"])] if "thread_id" in where else self._thread_ids()
        end = get_checkpoint_id(before) if before else None
        left = limit
        for thread_id in threads:
            if left == 0:
                return
            with self._thread(thread_id).read() as history:
                found = tuples.matching(self._codec, history, where, filter or {}, end)[:left]
                listed = [tuples.tuple_of(self._codec, history, thread_id, record) for record in found]
            left = None if left is None else left - len(listed)
            yield from listed

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Stores a checkpoint, with what it changes. If it exists already, nothing changes."""
        thread_id, namespace, parent = tuples.place(config)
        known = get_serializable_checkpoint_metadata(config, metadata)
        self._thread(thread_id).put(Put(namespace, parent, checkpoint, known, new_versions))
        return tuples.config_of(thread_id, namespace, checkpoint["id"])

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Stores pending writes of a checkpoint. Of two with one task and index the first counts."""
        thread_id, namespace, checkpoint = tuples.place(config)
        indexed = [(WRITES_IDX_MAP.get(c, at), c, value) for at, (c, value) in enumerate(writes)]
        if indexed and checkpoint:
            self._thread(thread_id).put_writes(PutWrites(namespace, checkpoint, task_id, task_path, indexed))

    def delete_thread(self, thread_id: str) -> None:
        """Deletes a thread's session with everything in it."""
        self._thread(thread_id).delete()

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Deletes the checkpoints of runs. Reads all threads of the user and the agent.

        The messages stay in the sessions: only `delete_thread` removes data from the log.
        """
        runs = set(run_ids)

        def of_runs(history: History) -> list[tuple[str, str]]:
            found = history.checkpoints.items()
            return [key for key, known in found if self._codec.load(known.metadata).get("run_id") in runs]

        for thread_id in self._thread_ids() if runs else ():
            self._thread(thread_id).forget(of_runs)

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Deletes all checkpoints but the newest of each namespace; with `delete` the sessions.

        With `keep_latest` the messages stay in the sessions, and channels that store only
        changes can still be restored.
        """
        if strategy not in ("keep_latest", "delete"):
            raise ValueError(f"{strategy!r} is not a strategy: use 'keep_latest' or 'delete'")
        for thread_id in thread_ids:
            if strategy == "delete":
                self.delete_thread(thread_id)
            else:
                self._thread(thread_id).forget(tuples.superseded)

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copies a thread with all its branches: exports its session and imports it.

        Raises:
          RethreadError: among others 404 if there is no source, and 409 if the target exists.
        """
        document = self._exports.request("GET", ("sessions", session_of(source_thread_id), "export"))
        document["session"]["metadata"] = _metadata(target_thread_id)
        query = {"id": session_of(target_thread_id)}
        self._http.request("POST", ("sessions", "import"), document, params=query, repeat=True)

    def get_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """Returns the writes of channels since they were last stored as a whole."""
        thread_id, namespace, wanted = tuples.place(config)
        with self._thread(thread_id).read() as history:
            known = history.checkpoints.get((namespace, wanted)) if wanted else history.latest(namespace)
            return tuples.changes(self._codec, history, known, channels)

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()
        self._exports.close()

    def _thread(self, thread_id: str) -> Thread:
        with self._threads_lock:
            known = self._threads.get(thread_id)
            if known is None:
                known = Thread(
                    self._http,
                    self._codec,
                    self._events,
                    session_of(thread_id),
                    lambda: self._create(thread_id),
                )
                self._threads[thread_id] = known
            self._threads.move_to_end(thread_id)
            if len(self._threads) > _KEPT:
                self._threads.popitem(last=False)
            return known

    def _create(self, thread_id: str) -> None:
        body = {"id": session_of(thread_id), "agent": self._agent, "metadata": _metadata(thread_id)}
        try:
            self._http.request("POST", ("sessions",), body, repeat=True)
        except RethreadError as error:
            if error.status != 409:  # another process has created it
                raise

    def _thread_ids(self) -> Iterator[str]:
        for session in self._http.pages(("sessions",), {"agent": self._agent}):
            stored = session["metadata"].get("langgraph", {}).get("thread_id")
            thread_id = thread_of(session["id"]) or stored
            if thread_id is not None and session_of(thread_id) == session["id"]:
                yield thread_id


def _metadata(thread_id: str) -> dict[str, Any]:
    return {"langgraph": {"thread_id": thread_id}}
