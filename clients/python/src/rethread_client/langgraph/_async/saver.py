"""LangGraph's checkpoints in Rethread."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
    get_checkpoint_id,
    get_serializable_checkpoint_metadata,
)
from langgraph.checkpoint.serde.base import SerializerProtocol

from ..._async.client import AsyncRethread
from ...errors import NoAnswerError
from .. import tuples
from ..appends import Events
from ..history import History
from ..ids import metadata_of, next_version, session_of, thread_in
from ..puts import Put, PutWrites
from ..values import Codec
from .io import AsyncBase, Recent
from .thread import AsyncThread

# Threads whose history is kept in memory.
_KEPT = 64

# Names no user: the client's own.
_OWN: Mapping[str, str] = MappingProxyType({})


class AsyncRethreadSaver(AsyncBase):
    """Stores each thread as a session of Rethread.

    The conversation is the session's events: a message is stored once, and shown by every client
    of Rethread. A checkpoint that continues an older one rewinds the session to it; rewinds by
    others are followed. `RethreadSaver` is for graphs that are invoked, `AsyncRethreadSaver` for
    those that are awaited.

    All methods raise RethreadError if a request fails after its retries.

    Args:
      client: the client of the user who owns the threads; the caller closes it.
      user_key: with a client of a service, the member of `config["configurable"]` with the id of the
        user who owns the thread, such as "user_id". Each config must have it; methods without a
        config are of the client's own user, such as that of `client.with_user`.
      agent: the agent of the sessions, and author of its messages; at most 128 characters.
      messages: the channel with the conversation.
      serde: the serializer. With one that is not a JsonPlusSerializer, such as an
        EncryptedSerializer, the log has only its output, and the session shows no messages.
    """

    def __init__(
        self,
        client: AsyncRethread,
        *,
        user_key: str | None = None,
        agent: str = "langgraph",
        messages: str = "messages",
        serde: SerializerProtocol | None = None,
    ) -> None:
        super().__init__(serde=serde)
        self._client = client
        self._user_key = user_key
        self._agent = agent
        self._messages = messages
        self._reset()

    def _reset(self) -> None:
        self._codec = Codec(self.serde)
        self._events = Events(self._codec, self._agent, self._messages)
        self._threads: Recent[AsyncThread] = Recent(_KEPT)

    def with_allowlist(self, extra_allowlist: Collection[tuple[str, ...]]) -> AsyncRethreadSaver:
        """Returns a saver that may load these types too."""
        clone = super().with_allowlist(extra_allowlist)
        assert isinstance(clone, AsyncRethreadSaver)
        if clone is not self:
            clone._reset()
        return clone

    def get_next_version(self, current: Any, channel: None) -> Any:
        """Returns the version after the newest one: a number, or a text in a thread that was copied
        from a saver whose versions are texts."""
        return next_version(current)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Returns the checkpoint that a config names, or the newest one that the session shows."""
        thread_id, namespace, wanted = tuples.place(config)
        whose = self._whose(config)
        async with self._thread(thread_id, whose).read() as history:
            known = history.checkpoints.get((namespace, wanted)) if wanted else history.latest(namespace)
            return tuples.tuple_of(self._codec, history, whose, thread_id, known) if known else None

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Iterates over checkpoints, newest first in each thread, rewound ones included.

        Without a config these are the checkpoints of all threads of the user and the agent.
        """
        where = (config or {}).get("configurable", {})
        whose = self._whose(config) if config else _OWN
        end = get_checkpoint_id(before) if before else None
        left = limit
        async for thread_id in self._thread_ids(where, whose):
            if left == 0:
                return
            async with self._thread(thread_id, whose).read() as history:
                found = tuples.matching(self._codec, history, where, filter or {}, end)[:left]
                listed = [tuples.tuple_of(self._codec, history, whose, thread_id, record) for record in found]
            left = None if left is None else left - len(listed)
            for one in listed:
                yield one

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Stores a checkpoint, with what it changes. If it exists already, nothing changes."""
        thread_id, namespace, parent = tuples.place(config)
        known = cast("Mapping[str, Any]", get_serializable_checkpoint_metadata(config, metadata))
        whose = self._whose(config)
        await self._thread(thread_id, whose).put(Put(namespace, parent, checkpoint, known, new_versions))
        return tuples.config_of(whose, thread_id, namespace, checkpoint["id"])

    async def aput_writes(
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
            put = PutWrites(namespace, checkpoint, task_id, task_path, indexed)
            await self._thread(thread_id, self._whose(config)).put_writes(put)

    async def adelete_thread(self, thread_id: str) -> None:
        """Deletes a thread's session with everything in it."""
        await self._thread(thread_id).delete()

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Deletes the checkpoints of runs. Reads all threads of the user and the agent.

        The messages stay in the sessions: only `delete_thread` removes data from the log.
        """
        runs = set(run_ids)

        def of_runs(history: History) -> list[tuple[str, str]]:
            found = history.checkpoints.items()
            return [key for key, known in found if self._codec.load(known.metadata).get("run_id") in runs]

        if runs:
            async for thread_id in self._thread_ids({}, _OWN):
                await self._thread(thread_id).forget(of_runs)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Deletes all checkpoints but the newest of each namespace; with `delete` the sessions.

        With `keep_latest` the messages stay in the sessions, and channels that store only
        changes can still be restored.
        """
        if strategy not in ("keep_latest", "delete"):
            raise ValueError(f"{strategy!r} is not a strategy: use 'keep_latest' or 'delete'")
        for thread_id in thread_ids:
            if strategy == "delete":
                await self.adelete_thread(thread_id)
            else:
                await self._thread(thread_id).forget(tuples.superseded)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copies a thread with all its branches: exports its session and imports it.

        Raises:
          RethreadError: among others 404 if there is no source, and 409 if the target exists.
        """
        chunks = [chunk async for chunk in self._client.sessions.export(session_of(source_thread_id))]
        try:
            document = json.loads(b"".join(chunks))
        except ValueError as error:
            raise NoAnswerError("The export ended before it was complete.") from error
        document["session"]["metadata"] = metadata_of(target_thread_id)
        await self._client.imports.start(document, id=session_of(target_thread_id))

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """Returns the writes of channels since they were last stored as a whole."""
        thread_id, namespace, wanted = tuples.place(config)
        async with self._thread(thread_id, self._whose(config)).read() as history:
            known = history.checkpoints.get((namespace, wanted)) if wanted else history.latest(namespace)
            return tuples.changes(self._codec, history, known, channels)

    def _whose(self, config: RunnableConfig) -> Mapping[str, str]:
        """Returns the member of a config that names the user for whom a service acts, if any does."""
        if self._user_key is None:
            return _OWN
        user: Any = config.get("configurable", {}).get(self._user_key)
        if not isinstance(user, str):
            raise ValueError(f'config["configurable"]["{self._user_key}"] names no user')
        return {self._user_key: user}

    def _of(self, whose: Mapping[str, str]) -> AsyncRethread:
        """Returns the client of the user that a config names."""
        return self._client.with_user(*whose.values()) if whose else self._client

    def _thread(self, thread_id: str, whose: Mapping[str, str] = _OWN) -> AsyncThread:
        self._used()
        return self._threads.get(
            (thread_id, *whose.values()),
            lambda: AsyncThread(self._of(whose), self._codec, self._events, thread_id, self._agent),
        )

    async def _thread_ids(self, where: Mapping[str, Any], whose: Mapping[str, str]) -> AsyncIterator[str]:
        """Yields the thread that a config names, or all of the user and the agent."""
        if "thread_id" in where:
            yield str(where["thread_id"])
            return
        async for session in self._of(whose).sessions.list(agent=self._agent, limit=1000):
            thread_id = thread_in(session["id"], session["metadata"])
            if thread_id is not None:
                yield thread_id
